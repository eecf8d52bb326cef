"""The first few elements in order, one after the other: each is the extreme of those behind the
last one.

A round is two reductions over each row: the extreme value, and the least index of it. Elements
before the last one that was taken are passed over by comparing with it, so nothing is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import computed_type, element_type, tensor_shape, tensor_type
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.combining import in_element_type
from gawee_dialect.passes.graph.lower_to_linalg.conversions import opened
from gawee_dialect.passes.graph.lower_to_linalg.gather import reduction_with_positions
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.graph.lower_to_linalg.structured import Body, generic, loop, reads
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    constant,
    empty,
    filled,
    highest,
    inserted,
    lowest,
)


@dataclass(frozen=True)
class Taken:
    """The last element that was taken of each row: its value, and its index in i32."""

    values: SSAValue
    indices: SSAValue


@dataclass(frozen=True)
class Selection:
    """Rounds over the rows of a tensor (lines, elements, columns), along the elements."""

    builder: Builder
    source: SSAValue
    largest: bool

    def first(self, count: int) -> tuple[SSAValue, SSAValue]:
        """Return values and indices of the first elements in order, (lines, count, columns)."""
        lines, _, columns = tensor_shape(self.source)
        values = empty(self.builder, TensorType(element_type(self.source), (lines, count, columns)))
        indices = empty(self.builder, TensorType(i32, (lines, count, columns)))
        taken: Taken | None = None
        for place in indices_of(count):
            taken = self._round(taken)
            values = self._inserted(taken.values, values, place)
            indices = self._inserted(taken.indices, indices, place)
        return values, in_element_type(self.builder, indices, i64)

    def _round(self, last: Taken | None) -> Taken:
        indices = self._index(self._extreme(last), last)

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            index = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            return scalars.element(self.source, [scalars.position(0), index, scalars.position(1)])

        type = TensorType(element_type(self.source), tensor_shape(indices))
        return Taken(generic(self.builder, type, [(indices, reads(2, 0, 1))], body), indices)

    def _extreme(self, last: Taken | None) -> SSAValue:
        """Find the greatest or least element of each row behind the last one."""
        computed = computed_type(element_type(self.source))
        start = (lowest if self.largest else highest)(self.builder, computed)

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            value, total = opened(scalars, args[0]), args[-1]
            if last is not None:
                value = scalars.select(self._is_behind(scalars, args), value, start)
            if self.largest:
                return scalars.maximum(total, value)
            if isinstance(computed, AnyFloat):
                # NaN comes last: it is not the least while there is another.
                value = scalars.select(scalars.is_nan(value), start, value)
            return scalars.minimum(total, value)

        return self._reduced(start, last, [], body)

    def _index(self, extreme: SSAValue, last: Taken | None) -> SSAValue:
        """Find the least index of an extreme in each row behind the last one."""
        count = tensor_shape(self.source)[1]
        nowhere = constant(self.builder, 2 * count, i32)

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            value, position = opened(scalars, args[0]), args[1]
            wanted, total = args[-2:]
            found = scalars.compare("eq", value, wanted)
            is_float = isinstance(value.type, AnyFloat)
            if is_float and self.largest:
                found = scalars.either(found, scalars.is_nan(value))
            otherwise = scalars.constant(2 * count, i32)
            behind = None if last is None else self._is_behind(scalars, args)
            if is_float and not self.largest:
                # No number is left where none equals the least one: the first NaN is next.
                beyond = scalars.add(position, scalars.constant(count, i32))
                otherwise = beyond if behind is None else scalars.select(behind, beyond, otherwise)
            if behind is not None:
                found = scalars.both(found, behind)
            return scalars.emit(arith.MinSIOp(total, scalars.select(found, position, otherwise)))

        result = self._reduced(nowhere, last, [extreme], body)
        if self.largest or not isinstance(element_type(self.source), AnyFloat):
            return result

        def within(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            size = scalars.constant(count, i32)
            return scalars.select(
                scalars.less(args[0], size), args[0], scalars.subtract(args[0], size)
            )

        return generic(self.builder, tensor_type(result), [(result, reads(2, 0, 1))], within)

    def _reduced(
        self,
        start: SSAValue,
        last: Taken | None,
        beside: Sequence[SSAValue],
        body: Body,
    ) -> SSAValue:
        """Reduce each row; the body takes element, position, last value and index, and `beside`."""
        lines, count, columns = tensor_shape(self.source)
        init = filled(self.builder, start, TensorType(start.type, (lines, columns)))
        rows = [] if last is None else [last.values, last.indices]
        inputs = [(self.source, reads(3, 0, 2, 1))]
        inputs += [(each, reads(3, 0, 1)) for each in (*rows, *beside)]

        def placed(
            scalars: Scalars,
            values: Sequence[SSAValue],
            places: Sequence[SSAValue],
            total: SSAValue,
        ) -> SSAValue:
            value, *others = values
            return body(scalars, [value, *places, *others, total])

        return reduction_with_positions(self.builder, init, inputs, {2: count}, placed)

    def _is_behind(self, scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        """Whether an element comes behind the last one that was taken."""
        value, taken = opened(scalars, args[0]), opened(scalars, args[2])
        position, index = args[1], args[3]
        low, high = (value, taken) if self.largest else (taken, value)
        after, before = less(scalars, low, high), less(scalars, high, low)
        not_before = scalars.emit(arith.XOrIOp(before, scalars.constant(1, i1)))
        later = scalars.less(index, position)
        return scalars.either(after, scalars.both(not_before, later))

    def _inserted(self, value: SSAValue, whole: SSAValue, place: int) -> SSAValue:
        lines, columns = tensor_shape(value)
        sizes = (lines, 1, columns)
        row = reshaped(self.builder, value, sizes)
        return inserted(self.builder, row, whole, (0, place, 0))


def less(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Compare two elements; NaN is greater than every other."""
    if not isinstance(lhs.type, AnyFloat):
        return scalars.less(lhs, rhs)
    not_greater = scalars.emit(arith.CmpfOp(lhs, rhs, "ult"))
    ordered = scalars.emit(arith.CmpfOp(lhs, lhs, "ord"))
    return scalars.emit(arith.AndIOp(not_greater, ordered))


