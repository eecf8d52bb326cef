"""Sorting of short rows by counting: an element's place is how many elements come before it.

Every element is compared with every other of its row: n * n comparisons, all independent. Long rows
are merged, the first few elements of a row are selected one after the other, and up to half of a
long row is found first, and put in order then.
"""

from collections.abc import Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, TensorType, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.combining import in_element_type
from gawee_dialect.passes.lower_to_linalg.conversions import opened
from gawee_dialect.passes.lower_to_linalg.merge_sort import MergeSort
from gawee_dialect.passes.lower_to_linalg.positions import reduction_with_positions
from gawee_dialect.passes.lower_to_linalg.radix_select import RadixSelect
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.selection import Selection, less
from gawee_dialect.passes.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.lower_to_linalg.tensors import constant, filled
from gawee_dialect.passes.rewrite_pass import Pattern

MOST_ROUNDS = 8
"""Elements that are selected one after the other."""

MOST_COUNTED = 64
"""Elements of a row whose places are counted; of more, it takes longer than to merge them."""


class LowerOrder(Pattern):
    """gawee.sort, gawee.top_k -> linalg.generic that counts what comes before each element,
    one that finds the element of each place, one that reads it

    The top few: for each a linalg.generic that finds the extreme, and one that finds where it is.
    Long rows: scf.for that merges runs of 1, 2, 4, ... elements. Up to half of a long row: scf.for
    that finds the bits of the last element wanted, and collects what comes before it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SortOp | TopKOp, rewriter: PatternRewriter) -> None:
        if isinstance(op, TopKOp) and 0 < op.k.value.data <= MOST_ROUNDS:
            return rewriter.replace(op, (), _selected(rewriter, op))
        axis, shape = op.ordered_axis(), tensor_shape(op.input)
        if shape[axis] > MOST_COUNTED and 0 not in tensor_shape(op.values):
            found = _found if 2 * tensor_shape(op.values)[axis] <= shape[axis] else _merged
            return rewriter.replace(op, (), found(rewriter, op))
        places = _places(rewriter, op.input, axis, _is_descending(op))
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
        rewriter.replace(op, (), [values, in_element_type(rewriter, indices, i64)])


def _selected(builder: Builder, op: TopKOp) -> Sequence[SSAValue]:
    """Select the first elements, in the order of their rows."""
    selection = Selection(builder, _lines(builder, op), bool(op.largest.value.data))
    found = selection.first(op.k.value.data)
    return [reshaped(builder, each, tensor_shape(op.values)) for each in found]


def _merged(builder: Builder, op: SortOp | TopKOp) -> Sequence[SSAValue]:
    """Merge the elements of each row."""
    wanted = tensor_shape(op.values)[op.ordered_axis()]
    found = MergeSort(builder, _lines(builder, op), _is_descending(op), wanted).build()
    return [reshaped(builder, each, tensor_shape(op.values)) for each in found]


def _found(builder: Builder, op: SortOp | TopKOp) -> Sequence[SSAValue]:
    """Find the first elements of each row, and put them in order."""
    wanted, descending = tensor_shape(op.values)[op.ordered_axis()], _is_descending(op)
    select = RadixSelect(builder, _lines(builder, op), descending, wanted)
    if wanted <= MOST_COUNTED:
        found = select.in_order()
    else:
        values, indices = select.collected()
        values, places = MergeSort(builder, values, descending, wanted).build()

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            place = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            return scalars.element(indices, [scalars.position(0), place, scalars.position(2)])

        found = [
            values,
            generic(builder, tensor_type(indices), [(places, reads(3, 0, 1, 2))], body),
        ]
    return [reshaped(builder, each, tensor_shape(op.values)) for each in found]


def _lines(builder: Builder, op: SortOp | TopKOp) -> SSAValue:
    """View the input as (lines, elements, columns)."""
    shape, axis = tensor_shape(op.input), op.ordered_axis()
    sizes = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    return reshaped(builder, op.input, sizes)


def _is_descending(op: SortOp | TopKOp) -> bool:
    descending = op.descending if isinstance(op, SortOp) else op.largest
    return bool(descending.value.data)


def _places(builder: Builder, input: SSAValue, axis: int, descending: bool) -> SSAValue:
    """Count, for each element, the elements of its row that come before it; the last loop walks
    the row."""
    shape = tensor_shape(input)
    rank = len(shape)
    zeros = filled(builder, constant(builder, 0, i32), TensorType(i32, shape))
    own = reads(rank + 1, *range(rank))
    other = reads(rank + 1, *(rank if loop == axis else loop for loop in range(rank)))

    def body(
        scalars: Scalars, values: Sequence[SSAValue], places: Sequence[SSAValue], count: SSAValue
    ) -> SSAValue:
        element, rival = (opened(scalars, value) for value in values)
        low, high = (element, rival) if descending else (rival, element)
        wins, loses = less(scalars, low, high), less(scalars, high, low)
        not_loses = scalars.emit(arith.XOrIOp(loses, scalars.constant(1, i1)))
        place, rivals_place = places
        before = scalars.select(scalars.less(rivals_place, place), not_loses, wins)
        return scalars.add(count, scalars.emit(arith.ExtUIOp(before, i32)))

    loops = {axis: shape[axis], rank: shape[axis]}
    inputs = [(input, own), (input, other)]
    return reduction_with_positions(builder, zeros, inputs, loops, body, num_reduced=1)


def _indices(builder: Builder, places: SSAValue, axis: int, shape: Sequence[int]) -> SSAValue:
    """Find for each place the index of the element that belongs there, by a sum with one term."""
    rank = len(shape)
    zeros = filled(builder, constant(builder, 0, i32), TensorType(i32, shape))
    along = reads(rank + 1, *(rank if loop == axis else loop for loop in range(rank)))

    def body(
        scalars: Scalars, values: Sequence[SSAValue], counters: Sequence[SSAValue], total: SSAValue
    ) -> SSAValue:
        place, index = counters
        here = scalars.emit(arith.CmpiOp(values[0], place, "eq"))
        return scalars.add(total, scalars.select(here, index, scalars.constant(0, i32)))

    loops = {axis: shape[axis], rank: tensor_shape(places)[axis]}
    return reduction_with_positions(builder, zeros, [(places, along)], loops, body, num_reduced=1)
