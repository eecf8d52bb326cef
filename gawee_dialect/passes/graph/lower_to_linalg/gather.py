"""Gathers to `linalg.generic` with `tensor.extract` at the positions that indices name.

Nothing here checks the indices: the interpreter refuses a wrong one at every level, and for native
code `check-indices` has clamped them before.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntElementsAttr, IndexType, IntegerType, TensorType, i32, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.indexing import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.open_size import indices_of, is_open
from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    is_unsigned,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.conversions import converted
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import broadcast, constant, filled
from gawee_dialect.passes.rewrite_pass import Pattern

# Reading tensors at computed positions, and the indices that users give.


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
) -> SSAValue:
    """Combine along the last loop, by a body that uses the counters of some loops, as i32.

    `loops` are these loops and how long they are. Counters are read from a constant, since a kernel
    has none of its own, where that is neither open nor too long to be written down.
    """
    rank = len(tensor_shape(init)) + 1
    lengths = tuple(loops.values())
    written = not is_open(lengths) and max(lengths) <= MOST_POSITIONS
    given = {size: _positions(builder, size) for size in lengths} if written else {}
    counters = [(given[size], reads(rank, loop)) for loop, size in loops.items()] if given else []

    def placed(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        values, places = args[: len(inputs)], args[len(inputs) : -1]
        if not given:
            places = [
                scalars.emit(arith.IndexCastOp(scalars.position(loop), i32)) for loop in loops
            ]
        return body(scalars, values, places, args[-1])

    return reduction(builder, init, [*inputs, *counters], placed, num_reduced=1)


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


class LowerGather(Pattern):
    """gawee.gather -> linalg.generic over indices with tensor.extract

    Indices that are read again for each line become positions before, by a linalg.generic.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GatherOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, type = tensor_shape(op.input), tensor_type(op.result)
        axis, loops = op.axis.value.data % len(shape), type.get_num_dims()
        named = range(axis, axis + len(tensor_shape(op.indices)))
        indices, read_again = op.indices, axis > 0 and named.stop == loops
        if read_again:
            indices = positions_from_start(rewriter, indices, shape[axis])

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            outer = [scalars.position(loop) for loop in range(axis)]
            inner = [scalars.position(loop) for loop in range(named.stop, loops)]
            if read_again:
                index = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            else:
                index = from_start(scalars, args[0], shape[axis])
            return scalars.element(op.input, [*outer, index, *inner])

        inputs = [(indices, reads(loops, *named))]
        rewriter.replace(op, (), [generic(rewriter, type, inputs, body)])


class LowerGatherElements(Pattern):
    """gawee.gather_elements -> linalg.generic over positions with tensor.extract"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GatherElementsOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, type = tensor_shape(op.input), tensor_type(op.result)
        axis = op.axis.value.data % len(shape)

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            place = [scalars.position(loop) for loop in range(len(shape))]
            place[axis] = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            return scalars.element(op.input, place)

        positions = positions_from_start(rewriter, op.indices, shape[axis])
        inputs = [(positions, reads(len(shape), *range(len(shape))))]
        rewriter.replace(op, (), [generic(rewriter, type, inputs, body)])


class LowerGatherNd(Pattern):
    """gawee.gather_nd -> linalg.generic with tensor.extract of each index, then of the element"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GatherNdOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, type = tensor_shape(op.input), tensor_type(op.result)
        *rows, named = tensor_shape(op.indices)
        batch = op.batch_dims.value.data

        def positions(scalars: Scalars) -> Sequence[SSAValue]:
            row = [scalars.position(loop) for loop in range(len(rows))]
            found = [
                scalars.element(op.indices, [*row, scalars.index(part)])
                for part in indices_of(named)
            ]
            middle = [
                from_start(scalars, index, shape[batch + part]) for part, index in enumerate(found)
            ]
            inner = [scalars.position(loop) for loop in range(len(rows), type.get_num_dims())]
            return [*row[:batch], *middle, *inner]

        rewriter.replace(op, (), [picked(rewriter, type, op.input, positions)])
