"""Find the first node whose value an engine computes differently than PyTorch does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gawee_dialect.frontends.npu_ir.aten.registry import base_name, canonical_name, is_in_place
from gawee_dialect.frontends.npu_ir.ir import GETITEM, NPU_IR, OpNode, TensorMeta, place_text
from gawee_dialect.frontends.npu_ir.liveness import Aliases, Liveness
from gawee_dialect.frontends.npu_ir.pytorch import Tensor
from gawee_dialect.pytorch.aten_engine import run_aten
from gawee_dialect.pytorch.execute import (
    Weights,
    execute_ir,
    named_inputs,
    used_weights,
    with_constants,
)
from gawee_dialect.pytorch.tensors import Array, array_of_tensor, as_array, as_tensor

# How far two arrays are apart, in their own dtype.


@dataclass(frozen=True)
class Difference:
    """Whether two arrays are close, and how far apart; NaN counts as equal to NaN."""

    is_close: bool
    max_diff: float
    mean_diff: float
    reason: str | None = None
    """What differs other than elements."""


def compare(expected: Array, got: Array, rtol: float, atol: float) -> Difference:
    """Compare as `allclose` does: |got - expected| <= atol + rtol * |expected|.

    Integers and booleans have to be equal. A shape or dtype that differs, and NaN or infinity on
    one side alone, are infinitely far apart.
    """
    infinite = float("inf")
    if expected.shape != got.shape:
        return Difference(False, infinite, infinite, f"shape {got.shape}, not {expected.shape}")
    if expected.dtype != got.dtype:
        return Difference(False, infinite, infinite, f"dtype {got.dtype}, not {expected.dtype}")
    if expected.size == 0:
        return Difference(True, 0.0, 0.0)
    wide_expected, wide_got = expected.astype(np.float64), got.astype(np.float64)
    same = (expected == got) | (np.isnan(wide_expected) & np.isnan(wide_got))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(wide_expected - wide_got))
    apart = np.where(np.isnan(apart), infinite, apart)
    allowed = atol + rtol * np.abs(np.where(np.isfinite(wide_expected), wide_expected, 0.0))
    close = same | (apart <= allowed) if _is_float(expected) else same
    return Difference(bool(close.all()), float(apart.max()), float(apart.mean()))


def _is_float(array: Array) -> bool:
    return array.dtype.kind == "f" or array.dtype.name == "bfloat16"


@dataclass(frozen=True)
class NodeDifference:
    """The first node whose value differs; None where every node's is close."""

    node: str | None
    op_type: str = ""
    place: str | None = None
    difference: Difference | None = None

    def __str__(self) -> str:
        if self.difference is None:
            return (
                "every node alone agrees with PyTorch's ATen ops: the graph, the weights or what "
                "is done to several nodes together differs"
            )
        where = f" ({self.place})" if self.place else ""
        what = self.difference.reason or f"max difference {self.difference.max_diff:.3g}"
        return f"first different at node '{self.node}', {self.op_type}{where}: {what}"


def locate(
    ir: NPU_IR,
    weights: Weights,
    inputs: Sequence[object],
    tolerance: tuple[float, float],
    *,
    engine: str,
    constants: Mapping[str, object] | None = None,
) -> NodeDifference:
    """Run the graph with every node's value as an output, and compare with PyTorch's values.

    tolerance: relative and absolute. Values in memory that a node writes later are passed over.
    """
    graph = with_constants(ir, constants or {})
    shown = _comparable(graph)
    wide = replace(graph, graph_outputs=[output for _, output in shown])
    expected: dict[str, Array] = {}

    def observe(node: OpNode, results: Sequence[Tensor]) -> None:
        for output, value in zip(node.outputs, results, strict=True):
            expected[output.name] = array_of_tensor(value)

    tensors = {name: as_tensor(each) for name, each in named_inputs(graph, inputs).items()}
    run_aten(wide, tensors, used_weights(wide, weights), observe)
    outputs = execute_ir(wide, inputs, weights, engine=engine)
    for (node, output), value in zip(shown, outputs, strict=True):
        difference = compare(expected[output.name], as_array(value), *tolerance)
        if not difference.is_close:
            return NodeDifference(node.name, node.op_type, place_text(node.place), difference)
    return NodeDifference(None)


def _comparable(ir: NPU_IR) -> list[tuple[OpNode, TensorMeta]]:
    """Return what needed nodes make, but for memory that is written and what is not computed."""
    liveness, aliases = Liveness(ir), Aliases()
    written: set[str] = set()
    for node in ir.nodes:
        aliases.add(node, base_name(canonical_name(node.op_type)))
        if is_in_place(node.op_type):
            first = node.inputs[0].name
            written.update((first, *aliases.others(first)))
    return [
        (node, output)
        for node in ir.nodes
        if node.op_type != GETITEM
        for output in node.outputs
        if liveness.is_read(output.name) and output.name not in written
    ]
