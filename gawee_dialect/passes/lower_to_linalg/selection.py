"""The first few elements in order, one after the other: each is the extreme of those behind the
last one.

A round is two reductions over each row: the extreme value, and the least index of it. Elements
before the last one that was taken are passed over by comparing with it, so nothing is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AnyFloat, IndexType, TensorType, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.types import computed_type, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.combining import in_element_type
from gawee_dialect.passes.lower_to_linalg.conversions import opened
from gawee_dialect.passes.lower_to_linalg.positions import reduction_with_positions
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.lower_to_linalg.structured import Body, generic, reads
from gawee_dialect.passes.lower_to_linalg.tensors import (
    constant,
    empty,
    filled,
    highest,
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
        for place in range(count):
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

        return reduction_with_positions(
            self.builder, init, inputs, {2: count}, placed, num_reduced=1
        )

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
        insert = tensor.InsertSliceOp.from_static_parameters(row, whole, (0, place, 0), sizes)
        return self.builder.insert(insert).result


def less(scalars: Scalars, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Compare two elements; NaN is greater than every other."""
    if not isinstance(lhs.type, AnyFloat):
        return scalars.less(lhs, rhs)
    not_greater = scalars.emit(arith.CmpfOp(lhs, rhs, "ult"))
    ordered = scalars.emit(arith.CmpfOp(lhs, lhs, "ord"))
    return scalars.emit(arith.AndIOp(not_greater, ordered))
