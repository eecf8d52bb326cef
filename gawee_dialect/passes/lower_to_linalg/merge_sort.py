"""Sorting by merging: pairs of sorted runs become one, until there is one.

Two runs of one length are merged from both ends at a time: neither end can run out, and the two
don't wait for each other. What moves an end is added, so that no branch is to be predicted. Of runs
longer than what is wanted of a row, only so much is merged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.passes.lower_to_linalg.conversions import opened
from gawee_dialect.passes.lower_to_linalg.loops import loop
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.selection import less
from gawee_dialect.passes.lower_to_linalg.tensors import empty

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
