"""Cuts in functions of any ops and any number of blocks: branches, blocks, regions, ops anywhere.

A cut says what it takes out by the index of an op among all ops of a module, so that several can be
made in one copy. A cut that is no longer possible there does nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from xdsl.dialects import affine, arith, cf, llvm, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr
from xdsl.irdl import AttrSizedOperandSegments

from gawee_dialect.dialect.operation import set_groups
from gawee_dialect.dialect.types import AnyFloat
from gawee_dialect.hints import isa
from gawee_dialect.upstream.walk import all_ops

Cut: TypeAlias = tuple[int, Callable[[Operation], bool]]
"""The index of an op, and what changes it; that returns whether it could."""

Cuts: TypeAlias = Sequence[Cut]

Levels: TypeAlias = Sequence[Sequence[Cuts]]
"""Alternatives, and behind them smaller ones."""


def with_cuts(module: ModuleOp, cuts: Cuts) -> ModuleOp | None:
    """Return a copy of a module with some cuts, None where none of them is possible.

    Blocks that are not reached any more are left out.
    """
    copy = module.clone()
    ops = all_ops(copy)
    # The last first: what is inside of an op goes before the op.
    made = [cut(ops[index]) for index, cut in sorted(cuts, key=lambda each: -each[0])]
    if not any(made):
        return None
    for op in ops:
        for region in op.regions:
            _erase_unreached(region)
    return copy


def _erase_unreached(region: Region) -> None:
    first = region.first_block
    if first is None:
        return
    reached, open_ends = {first}, [first]
    while open_ends:
        last = open_ends.pop().last_op
        for block in () if last is None else last.successors:
            if block not in reached:
                reached.add(block)
                open_ends.append(block)
    gone = [block for block in region.blocks if block not in reached]
    for block in gone:
        for op in block.ops:
            op.drop_all_references()
    for block in gone:
        region.erase_block(block, safe_erase=False)


# Branches: the operands of a terminator, and what its successors are given.


def _segments(op: Operation) -> Sequence[Sequence[SSAValue]] | None:
    """Return what each successor of a terminator is given, None where that is not known."""
    if len(op.successors) == 1:
        return [op.operands]
    sizes = op.properties.get(AttrSizedOperandSegments.attribute_name)
    if not isa(sizes, DenseArrayBase[IntegerType]):
        return None
    counts, start, found = sizes.get_values(), 0, list[Sequence[SSAValue]]()
    for count in counts:
        found.append(op.operands[start : start + count])
        start += count
    return found[1:] if len(found) == 1 + len(op.successors) else None


def _without_operand(op: Operation, block: Block, index: int) -> None:
    """Give a block one operand less, wherever a terminator leads to it."""
    segments = _segments(op)
    assert segments is not None
    kept = [
        [value for place, value in enumerate(values) if successor is not block or place != index]
        for successor, values in zip(op.successors, segments, strict=True)
    ]
    if len(op.successors) == 1:
        (op.operands,) = kept
    else:
        set_groups(op, ([op.operands[0]], *kept))


def _decide(successor: int, op: Operation) -> bool:
    """Go to one successor in any case."""
    segments = _segments(op)
    block = op.parent
    if segments is None or block is None:
        return False
    kind = llvm.BrOp if op.name.startswith("llvm.") else cf.BranchOp
    branch = kind(op.successors[successor], *segments[successor])
    branch.location = op.location
    block.insert_op_after(branch, op)
    _erase(op)
    return True


def branch_cuts(module: ModuleOp) -> Levels:
    """Return cuts that decide one branch, for one of its ways."""
    return [
        [
            [(index, partial(_decide, successor))]
            for index, op in enumerate(all_ops(module))
            if len(op.successors) > 1
            for successor in range(len(op.successors))
        ]
    ]


# Blocks.


def _merge(op: Operation) -> bool:
    """Put the block that a terminator leads to behind its own, where nothing else leads to it."""
    block, after = op.parent, op.successors[0]
    region = after.parent
    if block is None or region is None or after is block or len(after.predecessors()) != 1:
        return False
    for argument, value in zip(after.args, op.operands, strict=True):
        argument.replace_all_uses_with(value)
    _erase(op)
    for each in list(after.ops):
        each.detach()
        block.add_op(each)
    region.erase_block(after)
    return True


def merge_cuts(module: ModuleOp) -> Levels:
    """Return cuts that make one block of two."""
    ops = enumerate(all_ops(module))
    return [[[(index, _merge)] for index, op in ops if len(op.successors) == 1]]


def _drop_argument(number: int, op: Operation) -> bool:
    """Leave out an argument of an op's block: a value or a constant takes its place."""
    block = op.parent
    if block is None or number >= len(block.args):
        return False
    argument = block.args[number]
    ends = {each.parent: each for each in (use.operation for use in block.uses)}
    given: list[SSAValue] = []
    for end in ends.values():
        segments = _segments(end)
        if segments is None:
            return False
        pairs = zip(end.successors, segments, strict=True)
        given += [values[number] for successor, values in pairs if successor is block]
    if argument.first_use is not None:
        value = _everywhere(given, block) or _constant(argument, op)
        if value is None:
            return False
        argument.replace_all_uses_with(value)
    for end in ends.values():
        _without_operand(end, block, number)
    block.erase_arg(argument)
    return True


def _everywhere(values: Iterable[SSAValue], block: Block) -> SSAValue | None:
    """Return a value that a whole region knows: one that its first block makes."""
    region = block.parent
    first = None if region is None else region.first_block
    for value in values:
        owner = value.owner
        home = owner if isinstance(owner, Block) else owner.parent
        if home is first and block is not first:
            return value
    return None


