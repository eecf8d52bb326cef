"""Reading tensors at computed positions, and the indices that users give."""

from collections.abc import Callable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntElementsAttr, IndexType, IntegerType, TensorType
from xdsl.ir import SSAValue

from gawee_dialect.dialect.types import AnyTensor, is_unsigned
from gawee_dialect.hints import isa
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic
from gawee_dialect.passes.lower_to_linalg.tensors import broadcast, constant, filled

Positions = Callable[[Scalars], Sequence[SSAValue]]
"""Computes, in the body of a structured op, where along each axis of a tensor to read."""


def picked(builder: Builder, type: AnyTensor, source: SSAValue, positions: Positions) -> SSAValue:
    """Make a tensor of the elements of another at computed positions."""

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return scalars.element(source, positions(scalars))

    return generic(builder, type, [], body)


def from_start(scalars: Scalars, index: SSAValue, size: int) -> SSAValue:
    """Convert an index that users give, negative from the end, to a position from the start."""
    position = scalars.emit(arith.IndexCastOp(index, IndexType()))
    negative = scalars.less(position, scalars.index(0))
    return scalars.select(negative, scalars.add(position, scalars.index(size)), position)


def repeated(builder: Builder, value: float, type: AnyTensor) -> SSAValue:
    """Make a tensor with one number everywhere, of any element type."""
    element = type.element_type
    if not is_unsigned(element):
        return filled(builder, constant(builder, value, element), type)
    # Upstream has no scalar constants of unsigned integers, but tensors of them.
    assert isa(element, IntegerType)
    dense = DenseIntElementsAttr.from_list(TensorType(element, ()), [int(value)])
    scalar = builder.insert(arith.ConstantOp(dense)).result
    return broadcast(builder, scalar, type, range(type.get_num_dims()))
