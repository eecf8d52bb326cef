"""What becomes of the integers that a function takes: which values they may have in a check."""

from collections.abc import Iterable, Iterator, Mapping

from xdsl.dialects import arith, linalg, memref
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, MemRefType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from gawee_dialect.analysis.effects import VIEWS
from gawee_dialect.dialect.graph.gather import IndexedOp
from gawee_dialect.dialect.graph.movement import MovementOp
from gawee_dialect.dialect.open_size import sizes_at
from gawee_dialect.dialect.types import is_shaped

WHOLE = "whole number"
"""What only whole numbers are computed of: any of its type."""

COUNT = "count"
"""What also floats are computed of: a magnitude that functions of floats can bear."""

INDEX = "index"
NUMBER = "number"
"""What may be an index of something, a shift or a divisor: small."""

ARITHMETIC = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "gawee": "add sub mul neg relu cast compare where clip reduce_sum reduce_max reduce_min "
        "maximum minimum abs sign logical_and logical_or logical_xor logical_not bitwise_and "
        "bitwise_or bitwise_xor bitwise_not",
        "arith": "addi subi muli andi ori xori cmpi select extsi extui trunci sitofp uitofp maxsi "
        "maxui minsi minui",
    }.items()
    for name in names.split()
)
"""Ops of integers that are defined for all of them."""

BY_CONSTANT = frozenset(
    f"arith.{name}"
    for name in "shli shrsi shrui divsi divui remsi remui floordivsi ceildivsi ceildivui".split()
)
"""Ops that are defined for all integers where the second operand is a constant that allows it."""


def use_of_integers(value: SSAValue, sizes: Mapping[str, int]) -> tuple[str, int]:
    """Say what integers are for, and of an index the size of its axis, else 0.

    `sizes` has numbers of those that are open. What is not followed makes them a number.
    """
    seen, waiting, use = set[SSAValue](), [value], WHOLE
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(_element(each), AnyFloat):
            use = COUNT
            continue
        for one in each.uses:
            op = one.operation
            if isinstance(op, IndexedOp) and each is op.positions:
                return INDEX, min(sizes_at(op.named_sizes, sizes), default=0)
            reached = _reached(op, one.index)
            if reached is None:
                return NUMBER, 0
            waiting.extend(reached)
    return (NUMBER, 0) if len(seen) == 1 else (use, 0)


def _element(value: SSAValue) -> Attribute:
    type = value.type
    return type.element_type if is_shaped(type) else type


def _reached(op: Operation, index: int) -> Iterable[SSAValue] | None:
    """Return the values that an operand goes into; None where that may be no arithmetic."""
    if _is_arithmetic(op, index):
        of_floats = any(isinstance(_element(each), AnyFloat) for each in op.operands)
        becomes_whole = all(isinstance(_element(each), IntegerType) for each in op.results)
        return None if of_floats and becomes_whole and op.name == "gawee.cast" else op.results
    match op:
        case ReturnOp() | memref.DeallocOp():
            return ()
        case memref.LoadOp() if index == 0:
            return op.results
        case memref.StoreOp() if index < 2:
            return (op.memref,) if index == 0 else ()
        case memref.CopyOp():
            return (op.destination,)
        case LinalgStructuredOperation() if index < len(op.operands):
            return (op.body.block.args[index],)
        case linalg.ops.YieldOp():
            return tuple(_written(op))
        case CallOp():
            return _argument(op, index)
        case _ if isinstance(op, VIEWS) and index == 0:
            return op.results
        case _:
            return None


def _is_arithmetic(op: Operation, index: int) -> bool:
    """Whether an op is defined for all integers that an operand may be."""
    if isinstance(op, MovementOp):
        return not isinstance(op, IndexedOp)
    return op.name in ARITHMETIC or (op.name in BY_CONSTANT and index == 0 and _allows_all(op))


def _allows_all(op: Operation) -> bool:
    """Whether the second operand is a constant that an op is defined with for all first ones."""
    made, type = op.operands[1].owner, op.operands[1].type
    if not isinstance(made, arith.ConstantOp) or not isinstance(made.value, IntegerAttr):
        return False
    number = made.value.value.data
    width = type.bitwidth if isinstance(type, IntegerType) else 64
    return 0 <= number < width if ".sh" in op.name else number not in (0, -1)


def _written(op: Operation) -> Iterator[SSAValue]:
    parent = op.parent_op()
    if isinstance(parent, LinalgStructuredOperation):
        yield from parent.results
        yield from (each for each in parent.outputs if isinstance(each.type, MemRefType))


def _argument(op: CallOp, index: int) -> Iterable[SSAValue] | None:
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(callee, FuncOp) or not callee.body.blocks:
        return None
    return (callee.body.blocks[0].args[index],)
