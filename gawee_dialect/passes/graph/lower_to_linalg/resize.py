"""Resampling to `linalg.generic` that computes where it reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, Float64Type, TensorType, f32, f64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.resize import InterpolateOp, keeps_elements
from gawee_dialect.dialect.open_size import greatest
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic
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

    def ratio(self, scalars: Scalars, work: AnyFloat) -> SSAValue:
        """Compute the input positions per output position."""
        if self.scale is None:
            return scalars.quotient(self.size, self.result_size, work)
        return scalars.constant(1 / self.scale, work)


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
    real = scalars.index_to_float(scalars.position(axis.loop), f32)
    if offset:
        real = scalars.add(real, scalars.constant(offset, f32))
    real = scalars.multiply(real, axis.ratio(scalars, f32))
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
    """Blend along one axis after the other, unless that would blend elements without uses.

    Of open sizes the greatest ones decide.
    """
    taps = 4 if op.mode.data == "bicubic" else 2
    if all(greatest(axis.size) <= taps * greatest(axis.result_size) for axis in axes[:-1]):
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
        return scalars.multiply(position, scalars.quotient(axis.size - 1, steps, work))
    half = scalars.constant(0.5, work)
    scaled = scalars.multiply(scalars.add(position, half), axis.ratio(scalars, work))
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
