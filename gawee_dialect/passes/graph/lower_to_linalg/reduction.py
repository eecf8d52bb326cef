"""Positions of extremes to `linalg.generic`."""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import tensor
from xdsl.dialects.builtin import AnyFloat, TensorType, f32, f64, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ArgOp,
    CumSumOp,
)
from gawee_dialect.dialect.open_size import OpenSize, greatest, indices_of
from gawee_dialect.dialect.types import computed_type, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.combining import (
    MAXIMUM,
    MINIMUM,
    Combiner,
    combined,
    in_element_type,
    kept_axes,
    source_map,
)
from gawee_dialect.passes.graph.lower_to_linalg.conversions import converted, opened
from gawee_dialect.passes.graph.lower_to_linalg.gather import reduction_with_positions
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.graph.lower_to_linalg.structured import loop, reads
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, empty, filled
from gawee_dialect.passes.rewrite_pass import Pattern

EXTREMES: Mapping[type[ArgOp], Combiner] = {ArgMaxOp: MAXIMUM, ArgMinOp: MINIMUM}
"""What each search for a position looks for."""


class LowerArg(Pattern):
    """gawee.arg_max, ... -> linalg.generic for the extreme, another for where it is first

    The second takes the least position of an element that equals the extreme, or that is NaN.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ArgOp, rewriter: PatternRewriter) -> None:
        if type(op) not in EXTREMES:
            return self.missed(op, f"expected a combiner for '{op.name}', got none")
        rewriter.name_hint = op.result.name_hint
        axis = op.searched_axis
        extreme = combined(rewriter, op.input, [axis], EXTREMES[type(op)])
        result = first_position(rewriter, op.input, axis, extreme)
        rewriter.replace(op, (), [reshaped(rewriter, result, tensor_shape(op.result))])


def first_position(builder: Builder, source: SSAValue, axis: int, extreme: SSAValue) -> SSAValue:
    """Find the first element along an axis that is NaN or equals a value for the line."""
    shape = tensor_shape(source)
    rank, kept = len(shape), kept_axes(len(shape), [axis])
    type = TensorType(i32, [shape[each] for each in kept])
    init = filled(builder, constant(builder, shape[axis], i32), type)
    inputs = [
        (source, source_map(rank, [axis])),
        (extreme, reads(rank, *range(len(kept)))),
    ]

    def body(
        scalars: Scalars, values: Sequence[SSAValue], places: Sequence[SSAValue], least: SSAValue
    ) -> SSAValue:
        value, wanted = opened(scalars, values[0]), values[1]
        found = scalars.compare("eq", value, wanted)
        if isinstance(value.type, AnyFloat):
            found = scalars.either(found, scalars.is_nan(value))
        nowhere = scalars.constant(shape[axis], i32)
        return scalars.minimum(least, scalars.select(found, places[0], nowhere))

    loops = {rank - 1: shape[axis]}
    found = reduction_with_positions(builder, init, inputs, loops, body)
    return in_element_type(builder, found, i64)


# Running sums to loops that add one element after the other.
#
# f32 is added up in f64, so that a long line loses nothing. Along the last axis several lines are
# added up at a time: an addition waits for the one before it in its own line only.

ROWS = 4
"""Lines of the last axis that are added up at a time: more would share the lines of a cache."""


class LowerCumSum(Pattern):
    """gawee.cumsum -> scf.for over the axis { tensor.extract; arith.addf; tensor.insert }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CumSumOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        shape, axis = tensor_shape(op.input), op.resolved_axis
        if greatest(shape[axis]) <= 1 or 0 in shape:
            rewriter.replace(op, (), [op.input])
            return
        lines = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        source = reshaped(rewriter, op.input, lines)
        along = _along_rows if lines[-1] == 1 else _along_columns
        rewriter.replace(op, (), [reshaped(rewriter, along(rewriter, source), shape)])


def total_type(element: Attribute) -> Attribute:
    """Return the type that a running sum is kept in."""
    return f64 if element == f32 else computed_type(element)


def _along_rows(builder: Builder, source: SSAValue) -> SSAValue:
    """Add up (lines, elements, 1), some lines at a time."""
    lines = tensor_shape(source)[0]
    result = empty(builder, tensor_type(source))
    if isinstance(lines, OpenSize):
        return _rows(builder, source, result, (0, lines, 1))
    whole = lines // ROWS * ROWS
    if whole:
        result = _rows(builder, source, result, (0, whole, ROWS))
    if lines > whole:
        result = _rows(builder, source, result, (whole, lines, lines - whole))
    return result


def _rows(
    builder: Builder, source: SSAValue, result: SSAValue, lines: tuple[int, int, int]
) -> SSAValue:
    """Add up lines from a first one to an end, so many at a time; the loop carries their sums."""
    element, count = element_type(source), tensor_shape(source)[1]
    nothing = constant(builder, 0, total_type(element))

    def block(outer: Scalars, first: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
        own = [outer.add(first, outer.index(row)) for row in indices_of(lines[-1])]
        zero = outer.index(0)

        def step(inner: Scalars, at: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            written, *sums = carried
            for row, line in enumerate(own):
                term = converted(inner, inner.element(source, [line, at, zero]), nothing.type)
                sums[row] = inner.add(sums[row], term)
                value = converted(inner, sums[row], element)
                written = inner.emit(tensor.InsertOp(value, written, [line, at, zero]))
            return [written, *sums]

        init = [*carried, *[nothing] * len(own)]
        return [loop(outer.builder, (0, count, 1), init, step)[0]]

    return loop(builder, lines, [result], block)[0]


def _along_columns(builder: Builder, source: SSAValue) -> SSAValue:
    """Add up (lines, elements, columns): the sums of all columns are a tensor."""
    lines, count, columns = tensor_shape(source)
    element = element_type(source)
    total = total_type(element)
    nothing = constant(builder, 0, total)
    sums = filled(builder, nothing, TensorType(total, (columns,)))
    start = [empty(builder, tensor_type(source)), sums]

    def line(outer: Scalars, number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        def place(middle: Scalars, at: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            is_first = middle.same_index(at, middle.index(0))

            def column(
                inner: Scalars, column: SSAValue, carried: Sequence[SSAValue]
            ) -> list[SSAValue]:
                written, sums = carried
                position = [number, at, column]
                before = inner.select(is_first, nothing, inner.element(sums, [column]))
                term = converted(inner, inner.element(source, position), total)
                after = inner.add(before, term)
                value = converted(inner, after, element)
                return [
                    inner.emit(tensor.InsertOp(value, written, position)),
                    inner.emit(tensor.InsertOp(after, sums, [column])),
                ]

            return loop(middle.builder, (0, columns, 1), carried, column)

        return loop(outer.builder, (0, count, 1), carried, place)

    return loop(builder, (0, lines, 1), start, line)[0]
