"""Bodies of recurrences, with an op less: what it makes is there already."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from gawee_dialect.dialect.scan import ScanOp
from gawee_dialect.reduce.draft import copy_of


def inner_ops(function: FuncOp) -> Sequence[Operation]:
    """Return the ops of all bodies of scans, in order, without those that end them."""
    bodies = [op.body.block for op in function.walk() if isinstance(op, ScanOp)]
    return [op for block in bodies for op in block.ops if op is not block.last_op]


def without_inner_op(module: ModuleOp, function: FuncOp) -> Iterator[ModuleOp]:
    """Yield copies of a module without one op of a body, the last one first.

    A value of its type takes the place of its result: an operand, or what a step is given.
    """
    for index in reversed(range(len(inner_ops(function)))):
        places = len(_replacements(inner_ops(function)[index]))
        for place in range(places):
            copy, found = copy_of(module, function)
            op = inner_ops(found)[index]
            op.results[0].replace_all_uses_with(_replacements(op)[place])
            _erase_dead(op)
            yield copy


def _replacements(op: Operation) -> Sequence[SSAValue]:
    """Return what may stand for the one result of an op."""
    block = op.parent
    if len(op.results) != 1 or block is None:
        return ()
    known = dict.fromkeys((*op.operands, *block.args))
    return [value for value in known if value.type == op.results[0].type]


def _erase_dead(op: Operation) -> None:
    """Erase an op that nobody reads, and those of its block that only it read."""
    owners = [operand.owner for operand in op.operands]
    block = op.parent
    op.detach()
    op.erase()
    for owner in owners:
        if isinstance(owner, Block) or owner.parent is not block:
            continue
        if not any(each.first_use for each in owner.results):
            _erase_dead(owner)
