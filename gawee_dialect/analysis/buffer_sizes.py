"""How large a buffer is, where its type leaves it open: what made it says it in its operands."""

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.hints import isa
from gawee_dialect.upstream.tensor import kept_axes

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
