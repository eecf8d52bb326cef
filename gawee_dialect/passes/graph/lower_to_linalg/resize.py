"""Resampling to `linalg.generic` that computes where it reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    Float64Type,
    IndexType,
    IntegerType,
    TensorType,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.grid_sample import GridSampleOp
from gawee_dialect.dialect.graph.resize import InterpolateOp, keeps_elements
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.graph.lower_to_linalg.tensors import padded, zero
from gawee_dialect.passes.rewrite_pass import Pattern

CUBIC = -0.75
"""The a of cubic convolution: the slope of its weights at a distance of one."""


@dataclass(frozen=True)
class Axis:
    """One axis to resample: its loop, sizes before and after, and the scale where one is given."""

    loop: int
    size: int
    result_size: int
    scale: float | None

    @property
    def ratio(self) -> float:
        """Input positions per output position."""
        return self.size / self.result_size if self.scale is None else 1 / self.scale


class Tap(NamedTuple):
    """An input position along one axis, and the weight of its element."""

    position: SSAValue
    weight: SSAValue


class LowerInterpolate(Pattern):
    """gawee.interpolate -> linalg.generic with tensor.extract at computed positions

    One that blends: a linalg.generic for each axis, the last one first.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: InterpolateOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        sizes, results = tensor_shape(op.input)[2:], op.size.get_values()
        scales = (None,) * len(sizes) if op.scales is None else op.scales.get_values()
        along = zip(sizes, results, scales, strict=True)
        axes = [Axis(loop, *axis) for loop, axis in enumerate(along, 2)]

        if op.mode.data not in InterpolateOp.CHOOSING:
            rewriter.replace(op, (), [_blended(rewriter, op, axes)])
            return

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            return _nearest(scalars, op, axes)

        rewriter.replace(op, (), [generic(rewriter, tensor_type(op.result), [], body)])


def _nearest(scalars: Scalars, op: InterpolateOp, axes: Sequence[Axis]) -> SSAValue:
    offset = 0.5 if op.mode.data == "nearest_exact" else 0.0
    choose = _nearest_position if op.float_positions is None else _float_nearest_position
    indices = [scalars.position(0), scalars.position(1)]
    indices += [choose(scalars, axis, offset) for axis in axes]
    return scalars.element(op.input, indices)


def _nearest_position(scalars: Scalars, axis: Axis, offset: float) -> SSAValue:
    """Compute floor((d + offset) * in / out) in integers, exactly, or / scale in f64."""
    position = scalars.position(axis.loop)
    if axis.scale is None:
        # Twice both sides, so that an offset of a half is an integer.
        steps, size = axis.result_size, scalars.index(axis.size)
        if offset:
            doubled = scalars.multiply(position, scalars.index(2))
            position = scalars.add(doubled, scalars.index(int(2 * offset)))
            steps *= 2
        return scalars.floor_divide(scalars.multiply(position, size), scalars.index(steps))
    real = scalars.index_to_float(position, f64)
    if offset:
        real = scalars.add(real, scalars.constant(offset, f64))
    real = scalars.divide(real, scalars.constant(axis.scale, f64))
    return scalars.minimum(scalars.float_to_index(real), scalars.index(axis.size - 1))


def _float_nearest_position(scalars: Scalars, axis: Axis, offset: float) -> SSAValue:
    """Compute floor((d + offset) * r), with r and the product rounded to f32."""
    if axis.scale is None:
        ratio = np.float32(axis.size) / np.float32(axis.result_size)
    else:
        ratio = np.float32(1 / axis.scale)
    real = scalars.index_to_float(scalars.position(axis.loop), f32)
    if offset:
        real = scalars.add(real, scalars.constant(offset, f32))
    real = scalars.multiply(real, scalars.constant(float(ratio), f32))
    return scalars.minimum(scalars.float_to_index(real), scalars.index(axis.size - 1))


def _blended(builder: Builder, op: InterpolateOp, axes: Sequence[Axis]) -> SSAValue:
    """Weigh neighbours, the last axis first; f16 in f32, as its positions would be too coarse."""
    element = element_type(op.input)
    work = f64 if isinstance(element, Float64Type) else f32
    value, shape = op.input, list(tensor_shape(op.input))
    moved = [each for each in axes if not keeps_elements(each.size, each.result_size, each.scale)]
    for nest in _nests(op, moved) if moved else ():
        for axis in nest:
            shape[axis.loop] = axis.result_size
        type = TensorType(element if moved[0] in nest else work, shape)
        value = _weighed(builder, op, value, type, nest, work)
    return value


