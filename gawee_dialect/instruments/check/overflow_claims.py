"""Integer arithmetic that claims not to overflow, where data decide whether it does."""

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.violation import Violation

WHOLE_NUMBERS = frozenset(
    "add sub mul shl sdiv udiv srem urem and or lshr ashr sext zext trunc select icmp "
    "intr.smin intr.smax intr.umin intr.umax".split()
)
"""Ops that compute a whole number of whole numbers."""


def wrong_overflow_claims(module: ModuleOp) -> Iterator[Violation]:
    """Yield ops with `nsw` or `nuw` whose operands come from memory or from floats.

    What is computed of constants, counters of loops and numbers of threads fits. So does what only
    finds an address, or decides on a branch: it is a place in a buffer.
    """
    for op in module.walk():
        flags = op.properties.get("overflowFlags")
        claimed = isa(flags, IntegerAttr) and flags.value.data != 0
        if claimed and any(map(_data_decide, op.operands)) and _is_kept(op.results[0]):
            yield Violation(op, "claims not to overflow, which data decide")


def _data_decide(value: SSAValue) -> bool:
    """Whether a number depends on more than constants and the counters of loops."""
    seen, waiting = set[SSAValue](), [value]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        sources = _sources(each)
        if sources is None:
            return True
        waiting.extend(sources)
    return False


def _is_kept(value: SSAValue) -> bool:
    """Whether a number ends up in memory, or becomes a float."""
    seen, waiting = set[SSAValue](), [value]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        for use in each.uses:
            user = use.operation
            if user.name.removeprefix("llvm.") in WHOLE_NUMBERS:
                waiting.extend(user.results)
            elif isinstance(user, llvm.BrOp | llvm.CondBrOp):
                waiting.extend(_handed_on(user, use.index))
            elif not isinstance(user, llvm.GEPOp | llvm.CallOp):
                return True
    return False


def _handed_on(branch: llvm.BrOp | llvm.CondBrOp, index: int) -> Iterable[SSAValue]:
    """Return the arguments that blocks may take an operand of a branch as."""
    value = branch.operands[index]
    for target in branch.successors:
        for argument in target.args:
            if value in _incoming(argument):
                yield argument


def _sources(value: SSAValue) -> Sequence[SSAValue] | None:
    """Return what a number is computed of; None where it comes from memory or from floats."""
    if isinstance(value, BlockArgument):
        return list(_incoming(value))
    owner = value.owner
    assert isinstance(owner, Operation)
    if isinstance(owner, llvm.ConstantOp):
        return ()
    return owner.operands if owner.name.removeprefix("llvm.") in WHOLE_NUMBERS else None


def _incoming(argument: BlockArgument) -> Iterable[SSAValue]:
    """Yield what branches hand to a block for an argument; nothing for a function's own."""
    block = argument.block
    for last in _predecessors(block):
        if isinstance(last, llvm.BrOp):
            yield last.operands[argument.index]
        elif isinstance(last, llvm.CondBrOp):
            pairs = ((last.then_block, last.then_arguments), (last.else_block, last.else_arguments))
            yield from (given[argument.index] for target, given in pairs if target is block)


def _predecessors(block: Block) -> Iterable[Operation]:
    region = block.parent
    for other in region.blocks if region is not None else ():
        last = other.last_op
        if last is not None and block in last.successors:
            yield last
