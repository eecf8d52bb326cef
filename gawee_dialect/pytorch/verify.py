"""Hold what a graph computes against the model that it was extracted from, or node by node.

Where an engine differs from PyTorch, the first node is found whose value it computes differently.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.aten.registry import base_name, canonical_name, is_in_place
from gawee_dialect.frontends.npu_ir.ir import (
    GETITEM,
    NPU_IR,
    ExecutionError,
    OpNode,
    TensorMeta,
    place_text,
)
from gawee_dialect.frontends.npu_ir.liveness import Aliases, Liveness
from gawee_dialect.frontends.npu_ir.pytorch import Tensor, is_tensor, torch
from gawee_dialect.parameters.given_inputs import Inputs
from gawee_dialect.pytorch.aten_engine import run_aten
from gawee_dialect.pytorch.execute import execute_ir, named_inputs
from gawee_dialect.pytorch.graph_weights import Weights, used_weights, with_constants
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
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    wide_expected, wide_got = expected.astype(wide), got.astype(wide)
    same = (expected == got) | (np.isnan(wide_expected) & np.isnan(wide_got))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(wide_expected - wide_got))
    apart = np.where(np.isnan(apart), infinite, apart)
    allowed = atol + rtol * np.abs(np.where(np.isfinite(wide_expected), wide_expected, 0.0))
    close = same | (apart <= allowed) if _is_float(expected) else same
    return Difference(bool(close.all()), float(apart.max()), float(apart.mean()))


def _is_float(array: Array) -> bool:
    return array.dtype.kind in "fc" or array.dtype.name == "bfloat16"


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


TOLERANCE = 1e-5
"""Of float32 networks of usual depth, whose sums are in another order."""


@dataclass(frozen=True)
class OutputDetail:
    """How one output compares."""

    index: int
    shape: tuple[int, ...]
    is_close: bool
    max_diff: float
    mean_diff: float
    reason: str | None = None


@dataclass
class VerificationReport:
    """What a verification found; `str()` is the text for people."""

    is_valid: bool
    max_diff: float = 0.0
    mean_diff: float = 0.0
    """The largest mean difference of an output."""
    num_outputs: int = 0
    output_details: list[OutputDetail] = field(default_factory=list[OutputDetail])
    error_message: str | None = None
    first_difference: NodeDifference | None = None
    """The first node whose value differs, where it was looked for."""

    def __str__(self) -> str:
        verdict = "PASSED" if self.is_valid else "FAILED"
        lines = [f"Verification {verdict}: {self.num_outputs} outputs"]
        lines[0] += f", max difference {self.max_diff:.3g}, mean difference {self.mean_diff:.3g}"
        for each in self.output_details:
            mark = "close" if each.is_close else each.reason or "differs"
            shape = "x".join(map(str, each.shape)) or "scalar"
            lines.append(
                f"  output {each.index} ({shape}): {mark}, "
                f"max {each.max_diff:.3g}, mean {each.mean_diff:.3g}"
            )
        if self.error_message is not None:
            lines.append(f"  {self.error_message}")
        if self.first_difference is not None:
            lines.append(f"  {self.first_difference}")
        return "\n".join(lines)


def verify_ir(
    ir: NPU_IR,
    weights: Weights,
    original_model: Callable[..., object],
    test_inputs: Inputs,
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    *,
    engine: str = "native",
    constants: Mapping[str, object] | None = None,
    locate_difference: bool = False,
) -> tuple[bool, VerificationReport]:
    """Run a graph by an engine and the original model on the same inputs, and compare.

    weights: a state_dict or a file; None takes those of the model. A model on the meta device runs
        with the weights that are given.
    locate_difference: where they differ, look for the first node whose value does.

    Whatever goes wrong is in the report, not raised. Returns whether all outputs are close, and
    the report.
    """
    try:
        state = _state(original_model) if weights is None else weights
        inputs = list(named_inputs(ir, test_inputs).values())
        expected = run_original(original_model, state, inputs)
        outputs = execute_ir(ir, inputs, state, constants=constants, engine=engine)
        report = compare_outputs(expected, [as_array(each) for each in outputs], rtol, atol)
        if not report.is_valid and locate_difference:
            report.first_difference = locate(
                ir, state, inputs, (rtol, atol), engine=engine, constants=constants
            )
    except Exception as error:
        report = VerificationReport(False, float("inf"), float("inf"), error_message=_said(error))
    return report.is_valid, report


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, GaweeError) else f"{type(error).__name__}: {error}"


def _state(model: object) -> Mapping[str, object]:
    state_dict: Callable[[], Mapping[str, object]] | None = getattr(model, "state_dict", None)
    return {} if state_dict is None else state_dict()


def run_original(
    model: Callable[..., object], weights: Weights, inputs: Sequence[object]
) -> list[Array]:
    """Return the outputs of the original model, in eval mode and without gradients, as arrays."""
    library = torch()
    set_mode: Callable[[bool], object] | None = getattr(model, "train", None)
    was_training: object = getattr(model, "training", False)
    # What changes its inputs must not change those of the other run.
    arguments = [library.clone(as_tensor(each)) for each in inputs]
    try:
        if set_mode is not None:
            set_mode(False)
        with library.no_grad():
            result = _call(model, weights, arguments)
    finally:
        if set_mode is not None:
            set_mode(bool(was_training))
    leaves: Sequence[object] = library.utils._pytree.tree_leaves(result)
    return [array_of_tensor(leaf) for leaf in leaves if is_tensor(leaf)]


def _call(model: Callable[..., object], weights: Weights, arguments: Sequence[object]) -> object:
    state = _state(model)
    if not any(map(_is_on_meta, state.values())):
        return model(*arguments)
    from gawee_dialect.frontends.npu_ir.weights import load_weights

    store = weights or {}
    store = store if isinstance(store, Mapping) else load_weights(store)
    given = {name: store[name] for name in state if name in store}
    if len(given) < len(state) or any(map(_is_on_meta, given.values())):
        raise ExecutionError("expected weights for a model on the meta device, got none")
    tensors = {name: as_tensor(value) for name, value in given.items()}
    return torch().func.functional_call(model, tensors, tuple(arguments))


def _is_on_meta(value: object) -> bool:
    return is_tensor(value) and str(value.device) == "meta"


def compare_outputs(
    expected: Sequence[Array], outputs: Sequence[Array], rtol: float, atol: float
) -> VerificationReport:
    """Compare outputs one by one, each in its own dtype."""
    if len(expected) != len(outputs):
        text = f"expected {len(expected)} outputs, got {len(outputs)}"
        return VerificationReport(False, float("inf"), float("inf"), error_message=text)
    pairs = zip(expected, outputs, strict=True)
    differences = [compare(want, got, rtol, atol) for want, got in pairs]
    return VerificationReport(
        all(each.is_close for each in differences),
        max((each.max_diff for each in differences), default=0.0),
        max((each.mean_diff for each in differences), default=0.0),
        len(outputs),
        [_detail(index, outputs[index], each) for index, each in enumerate(differences)],
    )


def _detail(index: int, output: Array, difference: Difference) -> OutputDetail:
    return OutputDetail(
        index,
        output.shape,
        difference.is_close,
        difference.max_diff,
        difference.mean_diff,
        difference.reason,
    )