# The first few elements of long rows: those beyond the last of them, which is found bit by bit.
#
# Elements become integers of the same order. Of the last one wanted, a bit is set if enough
# elements are not below the integer with that bit: to count them is one pass over the row, on
# vectors. Two more passes collect what is beyond it, and as many of its equals as are missing.
# Only these are put in order then.

Pair = Sequence[SSAValue]
"""Values and indices."""

Place = tuple[SSAValue, SSAValue]
"""A line and a column."""

Finish = Callable[[Scalars, Place, SSAValue, Pair], Pair]
"""Writes what was found of a row, whose indices are given, into the results."""


@dataclass(frozen=True)
class RadixSelect:
    """The first elements in order of each row of a tensor (lines, elements, columns)."""

    builder: Builder
    source: SSAValue
    largest: bool
    wanted: int
    """How many elements of each row; fewer than there are."""

    def in_order(self) -> Pair:
        """Return values and indices (i64) in order, (lines, wanted, columns).

        Where an element belongs is counted, by comparing it with each other one.
        """

        def finish(scalars: Scalars, at: Place, found: SSAValue, results: Pair) -> Pair:
            return self._moved(scalars, at, found, results, self._places(scalars, at, found))

        return self._of_rows(finish)

    def collected(self) -> Pair:
        """Return values and indices (i64) of these elements, (lines, wanted, columns).

        Equal ones are in their order, others in any.
        """

        def finish(scalars: Scalars, at: Place, found: SSAValue, results: Pair) -> Pair:
            return self._moved(scalars, at, found, results, None)

        return self._of_rows(finish)

    def _of_rows(self, finish: Finish) -> Pair:
        lines, _, columns = tensor_shape(self.source)
        shape = (lines, self.wanted, columns)
        types = (element_type(self.source), i64)
        results = [empty(self.builder, TensorType(type, shape)) for type in types]

        def line(outer: Scalars, row: SSAValue, carried: Pair) -> Pair:
            def column(inner: Scalars, at: SSAValue, carried: Pair) -> Pair:
                keys = self._keys(inner, (row, at))
                found = self._found(inner, keys, self._last(inner, keys))
                return finish(inner, (row, at), found, carried)

            return loop(outer.builder, (0, columns, 1), carried, column)

        return loop(self.builder, (0, lines, 1), results, line)

    # One row.

    def _keys(self, scalars: Scalars, at: Place) -> SSAValue:
        """Make the integers of a row."""
        count = tensor_shape(self.source)[1]

        def step(inner: Scalars, index: SSAValue, carried: Sequence[SSAValue]) -> Pair:
            key = self._key(inner, self._value(inner, at, index))
            return [inner.emit(tensor.InsertOp(key, carried[0], [index]))]

        keys = self._fresh(scalars, self._key_type, count)
        return loop(scalars.builder, (0, count, 1), [keys], step)[0]

    def _last(self, scalars: Scalars, keys: SSAValue) -> SSAValue:
        """Find the last of the integers that are wanted: the greatest with enough not below."""
        type = self._key_type
        bits = type.width.data
        lowest = scalars.constant(-1 << (bits - 1), type)

        def set_bit(
            inner: Scalars, number: SSAValue, carried: Sequence[SSAValue]
        ) -> Sequence[SSAValue]:
            last, bit = carried
            # The sign's bit comes first, and is the other way round: the lowest has it alone.
            candidate = inner.different(last, bit)
            nothing = inner.constant(0, i32)

            def count(each: Scalars, index: SSAValue, counted: Sequence[SSAValue]) -> Pair:
                enough = each.compare("ge", each.element(keys, [index]), candidate)
                return [each.add(counted[0], each.emit(arith.ExtUIOp(enough, i32)))]

            (counted,) = loop(inner.builder, (0, tensor_shape(keys)[0], 1), [nothing], count)
            enough = inner.compare("ge", counted, inner.constant(self.wanted, i32))
            next_bit = inner.emit(arith.ShRUIOp(bit, inner.constant(1, type)))
            return [inner.select(enough, candidate, last), next_bit]

        return loop(scalars.builder, (0, bits, 1), [lowest, lowest], set_bit)[0]

    def _found(self, scalars: Scalars, keys: SSAValue, last: SSAValue) -> SSAValue:
        """Collect the indices (i32) of what is beyond the last integer, and then of its equals.

        An index is written in any case, and written over where it is not wanted: there is room for
        one more.
        """
        indices = self._fresh(scalars, i32, self.wanted + 1)
        room = scalars.index(self.wanted)

        def collect(predicate: str, init: Sequence[SSAValue]) -> Sequence[SSAValue]:
            def step(
                inner: Scalars, index: SSAValue, carried: Sequence[SSAValue]
            ) -> Sequence[SSAValue]:
                written, place = carried
                number = inner.emit(arith.IndexCastOp(index, i32))
                written = inner.emit(tensor.InsertOp(number, written, [place]))
                wanted = inner.compare(predicate, inner.element(keys, [index]), last)
                moved = inner.add(place, _number(inner, wanted))
                return [written, inner.minimum(moved, room)]

            return loop(scalars.builder, (0, tensor_shape(keys)[0], 1), init, step)

        return collect("eq", collect("gt", [indices, scalars.index(0)]))[0]

    def _places(self, scalars: Scalars, at: Place, found: SSAValue) -> SSAValue:
        """Count for each element that was found how many of them come before it."""

        def key(inner: Scalars, number: SSAValue, carried: Sequence[SSAValue]) -> Pair:
            keys, places = carried
            index = inner.emit(arith.IndexCastOp(inner.element(found, [number]), IndexType()))
            made = self._key(inner, self._value(inner, at, index))
            nothing = inner.constant(0, i32)
            return [
                inner.emit(tensor.InsertOp(made, keys, [number])),
                inner.emit(tensor.InsertOp(nothing, places, [number])),
            ]

        types = (self._key_type, i32)
        init = [self._fresh(scalars, type, self.wanted) for type in types]
        keys, places = loop(scalars.builder, (0, self.wanted, 1), init, key)

        def rival(inner: Scalars, other: SSAValue, carried: Sequence[SSAValue]) -> Pair:
            rivals = inner.element(keys, [other])

            def count(each: Scalars, own: SSAValue, carried: Sequence[SSAValue]) -> Pair:
                key = each.element(keys, [own])
                equal = each.compare("eq", rivals, key)
                earlier = each.both(equal, each.less(other, own))
                before = each.either(each.compare("gt", rivals, key), earlier)
                counted = each.element(carried[0], [own])
                counted = each.add(counted, each.emit(arith.ExtUIOp(before, i32)))
                return [each.emit(tensor.InsertOp(counted, carried[0], [own]))]

            return loop(inner.builder, (0, self.wanted, 1), carried, count)

        return loop(scalars.builder, (0, self.wanted, 1), [places], rival)[0]

    def _moved(
        self, scalars: Scalars, at: Place, found: SSAValue, results: Pair, places: SSAValue | None
    ) -> Pair:
        """Put what was found of a row into the results, at some places or one after the other."""
        line, column = at

        def step(inner: Scalars, number: SSAValue, carried: Pair) -> Pair:
            index = inner.element(found, [number])
            value = self._value(inner, at, inner.emit(arith.IndexCastOp(index, IndexType())))
            place = number
            if places is not None:
                place = inner.emit(arith.IndexCastOp(inner.element(places, [number]), IndexType()))
            pair = value, inner.emit(arith.ExtSIOp(index, i64))
            return [
                inner.emit(tensor.InsertOp(part, whole, [line, place, column]))
                for part, whole in zip(pair, carried, strict=True)
            ]

        return loop(scalars.builder, (0, self.wanted, 1), results, step)

    # One element.

    @property
    def _key_type(self) -> IntegerType:
        computed = computed_type(element_type(self.source))
        if isinstance(computed, AnyFloat):
            return IntegerType(computed.bitwidth)
        assert isa(computed, IntegerType)
        return computed

    def _value(self, scalars: Scalars, at: Place, index: SSAValue) -> SSAValue:
        return scalars.element(self.source, [at[0], index, at[1]])

    def _key(self, scalars: Scalars, value: SSAValue) -> SSAValue:
        """Make the integer that is greater for what comes earlier: NaN is the greatest number."""
        value, type = opened(scalars, value), self._key_type
        key = value
        if isinstance(value.type, AnyFloat):
            bits = type.width.data
            most = scalars.constant((1 << (bits - 1)) - 1, type)
            own = scalars.emit(arith.BitcastOp(value, type))
            sign = scalars.emit(arith.ShRSIOp(own, scalars.constant(bits - 1, type)))
            key = scalars.different(own, scalars.both(sign, most))
            is_zero = scalars.equal(value, scalars.constant(0, value.type))
            key = scalars.select(is_zero, scalars.constant(0, type), key)
            key = scalars.select(scalars.is_nan(value), most, key)
        return key if self.largest else scalars.different(key, scalars.constant(-1, type))

    def _fresh(self, scalars: Scalars, type: IntegerType, count: int) -> SSAValue:
        return empty(scalars.builder, TensorType(type, (count,)))


def _number(scalars: Scalars, truth: SSAValue) -> SSAValue:
    """Return the index 1 for what is true, and 0 for what is not."""
    return scalars.emit(arith.IndexCastOp(scalars.emit(arith.ExtUIOp(truth, i64)), IndexType()))
