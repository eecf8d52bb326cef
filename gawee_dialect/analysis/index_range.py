"""Between which numbers the elements of an integer tensor lie, as far as the graph tells."""

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import SSAValue

from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.cast import CastOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.position import IotaOp
from gawee_dialect.dialect.reduction import ArgOp
from gawee_dialect.dialect.shape import FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.slicing import SliceOp
from gawee_dialect.dialect.types import element_type, integer_range, tensor_shape
from gawee_dialect.hints import isa

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


def _cast(op: CastOp) -> Range | None:
    source, target = element_type(op.input), element_type(op.result)
    if not (isa(source, IntegerType) and isa(target, IntegerType)):
        return None
    found = known_range(op.input) or ((0, 1) if source == i1 else integer_range(source))
    low, high = integer_range(target)
    return found if low <= found[0] and found[1] <= high else None
