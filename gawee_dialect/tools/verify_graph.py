"""What `gawee-run --verify` does: the outputs of a graph against those that PyTorch computes."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.npu_ir.npu_ir_graph import NpuIrGraph
from gawee_dialect.python_numbers import array_of_parts, parts_of_array
from gawee_dialect.pytorch.execute import execute_ir
from gawee_dialect.pytorch.tensors import as_array
from gawee_dialect.pytorch.verify import VerificationReport, compare_outputs, locate

AnyArray = NDArray[np.generic]


def verify_outputs(
    graph: Graph,
    weights: Mapping[str, AnyArray],
    inputs: Mapping[str, AnyArray],
    outputs: Sequence[AnyArray],
    *,
    tolerance: float,
    engine: str,
) -> VerificationReport:
    """Run a graph by PyTorch, and compare; where outputs differ, name the first node.

    Raises GaweeError for a graph that is not NPU_IR, and where PyTorch is not installed.
    """
    if not isinstance(graph, NpuIrGraph):
        raise GaweeError(
            Diagnostic(
                f"expected an NPU_IR graph to verify, got '{graph.format}'",
                hint="--compare holds two levels of any graph against each other",
            )
        )
    ir = graph.ir
    # What is complex in PyTorch is pairs here.
    dtypes = {each.name: each.dtype for each in (*ir.graph_inputs, *ir.weights)}
    inputs, weights = (
        {name: array_of_parts(each, dtypes.get(name, "")) for name, each in arrays.items()}
        for arrays in (inputs, weights)
    )
    own = {name: each for name, each in weights.items() if name not in ir.constants}
    given = {name: each for name, each in weights.items() if name in ir.constants}
    expected = execute_ir(ir, inputs, own, constants=given, engine="aten")
    arrays = [parts_of_array(as_array(each)) for each in expected]
    report = compare_outputs(arrays, outputs, tolerance, tolerance)
    if not report.is_valid:
        report.first_difference = locate(
            ir, own, list(inputs.values()), (tolerance, tolerance), engine=engine, constants=given
        )
    return report
