"""What a run decides: `scf.if` and `scf.while`, whose regions are ops on tensors."""

from collections.abc import Callable, Sequence

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from gawee_dialect.dialect.graph.arrangement import BroadcastToOp
from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.shape import ReshapeOp
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal

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
    taken = emit(tensor.ExtractOp(flag, (), i1))
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
    extract = tensor.ExtractOp(condition, (), i1)
    extract.location = emit.location
    before.add_op(extract)
    _end(emit, before, scf.ConditionOp(extract.result, *before.args))
    _end(emit, after, scf.YieldOp(*made))
    return emit.all(scf.WhileOp(initial, types, Region(before), Region(after)))


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
