"""Reading tensors at computed positions, and the indices that users give."""

from collections.abc import Callable, Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntElementsAttr, IndexType, IntegerType, TensorType, i32, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import AnyTensor, element_type, is_unsigned, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.conversions import converted
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import broadcast, constant, filled

Positions = Callable[[Scalars], Sequence[SSAValue]]
"""Computes, in the body of a structured op, where along each axis of a tensor to read."""

PlacedBody = Callable[[Scalars, Sequence[SSAValue], Sequence[SSAValue], SSAValue], SSAValue]
"""Computes one element from those of the inputs, counters of loops, and the output so far."""

MOST_POSITIONS = 1 << 16
"""Of a loop whose counters are a constant."""


def picked(builder: Builder, type: AnyTensor, source: SSAValue, positions: Positions) -> SSAValue:
    """Make a tensor of the elements of another at computed positions."""

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return scalars.element(source, positions(scalars))

    return generic(builder, type, [], body)


def reduction_with_positions(
    builder: Builder,
    init: SSAValue,
    inputs: Sequence[tuple[SSAValue, AffineMap]],
    loops: Mapping[int, int],
    body: PlacedBody,
    *,
    num_reduced: int,
) -> SSAValue:
    """Combine into every element of `init`, by a body that uses the counters of some loops, as i32.

    `loops` are these loops and how long they are. Counters are read from a constant, since a kernel
    has none of its own, where that is not too long to be written down.
    """
    rank = len(tensor_shape(init)) + num_reduced
    written = max(loops.values()) <= MOST_POSITIONS
    given = {size: _positions(builder, size) for size in loops.values()} if written else {}
    counters = [(given[size], reads(rank, loop)) for loop, size in loops.items()] if given else []

    def placed(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        values, places = args[: len(inputs)], args[len(inputs) : -1]
        if not given:
            places = [
                scalars.emit(arith.IndexCastOp(scalars.position(loop), i32)) for loop in loops
            ]
        return body(scalars, values, places, args[-1])

    return reduction(builder, init, [*inputs, *counters], placed, num_reduced=num_reduced)


def _positions(builder: Builder, size: int) -> SSAValue:
    dense = DenseIntElementsAttr.from_list(TensorType(i32, (size,)), list(indices_of(size)))
    return builder.insert(arith.ConstantOp(dense)).result


def from_start(scalars: Scalars, index: SSAValue, size: int) -> SSAValue:
    """Convert an index that users give, negative from the end, to a position from the start."""
    position = scalars.emit(arith.IndexCastOp(index, IndexType()))
    negative = scalars.less(position, scalars.index(0))
    return scalars.select(negative, scalars.add(position, scalars.index(size)), position)


def positions_from_start(builder: Builder, indices: SSAValue, size: int) -> SSAValue:
    """Convert a tensor of indices that users give to positions along an axis, as i32 where it fits.

    So what they name is read or written with less to do, and `check-indices` costs no pass over
    them. Those out of range stay so.
    """
    type = i32 if size < (1 << 31) - 1 else i64
    own = element_type(indices)

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        index, wide = args[0], i64
        if own != i64:
            index, wide = converted(scalars, index, type), type
        negative = scalars.less(index, scalars.constant(0, wide))
        moved = scalars.add(index, scalars.constant(size, wide))
        position = scalars.select(negative, moved, index)
        if type != wide:
            position = scalars.maximum(position, scalars.constant(-1, wide))
            position = scalars.minimum(position, scalars.constant(size, wide))
        return converted(scalars, position, type)

    shape = tensor_shape(indices)
    read = [(indices, reads(len(shape), *range(len(shape))))]
    return generic(builder, TensorType(type, shape), read, body)


def repeated(builder: Builder, value: float, type: AnyTensor) -> SSAValue:
    """Make a tensor with one number everywhere, of any element type."""
    element = type.element_type
    if not is_unsigned(element):
        tensor = filled(builder, constant(builder, value, element), type)
        tensor.name_hint = builder.name_hint
        return tensor
    # Upstream has no scalar constants of unsigned integers, but tensors of them.
    assert isa(element, IntegerType)
    dense = DenseIntElementsAttr.from_list(TensorType(element, ()), [int(value)])
    scalar = builder.insert(arith.ConstantOp(dense)).result
    return broadcast(builder, scalar, type, range(type.get_num_dims()))
