"""Sorting of short rows by counting: an element's place is how many elements come before it.

Every element is compared with every other of its row: n * n comparisons, all independent. Long rows
are merged, the first few elements of a row are selected one after the other, and up to half of a
long row is found first, and put in order then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, TensorType, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.combining import in_element_type
from gawee_dialect.passes.graph.lower_to_linalg.conversions import opened
from gawee_dialect.passes.graph.lower_to_linalg.gather import reduction_with_positions
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.selection import RadixSelect, Selection, less
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, loop, reads
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, empty, filled
from gawee_dialect.passes.rewrite_pass import Pattern

# Sorting by merging: pairs of sorted runs become one, until there is one.
#
# Two runs of one length are merged from both ends at a time: neither end can run out, and the two
# don't wait for each other. What moves an end is added, so that no branch is to be predicted. Of
# runs longer than what is wanted of a row, only so much is merged.

Pair = Sequence[SSAValue]
"""Values and indices: tensors, or an element of each."""

Read = Callable[[Scalars, SSAValue], SSAValue]
"""Returns what is at a place of a row."""

Write = Callable[[Scalars, Pair, SSAValue, Pair], Pair]
"""Puts an element at a place of a row; returns the next versions of the tensors."""


@dataclass(frozen=True)
class Runs:
    """A row that is sorted in runs: how its values, and the indices they came from, are read."""

    value: Read
    index: Read


@dataclass(frozen=True)
class MergeSort:
    """The first elements in order of each row of a tensor (lines, elements, columns)."""

    builder: Builder
    source: SSAValue
    descending: bool
    wanted: int
    """How many elements of each row."""

    def build(self) -> Pair:
        """Return values and indices (i64), (lines, wanted, columns)."""
        lines, _, columns = tensor_shape(self.source)
        shape = (lines, self.wanted, columns)
        element = element_type(self.source)
        results = [empty(self.builder, TensorType(type, shape)) for type in (element, i64)]

        def line(outer: Scalars, row: SSAValue, carried: Pair) -> Pair:
            def column(inner: Scalars, at: SSAValue, carried: Pair) -> Pair:
                return self._row(inner, row, at, carried)

            return loop(outer.builder, (0, columns, 1), carried, column)

        return loop(self.builder, (0, lines, 1), results, line)

    def _row(self, scalars: Scalars, line: SSAValue, column: SSAValue, results: Pair) -> Pair:
        """Merge the elements of one row, and put the first ones into the results."""
        count = tensor_shape(self.source)[1]

        def value(inner: Scalars, place: SSAValue) -> SSAValue:
            return inner.element(self.source, [line, place, column])

        def index(inner: Scalars, place: SSAValue) -> SSAValue:
            return inner.emit(arith.IndexCastOp(place, i32))

        def result(inner: Scalars, into: Pair, place: SSAValue, pair: Pair) -> Pair:
            wide = inner.emit(arith.ExtSIOp(pair[1], i64))
            return _inserted(inner, into, [line, place, column], [pair[0], wide])

        runs, length = Runs(value, index), 1
        made: list[Pair] = []
        while 2 * length < count:
            # The runs before the last ones are done with: these take their place.
            into = made[-2] if len(made) > 1 else self._fresh(scalars, count)
            made.append(self._merged(scalars, runs, length, into, _put))
            runs = _runs_of(made[-1])
            length *= 2
        if self.wanted < count:
            return self._rest(scalars, runs, 0, length, results, result)
        return self._merged(scalars, runs, length, results, result)

    def _fresh(self, scalars: Scalars, count: int) -> Pair:
        types = (element_type(self.source), i32)
        return [empty(scalars.builder, TensorType(type, (count,))) for type in types]

    def _merged(self, scalars: Scalars, runs: Runs, length: int, into: Pair, write: Write) -> Pair:
        """Merge runs of a length two by two; the last ones may be shorter."""
        count = tensor_shape(self.source)[1]
        whole = count // (2 * length) * 2 * length
        if whole:

            def pair(inner: Scalars, first: SSAValue, carried: Pair) -> Pair:
                if length >= self.wanted:
                    return self._from_front(inner, runs, first, length, carried, write)
                return self._from_both(inner, runs, first, length, carried, write)

            into = loop(scalars.builder, (0, whole, 2 * length), into, pair)
        if whole < count:
            into = self._rest(scalars, runs, whole, length, into, write)
        return into

    def _from_both(
        self,
        scalars: Scalars,
        runs: Runs,
        first: SSAValue,
        length: int,
        into: Pair,
        write: Write,
    ) -> Pair:
        """Merge two runs of one length: its least and its greatest element in each step."""
        second = scalars.add(first, scalars.index(length))
        ends = [scalars.add(first, scalars.index(2 * length - 1))]
        ends.insert(0, scalars.subtract(second, scalars.index(1)))

        def step(inner: Scalars, at: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            values, indices, *heads = carried
            left, right, left_end, right_end = heads
            front, moved = self._next(inner, runs, (left, right))
            target = write(inner, (values, indices), inner.add(first, at), front)
            back, from_left = self._last(inner, runs, (left_end, right_end))
            target = write(inner, target, inner.subtract(ends[1], at), back)
            one = inner.index(1)
            return [
                *target,
                inner.add(left, inner.subtract(one, moved)),
                inner.add(right, moved),
                inner.subtract(left_end, from_left),
                inner.subtract(right_end, inner.subtract(one, from_left)),
            ]

        init = [*into, first, second, *ends]
        return loop(scalars.builder, (0, length, 1), init, step)[:2]

    def _from_front(
        self,
        scalars: Scalars,
        runs: Runs,
        first: SSAValue,
        length: int,
        into: Pair,
        write: Write,
    ) -> Pair:
        """Merge the first elements of two runs that are at least as long as what is wanted."""
        second = scalars.add(first, scalars.index(length))

        def step(inner: Scalars, at: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            values, indices, left, right = carried
            front, moved = self._next(inner, runs, (left, right))
            target = write(inner, (values, indices), inner.add(first, at), front)
            stays = inner.subtract(inner.index(1), moved)
            return [*target, inner.add(left, stays), inner.add(right, moved)]

        return loop(scalars.builder, (0, self.wanted, 1), [*into, first, second], step)[:2]

    def _rest(
        self, scalars: Scalars, runs: Runs, start: int, length: int, into: Pair, write: Write
    ) -> Pair:
        """Merge the run from `start` on with the last one, or with none: either may run out."""
        count = tensor_shape(self.source)[1]
        first, middle, end = (scalars.index(each) for each in (start, start + length, count))
        last_left, last = (scalars.index(min(each, count) - 1) for each in (start + length, count))

        def step(inner: Scalars, at: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            values, indices, left, right = carried
            places = inner.minimum(left, last_left), inner.minimum(right, last)
            there = inner.less(left, middle), inner.less(right, end)
            (value, index), moved = self._next(inner, runs, places, there)
            target = write(inner, (values, indices), inner.add(first, at), (value, index))
            stays = inner.subtract(inner.index(1), moved)
            return [*target, inner.add(left, stays), inner.add(right, moved)]

        taken = min(count - start, self.wanted)
        return loop(scalars.builder, (0, taken, 1), [*into, first, middle], step)[:2]

    # One element.

    def _next(
        self,
        scalars: Scalars,
        runs: Runs,
        places: Sequence[SSAValue],
        there: Sequence[SSAValue] | None = None,
    ) -> tuple[Pair, SSAValue]:
        """Return the first of two elements, and 1 where it is the second run's, else 0.

        `there` says whether either run has one.
        """
        left, right = (runs.value(scalars, place) for place in places)
        from_right = self._is_before(scalars, right, left)
        if there is not None:
            alone = scalars.different(there[0], scalars.constant(1, i1))
            from_right = scalars.both(there[1], scalars.either(alone, from_right))
        value = scalars.select(from_right, right, left)
        place = scalars.select(from_right, places[1], places[0])
        return (value, runs.index(scalars, place)), _number(scalars, from_right)

    def _last(
        self, scalars: Scalars, runs: Runs, places: Sequence[SSAValue]
    ) -> tuple[Pair, SSAValue]:
        """Return the last of two elements, and 1 where it is the first run's, else 0."""
        left, right = (runs.value(scalars, place) for place in places)
        from_left = self._is_before(scalars, right, left)
        value = scalars.select(from_left, left, right)
        place = scalars.select(from_left, places[0], places[1])
        return (value, runs.index(scalars, place)), _number(scalars, from_left)

    def _is_before(self, scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        lhs, rhs = opened(scalars, lhs), opened(scalars, rhs)
        return less(scalars, rhs, lhs) if self.descending else less(scalars, lhs, rhs)


def _runs_of(pair: Pair) -> Runs:
    values, indices = pair
    return Runs(
        lambda scalars, place: scalars.element(values, [place]),
        lambda scalars, place: scalars.element(indices, [place]),
    )


def _put(scalars: Scalars, into: Pair, place: SSAValue, pair: Pair) -> Pair:
    return _inserted(scalars, into, [place], pair)


def _inserted(scalars: Scalars, into: Pair, places: Sequence[SSAValue], pair: Pair) -> Pair:
    return [
        scalars.emit(tensor.InsertOp(value, whole, places))
        for value, whole in zip(pair, into, strict=True)
    ]


def _number(scalars: Scalars, truth: SSAValue) -> SSAValue:
    """Return the index 1 for what is true, and 0 for what is not."""
    return scalars.emit(arith.IndexCastOp(scalars.emit(arith.ExtUIOp(truth, i64)), IndexType()))


MOST_ROUNDS = 8
"""Elements that are selected one after the other."""

MOST_COUNTED = 64
"""Elements of a row whose places are counted; of more, it takes longer than to merge them."""


class LowerOrder(Pattern):
    """gawee.sort, gawee.top_k -> linalg.generic that counts what comes before each element,
    one that finds the element of each place, one that reads it

    The top few: for each a linalg.generic that finds the extreme, and one that finds where it is.
    Long rows: scf.for that merges runs of 1, 2, 4, ... elements. Up to half of a long row: scf.for
    that finds the bits of the last element wanted, and collects what comes before it. Rows of an
    open length are counted.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SortOp | TopKOp, rewriter: PatternRewriter) -> None:
        axis, shape = op.ordered_axis(), tensor_shape(op.input)
        is_open = isinstance(shape[axis], OpenSize)
        if isinstance(op, TopKOp) and 0 < op.k.value.data <= MOST_ROUNDS and not is_open:
            return rewriter.replace(op, (), _selected(rewriter, op))
        if not is_open and shape[axis] > MOST_COUNTED and 0 not in tensor_shape(op.values):
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
    return reduction_with_positions(builder, zeros, inputs, loops, body)


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
    return reduction_with_positions(builder, zeros, [(places, along)], loops, body)