def _nests(op: InterpolateOp, axes: Sequence[Axis]) -> Sequence[Sequence[Axis]]:
    """Blend along one axis after the other, unless that would blend elements without uses."""
    taps = 4 if op.mode.data == "bicubic" else 2
    if all(axis.size <= taps * axis.result_size for axis in axes[:-1]):
        return [[axis] for axis in reversed(axes)]
    return [axes]


def _weighed(
    builder: Builder,
    op: InterpolateOp,
    source: SSAValue,
    type: AnyTensor,
    axes: Sequence[Axis],
    work: AnyFloat,
) -> SSAValue:
    """Blend along some axes: sums of neighbours times weights, those of the last axis inside."""
    align_corners = op.align_corners is not None
    neighbours = _cubic_taps if op.mode.data == "bicubic" else _linear_taps

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        taps = [
            neighbours(scalars, axis, _real_position(scalars, axis, work, align_corners))
            for axis in axes
        ]
        place = [scalars.position(loop) for loop in range(type.get_num_dims())]

        def value(depth: int) -> SSAValue:
            if depth == len(axes):
                return scalars.widen(scalars.element(source, place), work)
            parts: list[SSAValue] = []
            for tap in taps[depth]:
                place[axes[depth].loop] = tap.position
                parts.append(scalars.multiply(tap.weight, value(depth + 1)))
            return reduce(scalars.add, parts)

        return scalars.narrow(value(0), type.element_type)

    return generic(builder, type, [], body)


def _real_position(scalars: Scalars, axis: Axis, work: AnyFloat, align_corners: bool) -> SSAValue:
    """Compute the input position that an output position stands for."""
    position = scalars.index_to_float(scalars.position(axis.loop), work)
    if align_corners:
        steps = max(1, axis.result_size - 1)
        return scalars.multiply(position, scalars.constant((axis.size - 1) / steps, work))
    half = scalars.constant(0.5, work)
    scaled = scalars.multiply(scalars.add(position, half), scalars.constant(axis.ratio, work))
    return scalars.subtract(scaled, half)


def _linear_taps(scalars: Scalars, axis: Axis, real: SSAValue) -> list[Tap]:
    """Compute the two neighbours of a position, the ends repeated."""
    work = real.type
    assert isinstance(work, AnyFloat)
    real = scalars.maximum(real, scalars.constant(0, work))
    real = scalars.minimum(real, scalars.constant(axis.size - 1, work))
    near = scalars.float_to_index(real)
    last = scalars.index(axis.size - 1)
    far = scalars.minimum(scalars.add(near, scalars.index(1)), last)
    far_weight = scalars.subtract(real, scalars.index_to_float(near, work))
    near_weight = scalars.subtract(scalars.constant(1, work), far_weight)
    return [Tap(near, near_weight), Tap(far, far_weight)]


def _cubic_taps(scalars: Scalars, axis: Axis, real: SSAValue) -> list[Tap]:
    """Compute the four neighbours of a position, weighted by cubic convolution."""
    work = real.type
    assert isinstance(work, AnyFloat)
    whole = scalars.round_down(real)
    first = scalars.float_to_index(whole)
    past = scalars.subtract(real, whole)
    one, two = scalars.constant(1, work), scalars.constant(2, work)
    ahead = scalars.subtract(one, past)
    weights = [
        _far_weight(scalars, scalars.add(past, one)),
        _near_weight(scalars, past),
        _near_weight(scalars, ahead),
        _far_weight(scalars, scalars.subtract(two, past)),
    ]
    low, high = scalars.index(0), scalars.index(axis.size - 1)
    positions = [scalars.add(first, scalars.index(step)) for step in (-1, 0, 1, 2)]
    inside = [scalars.minimum(scalars.maximum(each, low), high) for each in positions]
    return [Tap(*tap) for tap in zip(inside, weights, strict=True)]


