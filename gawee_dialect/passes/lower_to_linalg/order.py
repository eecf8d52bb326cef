"""Sorting by counting: an element's place is the number of elements that come before it.

Every element is compared with every other of its row: n * n comparisons, all independent, which is
fine for the rows of routers, beams and labels, and slow for rows of many thousands.
"""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, TensorType, i1, i64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.lower_to_linalg.tensors import constant, filled
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerOrder(Pattern):
    """gawee.sort, gawee.top_k -> linalg.generic that counts what comes before each element,
    one that finds the element of each place, one that reads it"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SortOp | TopKOp, rewriter: PatternRewriter) -> None:
        descending = op.descending if isinstance(op, SortOp) else op.largest
        axis = op.ordered_axis()
        places = _places(rewriter, op.input, axis, bool(descending.value.data))
        rewriter.name_hint = op.indices.name_hint
        indices = _indices(rewriter, places, axis, tensor_shape(op.indices))
        rewriter.name_hint = op.values.name_hint
        rank = len(tensor_shape(op.input))

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            positions = [scalars.position(loop) for loop in range(rank)]
            positions[axis] = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            return scalars.element(op.input, positions)

        read = [(indices, reads(rank, *range(rank)))]
        values = generic(rewriter, tensor_type(op.values), read, body)
        rewriter.replace(op, (), [values, indices])


def _places(builder: Builder, input: SSAValue, axis: int, descending: bool) -> SSAValue:
    """Count, for each element, the elements of its row that come before it; the last loop walks
    the row."""
    rank = len(tensor_shape(input))
    zeros = filled(builder, constant(builder, 0, i64), TensorType(i64, tensor_shape(input)))
    own = reads(rank + 1, *range(rank))
    other = reads(rank + 1, *(rank if loop == axis else loop for loop in range(rank)))

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        element, rival, count = args
        low, high = (element, rival) if descending else (rival, element)
        wins, loses = _less(scalars, low, high), _less(scalars, high, low)
        not_loses = scalars.emit(arith.XOrIOp(loses, scalars.constant(1, i1)))
        earlier = scalars.less(scalars.position(rank), scalars.position(axis))
        before = scalars.select(earlier, not_loses, wins)
        return scalars.add(count, scalars.emit(arith.ExtUIOp(before, i64)))

    return reduction(builder, zeros, [(input, own), (input, other)], body, num_reduced=1)


def _indices(builder: Builder, places: SSAValue, axis: int, shape: Sequence[int]) -> SSAValue:
    """Find for each place the index of the element that belongs there, by a sum with one term."""
    rank = len(shape)
    zeros = filled(builder, constant(builder, 0, i64), TensorType(i64, shape))
    along = reads(rank + 1, *(rank if loop == axis else loop for loop in range(rank)))

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        place = scalars.emit(arith.IndexCastOp(scalars.position(axis), i64))
        index = scalars.emit(arith.IndexCastOp(scalars.position(rank), i64))
        here = scalars.emit(arith.CmpiOp(args[0], place, "eq"))
        return scalars.add(args[1], scalars.select(here, index, scalars.constant(0, i64)))

    return reduction(builder, zeros, [(places, along)], body, num_reduced=1)


def _less(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Compare two elements; NaN is greater than every other."""
    if not isinstance(lhs.type, AnyFloat):
        return scalars.less(lhs, rhs)
    not_greater = scalars.emit(arith.CmpfOp(lhs, rhs, "ult"))
    ordered = scalars.emit(arith.CmpfOp(lhs, lhs, "ord"))
    return scalars.emit(arith.AndIOp(not_greater, ordered))
