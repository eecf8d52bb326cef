"""Between which numbers an index lies, as far as its arithmetic and the loops around it show."""

from collections.abc import Callable, Iterable, Sequence
from math import prod

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, IntegerType, MemRefType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    FlattenOp,
    IdentityOp,
    ReshapeOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.reduction import ArgOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.open_size import greatest, least
from gawee_dialect.dialect.types import element_type, integer_range, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.upstream.tensor import kept_axes

Bound = int | None
"""A number, or nothing where none is known."""

Bounds = tuple[Bound, Bound]
"""The least and the greatest that an index can be."""

UNKNOWN: Bounds = (None, None)

SIGNED, UNSIGNED, LESS = (2, 3, 4, 5), (6, 7, 8, 9), (2, 3, 6, 7)
"""Predicates of `arith.cmpi`: slt, sle, sgt, sge; ult, ule, ugt, uge; those that are less."""


def constant_index(value: SSAValue) -> int | None:
    """Return the number that an index is; None where it is computed."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def index_bounds(value: SSAValue) -> Bounds:
    """Return the least and the greatest that an index can be."""
    op = value.owner
    if isinstance(op, Block):
        return _counter(value)
    known = constant_index(value)
    if known is not None:
        return known, known
    match op:
        case arith.MinSIOp() | arith.MinUIOp():
            return _least(_operands(op))
        case arith.MaxSIOp():
            return _greatest(_operands(op))
        case arith.SelectOp():
            return _select(op)
        case arith.IndexCastOp():
            return index_bounds(op.input)
        case arith.AddiOp() | arith.SubiOp() | arith.MuliOp():
            return _arithmetic(op)
        case arith.FloorDivSIOp() | arith.CeilDivSIOp() | arith.DivSIOp() | arith.DivUIOp():
            return _quotient(op)
        case arith.RemUIOp() | arith.RemSIOp():
            return _remainder(op)
        case _:
            return UNKNOWN


def upper_bound(value: SSAValue | int) -> int | None:
    """Return the greatest that an index can be; None where that is not known."""
    return value if isinstance(value, int) else index_bounds(value)[1]


def _operands(op: Operation) -> list[Bounds]:
    """Return the bounds of both operands; an unsigned op has no negative numbers."""
    found = [index_bounds(value) for value in op.operands]
    if not isinstance(op, arith.MinUIOp):
        return found
    return [each if each[0] is not None and each[0] >= 0 else (0, None) for each in found]


def _counter(value: SSAValue) -> Bounds:
    """A loop counts from its lower bound on, and stays below its upper one."""
    loop = value.owner.parent_op()
    if not isinstance(value, BlockArgument):
        return UNKNOWN
    if isinstance(loop, scf.ParallelOp):
        first, end = loop.lowerBound[value.index], loop.upperBound[value.index]
    elif isinstance(loop, scf.ForOp) and value.index == 0:
        first, end = loop.lb, loop.ub
    else:
        return UNKNOWN
    (lower, _), (_, upper) = index_bounds(first), index_bounds(end)
    return lower, None if upper is None else upper - 1


def _least(bounds: Sequence[Bounds]) -> Bounds:
    return _all(min, [low for low, _ in bounds]), min(
        _known(high for _, high in bounds), default=None
    )


def _greatest(bounds: Sequence[Bounds]) -> Bounds:
    return max(_known(low for low, _ in bounds), default=None), _all(
        max, [high for _, high in bounds]
    )


def _known(bounds: Iterable[Bound]) -> list[int]:
    return [bound for bound in bounds if bound is not None]


def _all(combine: Callable[[Iterable[int]], int], bounds: Sequence[Bound]) -> Bound:
    return None if None in bounds else combine(_known(bounds))


def _select(op: arith.SelectOp) -> Bounds:
    """A choice by a comparison of the two values is their least or greatest; any is one of them."""
    values, test = (op.lhs, op.rhs), op.cond.owner
    bounds = [index_bounds(value) for value in values]
    if isinstance(test, arith.CmpiOp) and {test.lhs, test.rhs} == set(values):
        predicate = test.predicate.value.data
        positive = all(low is not None and low >= 0 for low, _ in bounds)
        if predicate in SIGNED or (predicate in UNSIGNED and positive):
            takes_less = (predicate in LESS) == (test.lhs is op.lhs)
            return _least(bounds) if takes_less else _greatest(bounds)
    return _all(min, [low for low, _ in bounds]), _all(max, [high for _, high in bounds])


def _arithmetic(op: arith.AddiOp | arith.SubiOp | arith.MuliOp) -> Bounds:
    (a, b), (c, d) = index_bounds(op.lhs), index_bounds(op.rhs)
    if isinstance(op, arith.SubiOp):
        return _all(_difference, [a, d]), _all(_difference, [b, c])
    if isinstance(op, arith.AddiOp):
        return _all(sum, [a, c]), _all(sum, [b, d])
    ends = [_all(prod, [one, other]) for one in (a, b) for other in (c, d)]
    return _all(min, ends), _all(max, ends)


def _difference(pair: Iterable[int]) -> int:
    lhs, rhs = pair
    return lhs - rhs


def _quotient(op: Operation) -> Bounds:
    (low, high), divisor = index_bounds(op.operands[0]), constant_index(op.operands[1])
    if low is None or low < 0 or divisor is None or divisor <= 0:
        return UNKNOWN
    up = divisor - 1 if isinstance(op, arith.CeilDivSIOp) else 0
    return (low + up) // divisor, None if high is None else (high + up) // divisor


def _remainder(op: Operation) -> Bounds:
    (low, high), divisor = index_bounds(op.operands[0]), constant_index(op.operands[1])
    if low is None or low < 0 or divisor is None or divisor <= 0:
        return UNKNOWN
    return 0, divisor - 1 if high is None else min(high, divisor - 1)


# Between which numbers the elements of an integer tensor lie, as far as the graph shows.

Range = tuple[int, int]

MOVES = (
    *(BroadcastToOp, FlattenOp, IdentityOp, ReshapeOp, ReverseOp, SliceOp, TileOp, TransposeOp),
)
"""Ops whose result has elements of their first operand alone."""


def known_range(value: SSAValue) -> Range | None:
    """Return the least and the greatest that an element can be; None where that is not known."""
    op = value.owner
    match op:
        case ConstantOp():
            elements = array_of(op.value)
            return (int(elements.min()), int(elements.max())) if elements.size else None
        case IotaOp():
            return 0, tensor_shape(value)[op.axis.value.data] - 1
        case ArgOp():
            return 0, tensor_shape(op.input)[op.searched_axis] - 1
        case SortOp() | TopKOp() if value is op.results[1]:
            return 0, tensor_shape(op.input)[op.ordered_axis()] - 1
        case CastOp():
            return _cast(op)
        case _:
            return known_range(op.operands[0]) if isinstance(op, MOVES) else None


def column_ranges(value: SSAValue, columns: int) -> Sequence[Range | None]:
    """Return the range of each column: of the elements at one place of the last axis."""
    op, last = value.owner, len(tensor_shape(value)) - 1
    if isinstance(op, CatOp) and op.dim.value.data % (last + 1) == last and columns > 1:
        parts = [(each, tensor_shape(each)[last]) for each in op.inputs]
        return [found for each, size in parts for found in column_ranges(each, size)]
    return [known_range(value)] * columns


def _cast(op: CastOp) -> Range | None:
    source, target = element_type(op.input), element_type(op.result)
    if not (isa(source, IntegerType) and isa(target, IntegerType)):
        return None
    found = known_range(op.input) or ((0, 1) if source == i1 else integer_range(source))
    low, high = integer_range(target)
    return found if low <= least(found[0]) and greatest(found[1]) <= high else None


# How large a buffer is, where its type leaves it open: what made it says it in its operands.


Index = SSAValue | int
"""An index: a number, or a value that is computed."""


def mixed(static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[Index]:
    """Return static numbers, those that are dynamic taken from operands in order."""
    values = iter(dynamic)
    return [next(values) if number == DYNAMIC_INDEX else number for number in static]


def size_of(buffer: SSAValue, axis: int) -> Index | None:
    """Return the size of a buffer along an axis; None where nothing in the function says it."""
    assert isa(buffer.type, MemRefType[Attribute])
    size, view = buffer.type.get_shape()[axis], buffer.owner
    if size != DYNAMIC_INDEX:
        return size
    if isinstance(view, memref.CastOp):
        return size_of(view.source, axis)
    if isinstance(view, memref.AllocOp):
        return mixed(buffer.type.get_shape(), view.dynamic_sizes)[axis]
    if isinstance(view, memref.ViewOp):
        return mixed(buffer.type.get_shape(), view.sizes)[axis]
    if isinstance(view, memref.ReinterpretCastOp):
        return mixed(view.static_sizes.get_values(), view.sizes)[axis]
    if isinstance(view, memref.SubviewOp):
        static = view.static_sizes.get_values()
        source_axis = kept_axes(static, buffer.type.get_shape())[axis]
        return mixed(static, view.sizes)[source_axis]
    return None


def same_index(lhs: Index, rhs: Index) -> bool:
    """Whether two indices are surely one number: one value, or equal arithmetic on equal ones."""
    if lhs is rhs:
        return True
    numbers = [each if isinstance(each, int) else constant_index(each) for each in (lhs, rhs)]
    if numbers != [None, None]:
        return numbers[0] == numbers[1]
    if isinstance(lhs, int) or isinstance(rhs, int):
        return False
    return _same_op(lhs.owner, rhs.owner)


def _same_op(lhs: object, rhs: object) -> bool:
    if not isinstance(lhs, Operation) or not isinstance(rhs, Operation):
        return False
    alike = type(lhs) is type(rhs) and lhs.properties == rhs.properties
    scalar = lhs.dialect_name() == "arith"
    return alike and scalar and same_indices(lhs.operands, rhs.operands)


def same_indices(lhs: Sequence[Index], rhs: Sequence[Index]) -> bool:
    """Whether indices are surely equal, each to its counterpart."""
    return len(lhs) == len(rhs) and all(map(same_index, lhs, rhs))
