"""What hands a state from each step to the next: a loop, or where steps are few, each of them."""

from collections.abc import Callable

from xdsl.ir import Region, SSAValue

from gawee_dialect.dialect.graph.scan import ScanOp, element_of_sequence
from gawee_dialect.dialect.graph.shape import CatOp
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.branches import Values, erase_unused, filled
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal

WRITTEN_OUT = 4
"""Up to so many steps are written out: the ops of each are then fused with what is around."""

Step = Callable[[Values, Values], tuple[Values, Values]]
"""Emits a step: takes the state and an element of each sequence, returns the next state and what
is kept of the step."""


def recurrence(
    emit: Emitter, step: Step, initial: Values, sequences: Values, *, reverse: bool = False
) -> tuple[Values, Values]:
    """Take a step for every element of some sequences, which are as long along their first axis.

    Returns the last state, and what is kept of all steps along a new first axis, in the order of
    the sequences. With `reverse` their last element is taken first. Raises Refusal for no steps.
    """
    steps = tensor_shape(sequences[0])[0]
    if steps < 1:
        raise Refusal("expected a sequence of at least one step, got none")
    take = _written_out if steps <= WRITTEN_OUT else _scanned
    return take(emit, step, initial, sequences, steps, reverse)


def _scanned(
    emit: Emitter, step: Step, initial: Values, sequences: Values, steps: int, reverse: bool
) -> tuple[Values, Values]:
    elements = [element_of_sequence(tensor_type(each)) for each in sequences]
    count = len(initial)
    types = [*(each.type for each in initial), *elements]
    body, made = filled(emit, types, lambda now: _joined(*step(now[:count], now[count:])))
    body.add_op(YieldOp(*made))
    erase_unused(body)
    results = emit.all(ScanOp(initial, sequences, Region(body), steps=steps, reverse=reverse))
    return results[:count], results[count:]


def _joined(state: Values, kept: Values) -> Values:
    return [*state, *kept]


def _written_out(
    emit: Emitter, step: Step, initial: Values, sequences: Values, steps: int, reverse: bool
) -> tuple[Values, Values]:
    state = initial
    kept: list[Values] = []
    times = indices_of(steps)
    for time in reversed(times) if reverse else times:
        now = [_element(emit, each, time) for each in sequences]
        state, made = step(state, now)
        kept.append(made)
    in_order = kept[::-1] if reverse else kept
    return state, [stacked(emit, each) for each in zip(*in_order, strict=True)]


def _element(emit: Emitter, sequence: SSAValue, time: int) -> SSAValue:
    return emit.reshape(part(emit, sequence, 0, time, 1), tensor_shape(sequence)[1:])


def stacked(emit: Emitter, values: Values, axis: int = 0) -> SSAValue:
    """Put tensors of one shape together along a new axis."""
    shape = tensor_shape(values[0])
    longer = (*shape[:axis], 1, *shape[axis:])
    rows = [emit.reshape(value, longer) for value in values]
    return rows[0] if len(rows) == 1 else emit(CatOp(rows, dim=axis))
