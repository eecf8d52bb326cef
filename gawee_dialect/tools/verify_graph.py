"""What `gawee-run --verify` does: the outputs of a graph against those that PyTorch computes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.formats import sniff
from gawee_dialect.frontends.npu_ir.read import parse_ir
from gawee_dialect.pytorch.execute import execute_ir
from gawee_dialect.pytorch.locate import locate
from gawee_dialect.pytorch.tensors import as_array
from gawee_dialect.pytorch.verify import VerificationReport, compare_outputs

AnyArray = NDArray[np.generic]


def verify_outputs(
    path: str,
    weights: Mapping[str, AnyArray],
    inputs: Mapping[str, AnyArray],
    outputs: Sequence[AnyArray],
    *,
    tolerance: float,
    engine: str,
) -> VerificationReport:
    """Run the graph of a file by PyTorch, and compare; where outputs differ, name the first node.

    Raises GaweeError for a graph that is not NPU_IR, and where PyTorch is not installed.
    """
    text = Path(path).read_text(encoding="utf-8")
    frontend = sniff(text, path)
    if frontend.name != "npu-ir":
        raise GaweeError(
            Diagnostic(
                f"expected an NPU_IR graph to verify, got '{frontend.name}'",
                hint="--compare holds two levels of any graph against each other",
            )
        )
    ir = parse_ir(text, path)
    own = {name: each for name, each in weights.items() if name not in ir.constants}
    given = {name: each for name, each in weights.items() if name in ir.constants}
    expected = execute_ir(ir, inputs, own, constants=given, engine="aten")
    arrays = [as_array(each) for each in expected]
    report = compare_outputs(arrays, outputs, tolerance, tolerance)
    if not report.is_valid:
        report.first_difference = locate(
            ir, own, list(inputs.values()), (tolerance, tolerance), engine=engine, constants=given
        )
    return report