def _polynomial(scalars: Scalars, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """Compute a polynomial by Horner's rule, the coefficient of the highest power first."""
    first, *others = (scalars.constant(each, x.type) for each in coefficients)
    return reduce(lambda value, each: scalars.add(scalars.multiply(value, x), each), others, first)


def _near_weight(scalars: Scalars, distance: SSAValue) -> SSAValue:
    """Compute the weight of cubic convolution at a distance of at most one."""
    return _polynomial(scalars, distance, (CUBIC + 2, -(CUBIC + 3), 0, 1))


def _far_weight(scalars: Scalars, distance: SSAValue) -> SSAValue:
    """Compute the weight of cubic convolution at a distance from one to two."""
    return _polynomial(scalars, distance, (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC))


# Sampling at given positions to `linalg.generic` that reads where the grid says.


PlaceBody = Callable[..., SSAValue]
"""Computes something of a real row and column, which follow what writes arithmetic."""


class LowerGridSample(Pattern):
    """gawee.grid_sample -> linalg.generic of the places that the grid names and of how far past
    them it is, and one that reads there, of the image surrounded by zeros

    Of few positions: linalg.generic that reads x and y, with tensor.extract where they say.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GridSampleOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        element = element_type(op.input)
        work = f64 if isinstance(element, Float64Type) else f32
        if prod(tensor_shape(op.result)) < prod(tensor_shape(op.input)):
            result = _sampled(rewriter, op, work)
        else:
            result = _Surrounded.of(rewriter, op, work).sampled(rewriter)
        rewriter.replace(op, (), [result])


def _sampled(builder: Builder, op: GridSampleOp, work: AnyFloat) -> SSAValue:
    """Work out for each element where it is read, and whether there is one."""

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        row, column = _real_place(scalars, op, args, work)
        if op.mode.data == "nearest":
            row, column = scalars.round_to_even(row), scalars.round_to_even(column)
            return _element(scalars, op, row, column)
        value = _bilinear(scalars, op, row, column, work)
        return scalars.narrow(value, element_type(op.input))

    return generic(builder, tensor_type(op.result), _coordinates(op, 4), body)


@dataclass(frozen=True)
class _Surrounded:
    """An image with zeros around it: what a position names is always there, and channels share
    the positions."""

    op: GridSampleOp
    work: AnyFloat
    planes: SSAValue
    """(images, channels, elements), rows one behind the other."""
    low: int
    """Zeros before each row and column."""
    width: int
    """Elements of a row, with the zeros."""

    @staticmethod
    def of(builder: Builder, op: GridSampleOp, work: AnyFloat) -> "_Surrounded":
        """Surround an image by as much as positions may be outside of it."""
        low = int(op.padding_mode.data == "zeros")
        high = low + (op.mode.data != "nearest")
        images, channels, height, width = tensor_shape(op.input)
        nothing = zero(builder, element_type(op.input))
        source = padded(builder, op.input, (0, 0, low, low), (0, 0, high, high), nothing)
        height, width = height + low + high, width + low + high
        planes = reshaped(builder, source, (images, channels, height * width))
        return _Surrounded(op, work, planes, low, width)

    def sampled(self, builder: Builder) -> SSAValue:
        """Return the elements at the positions of the grid, or what lies between them."""
        nearest = self.op.mode.data == "nearest"
        rounded = Scalars.round_to_even if nearest else Scalars.round_down
        elements = tensor_shape(self.planes)[2]
        inputs = [self._at_positions(builder, self._place(rounded), index_type(elements))]
        if not nearest:
            parts = (self._at_positions(builder, _past(axis), self.work) for axis in (0, 1))
            inputs += parts

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            place = scalars.emit(arith.IndexCastOp(args[0], IndexType()))
            if nearest:
                return self._element(scalars, place)
            weights = [
                (scalars.subtract(scalars.constant(1, self.work), past), past) for past in args[1:3]
            ]
            parts: list[SSAValue] = []
            for (down, row), (right, column) in product(*(enumerate(each) for each in weights)):
                there = scalars.add(place, scalars.index(down * self.width + right))
                value = scalars.widen(self._element(scalars, there), self.work)
                parts.append(scalars.multiply(value, scalars.multiply(row, column)))
            return scalars.narrow(reduce(scalars.add, parts), element_type(self.planes))

        return generic(builder, tensor_type(self.op.result), inputs, body)

    def _at_positions(
        self, builder: Builder, body: PlaceBody, type: Attribute
    ) -> tuple[SSAValue, AffineMap]:
        """Compute something of each position of the grid, (images, rows, columns)."""

        def placed(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            return body(scalars, *_real_place(scalars, self.op, args, self.work))

        shape = TensorType(type, tensor_shape(self.op.grid)[:3])
        value = generic(builder, shape, _coordinates(self.op, 3), placed)
        return value, reads(4, 0, 2, 3)

    def _place(self, rounded: Callable[[Scalars, SSAValue], SSAValue]) -> PlaceBody:
        """Return what makes a place in a plane of a real row and column."""
        type = index_type(tensor_shape(self.planes)[2])

        def place(scalars: Scalars, row: SSAValue, column: SSAValue) -> SSAValue:
            y, x = (
                scalars.emit(arith.FPToSIOp(rounded(scalars, each), type)) for each in (row, column)
            )
            start = scalars.constant(self.low * (self.width + 1), type)
            line = scalars.multiply(y, scalars.constant(self.width, type))
            return scalars.add(scalars.add(line, x), start)

        return place

    def _element(self, scalars: Scalars, place: SSAValue) -> SSAValue:
        return scalars.element(self.planes, [scalars.position(0), scalars.position(1), place])


def index_type(size: int) -> IntegerType:
    """Return the integers that hold every index below a size."""
    return i32 if size < 1 << 31 else i64


def _past(axis: int) -> PlaceBody:
    """Return what says how far a position is past the whole one before it, along an axis."""

    def past(scalars: Scalars, *place: SSAValue) -> SSAValue:
        return scalars.subtract(place[axis], scalars.round_down(place[axis]))

    return past


def _coordinates(op: GridSampleOp, loops: int) -> Sequence[tuple[SSAValue, AffineMap]]:
    """Return how x and y of the grid are read, by loops (n, y, x) or (n, c, y, x)."""
    batch, *_, row, column = (AffineExpr.dimension(loop) for loop in range(loops))
    return [
        (op.grid, AffineMap(loops, 0, (batch, row, column, AffineExpr.constant(which))))
        for which in (0, 1)
    ]


def _real_place(
    scalars: Scalars, op: GridSampleOp, args: Sequence[SSAValue], work: AnyFloat
) -> tuple[SSAValue, SSAValue]:
    """Turn x and y into a row and a column of the image."""
    x, y, *_ = args
    height, width = tensor_shape(op.input)[2:]
    return (
        _position(scalars, op, scalars.widen(y, work), height),
        _position(scalars, op, scalars.widen(x, work), width),
    )


def _position(scalars: Scalars, op: GridSampleOp, coordinate: SSAValue, size: int) -> SSAValue:
    """Turn a coordinate from -1 to 1 into a position, one step outside at the most."""
    work = coordinate.type
    shifted = scalars.add(coordinate, scalars.constant(1, work))
    if op.align_corners is not None:
        real = scalars.multiply(shifted, scalars.constant((size - 1) / 2, work))
    else:
        wide = scalars.multiply(shifted, scalars.constant(size / 2, work))
        real = scalars.subtract(wide, scalars.constant(0.5, work))
    low, high = (0, size - 1) if op.padding_mode.data == "border" else (-1, size)
    # What is not a number becomes the lower end, so that every position is a valid integer.
    real = scalars.maximum_number(real, scalars.constant(low, work))
    return scalars.minimum_number(real, scalars.constant(high, work))


def _bilinear(
    scalars: Scalars, op: GridSampleOp, row: SSAValue, column: SSAValue, work: AnyFloat
) -> SSAValue:
    """Weigh the four neighbours of a position by distance."""
    one = scalars.constant(1, work)

    def neighbours(position: SSAValue) -> list[tuple[SSAValue, SSAValue]]:
        near = scalars.round_down(position)
        past = scalars.subtract(position, near)
        return [(near, scalars.subtract(one, past)), (scalars.add(near, one), past)]

    parts: list[SSAValue] = []
    for (y, y_weight), (x, x_weight) in product(neighbours(row), neighbours(column)):
        value = scalars.widen(_element(scalars, op, y, x), work)
        parts.append(scalars.multiply(value, scalars.multiply(y_weight, x_weight)))
    return reduce(scalars.add, parts)


def _element(scalars: Scalars, op: GridSampleOp, row: SSAValue, column: SSAValue) -> SSAValue:
    """Read the element at a whole position, zero outside the image."""
    outside = scalars.constant(0, element_type(op.input))
    kept: list[SSAValue] = []
    inside: list[SSAValue] = []
    for position, size in zip((row, column), tensor_shape(op.input)[2:], strict=True):
        index = scalars.float_to_index(position)
        high = scalars.minimum(index, scalars.index(size - 1))
        clamped = scalars.maximum(high, scalars.index(0))
        kept.append(clamped)
        inside.append(scalars.same_index(index, clamped))
    value = scalars.element(op.input, [scalars.position(0), scalars.position(1), *kept])
    for condition in inside:
        value = scalars.select(condition, value, outside)
    return value