def argument_cuts(module: ModuleOp) -> Levels:
    """Return cuts that leave out an argument of a block that branches lead to."""
    return [
        [
            [(index, partial(_drop_argument, number))]
            for index, op in enumerate(all_ops(module))
            if (block := op.parent) is not None and block.first_op is op and block.uses
            for number in reversed(range(len(block.args)))
        ]
    ]


# Regions: what is inside of a loop or a choice takes its place.


def _unwrap(number: int, op: Operation) -> bool:
    region, parent = op.regions[number], op.parent
    if parent is None or region.first_block is None or len(region.blocks) != 1:
        return False
    block = region.block
    given = _first_iteration(op)
    end = block.last_op
    if given is None or end is None or len(given) != len(block.args):
        return False
    if len(end.operands) != len(op.results):
        return False
    for argument, value in zip(block.args, given, strict=True):
        argument.replace_all_uses_with(value)
    for each in list(block.ops):
        if each is not end:
            each.detach()
            parent.insert_op_before(each, op)
    for result, value in zip(op.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    _erase(end)
    _erase(op)
    return True


def _first_iteration(op: Operation) -> Sequence[SSAValue] | None:
    """Return what an op's region is given at first, None of ops that are not unwrapped."""
    match op:
        case scf.IfOp() | affine.IfOp():
            return ()
        case scf.ForOp():
            return op.lb, *op.iter_args
        case affine.ForOp():
            first = _constant_bound(op.lowerBoundMap)
            if first is None:
                return None
            return _constant_before(op, IntegerAttr(first, IndexType())), *op.inits
        case scf.ParallelOp() if not op.initVals:
            return op.lowerBound
        case _:
            return None


def _constant_bound(map: AffineMapAttr) -> int | None:
    results = map.data.results
    if len(results) == 1 and isinstance(results[0], AffineConstantExpr):
        return results[0].value
    return None


UNWRAPPED = (scf.IfOp, affine.IfOp, scf.ForOp, affine.ForOp, scf.ParallelOp)


def region_cuts(module: ModuleOp) -> Levels:
    """Return cuts that leave what is in a loop, once, or in one way of a choice."""
    return [
        [
            [(index, partial(_unwrap, number))]
            for index, op in enumerate(all_ops(module))
            if isinstance(op, UNWRAPPED)
            for number in range(len(op.regions))
        ]
    ]


# Results of functions of several blocks, or of one.


def _drop_result(number: int, op: Operation) -> bool:
    if not isinstance(op, FuncOp):
        return False
    type = op.function_type
    outputs = [each for place, each in enumerate(type.outputs) if place != number]
    for end in (each for each in op.walk() if isinstance(each, ReturnOp)):
        end.operands = [each for place, each in enumerate(end.operands) if place != number]
    op.function_type = FunctionType.from_lists(list(type.inputs), outputs)
    if op.res_attrs is not None:
        kept = [each for place, each in enumerate(op.res_attrs) if place != number]
        op.res_attrs = ArrayAttr(kept)
    return True


def result_cuts(module: ModuleOp) -> Levels:
    """Return cuts that leave out a result of a function that nothing calls."""
    ops = all_ops(module)
    called = {op.callee.string_value() for op in ops if isinstance(op, CallOp)}
    return [
        [
            [(index, partial(_drop_result, number))]
            for index, op in enumerate(ops)
            if isinstance(op, FuncOp) and op.body.blocks and op.sym_name.data not in called
            for number in reversed(range(len(op.function_type.outputs)))
        ]
    ]


# Ops anywhere.


def op_cuts(module: ModuleOp) -> Levels:
    """Return cuts of runs of ops anywhere in functions: quarters of all, of these, and so on."""
    ops, levels = all_ops(module), list[list[Cuts]]()
    inside = [(index, _leave_out) for index, op in enumerate(ops) if _is_inside(op)]
    length = len(inside)
    while length > 1 or not levels:
        length = max(1, length // 4)
        levels.append([inside[at : at + length] for at in range(0, len(inside), length)])
    return levels


def _is_inside(op: Operation) -> bool:
    """Whether an op is in a function, and does not end a block."""
    block = op.parent
    holder = op.parent_op()
    return not (block is None or isinstance(holder, ModuleOp) or block.last_op is op)


def _leave_out(op: Operation) -> bool:
    """Erase an op; an operand of its type, or a constant, takes the place of a result."""
    used = [result for result in op.results if result.first_use is not None]
    values: list[SSAValue] = []
    for result in used:
        same = (operand for operand in op.operands if operand.type == result.type)
        value = next(same, None)
        if value is None and not isinstance(op, arith.ConstantOp):
            value = _constant(result, op)
        if value is None:
            return False
        values.append(value)
    for result, value in zip(used, values, strict=True):
        result.replace_all_uses_with(value)
    _erase(op)
    return True


def _constant(value: SSAValue, before: Operation) -> SSAValue | None:
    """Return a new constant of a value's type, None where there are none."""
    match value.type:
        case IndexType():
            return _constant_before(before, IntegerAttr(0, value.type))
        case IntegerType():  # not 0: much is divided by
            return _constant_before(before, IntegerAttr(1, value.type))
        case type if isa(type, AnyFloat):
            return _constant_before(before, FloatAttr(1.0, type))
        case _:
            return None


def _constant_before(
    op: Operation, value: IntegerAttr[IntegerType | IndexType] | FloatAttr
) -> SSAValue:
    block = op.parent
    assert block is not None
    constant = arith.ConstantOp(value)
    constant.location = op.location
    block.insert_op_before(constant, op)
    return constant.result


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
