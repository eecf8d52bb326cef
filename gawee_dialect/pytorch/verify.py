"""Hold what a graph computes against the model that it was extracted from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.errors import ExecutionError
from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.frontends.npu_ir.pytorch import is_tensor, torch
from gawee_dialect.parameters.given_inputs import Inputs
from gawee_dialect.pytorch.execute import execute_ir, named_inputs
from gawee_dialect.pytorch.graph_weights import Weights
from gawee_dialect.pytorch.locate import Difference, NodeDifference, compare, locate
from gawee_dialect.pytorch.tensors import Array, array_of_tensor, as_array, as_tensor

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
