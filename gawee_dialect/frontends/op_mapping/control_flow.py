"""What a run decides, `scf.if` and `scf.while` on tensors, and what hands on a state."""

from collections.abc import Callable, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.logic import WhereOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, CatOp, ReshapeOp
from gawee_dialect.dialect.graph.scan import ScanOp, element_of_sequence
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part
from gawee_dialect.frontends.op_mapping.registry import Refusal

# What a run decides: `scf.if` and `scf.while`, whose regions are ops on tensors.


Values = Sequence[SSAValue]

FUSED = ElementwiseOp | ConstantOp | BroadcastToOp | ReshapeOp
"""Ops that are fused with a choice: to compute both branches costs less than to decide."""


def filled(
    emit: Emitter, types: Sequence[Attribute], body: Callable[[Values], Values]
) -> tuple[Block, Values]:
    """Return a block with the ops that a function emits of its arguments, and what that returns."""
    block, outside = Block(arg_types=types), emit.block
    emit.block = block
    try:
        made = body(block.args)
    finally:
        emit.block = outside
    return block, made


def erase_unused(block: Block) -> None:
    """Erase the ops of a finished block whose results nothing reads."""
    for op in reversed(list(block.ops)):
        if op.results and not any(result.uses for result in op.results):
            op.detach()
            op.erase()


def chosen(emit: Emitter, condition: SSAValue, branches: Sequence[Callable[[], Values]]) -> Values:
    """Return what the first of two branches makes where a condition of one element holds, and what
    the second makes else.

    Raises Refusal where they make other types.
    """
    made = [filled(emit, (), lambda _, each=each: each()) for each in branches]
    (yes, first), (no, second) = made
    _require_types("branches", first, second)
    flag = emit.reshape(condition, ())
    if all(isinstance(op, FUSED) for block in (yes, no) for op in block.ops):
        for op in (op for block in (yes, no) for op in list(block.ops)):
            op.detach()
            emit.block.add_op(op)
        return [emit(WhereOp(flag, a, b)) for a, b in zip(first, second, strict=True)]
    for block, values in made:
        _end(emit, block, scf.YieldOp(*values))
    taken = emit(_element_of(flag))
    return emit.all(scf.IfOp(taken, [value.type for value in first], Region(yes), Region(no)))


def repeated(
    emit: Emitter,
    test: Callable[[Values], SSAValue],
    step: Callable[[Values], Values],
    initial: Values,
) -> Values:
    """Return the first state that a test of one element fails on, after steps from an initial one.

    Raises Refusal where a step makes other types than it takes.
    """
    types = [value.type for value in initial]
    before, (condition,) = filled(emit, types, lambda now: [emit.reshape(test(now), ())])
    after, made = filled(emit, types, step)
    _require_types("a step and its state", made, initial)
    extract = _element_of(condition)
    extract.location = emit.location
    before.add_op(extract)
    _end(emit, before, scf.ConditionOp(extract.results[0], *before.args))
    _end(emit, after, scf.YieldOp(*made))
    return emit.all(scf.WhileOp(initial, types, Region(before), Region(after)))


def _element_of(flag: SSAValue) -> Operation:
    """Return the op that takes the one element of a tensor of i1."""
    from xdsl.dialects.tensor import ExtractOp

    return ExtractOp(flag, (), i1)


def _require_types(what: str, got: Values, wanted: Values) -> None:
    if [value.type for value in got] != [value.type for value in wanted]:
        listed = (
            "(" + ", ".join(str(value.type) for value in each) + ")" for each in (got, wanted)
        )
        raise Refusal(f"expected {what} of one type, got {' and '.join(listed)}")


def _end(emit: Emitter, block: Block, terminator: scf.YieldOp | scf.ConditionOp) -> None:
    terminator.location = emit.location
    block.add_op(terminator)
    erase_unused(block)


# What hands a state from each step to the next: a loop, or where steps are few, each of them.


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
