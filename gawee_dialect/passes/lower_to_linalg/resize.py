"""Resampling to `linalg.generic` that computes where it reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat, Float64Type, f32, f64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic
from gawee_dialect.passes.rewrite_pass import Pattern


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


class Neighbours(NamedTuple):
    """Two adjacent input positions, and the weights of their elements."""

    near: SSAValue
    far: SSAValue
    near_weight: SSAValue
    far_weight: SSAValue


class LowerInterpolate(Pattern):
    """gawee.interpolate -> linalg.generic with tensor.extract at computed positions"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: InterpolateOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        sizes, results = tensor_shape(op.input)[2:], op.size.get_values()
        scales = (None, None) if op.scales is None else op.scales.get_values()
        rows, columns = (Axis(2 + i, sizes[i], results[i], scales[i]) for i in range(2))

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            if op.mode.data == "nearest":
                return _nearest(scalars, op.input, rows, columns)
            return _bilinear(scalars, op.input, rows, columns, op.align_corners is not None)

        rewriter.replace(op, (), [generic(rewriter, tensor_type(op.result), [], body)])


def _nearest(scalars: Scalars, input: SSAValue, rows: Axis, columns: Axis) -> SSAValue:
    indices = [scalars.position(0), scalars.position(1)]
    indices += [_nearest_position(scalars, axis) for axis in (rows, columns)]
    return scalars.element(input, indices)


def _nearest_position(scalars: Scalars, axis: Axis) -> SSAValue:
    """Compute floor(d * in / out), in integers and so exact, or floor(d / scale) in f64."""
    position = scalars.position(axis.loop)
    if axis.scale is None:
        scaled = scalars.multiply(position, scalars.index(axis.size))
        return scalars.floor_divide(scaled, scalars.index(axis.result_size))
    real = scalars.divide(scalars.index_to_float(position, f64), scalars.constant(axis.scale, f64))
    return scalars.minimum(scalars.float_to_index(real), scalars.index(axis.size - 1))


def _bilinear(
    scalars: Scalars, input: SSAValue, rows: Axis, columns: Axis, align_corners: bool
) -> SSAValue:
    """Weigh the four neighbours; f16 is computed in f32, as its positions would be too coarse."""
    element = element_type(input)
    work = f64 if isinstance(element, Float64Type) else f32
    row = _neighbours(scalars, rows, work, align_corners)
    column = _neighbours(scalars, columns, work, align_corners)
    outer = [scalars.position(0), scalars.position(1)]

    def value(y: SSAValue, x: SSAValue) -> SSAValue:
        return scalars.widen(scalars.element(input, [*outer, y, x]), work)

    def weighed(near: SSAValue, far: SSAValue, along: Neighbours) -> SSAValue:
        return scalars.add(
            scalars.multiply(along.near_weight, near), scalars.multiply(along.far_weight, far)
        )

    upper = weighed(value(row.near, column.near), value(row.near, column.far), column)
    lower = weighed(value(row.far, column.near), value(row.far, column.far), column)
    return scalars.narrow(weighed(upper, lower, row), element)


def _neighbours(scalars: Scalars, axis: Axis, work: AnyFloat, align_corners: bool) -> Neighbours:
    real = _real_position(scalars, axis, work, align_corners)
    near = scalars.float_to_index(real)
    last = scalars.index(axis.size - 1)
    far = scalars.minimum(scalars.add(near, scalars.index(1)), last)
    far_weight = scalars.subtract(real, scalars.index_to_float(near, work))
    near_weight = scalars.subtract(scalars.constant(1, work), far_weight)
    return Neighbours(near, far, near_weight, far_weight)


def _real_position(scalars: Scalars, axis: Axis, work: AnyFloat, align_corners: bool) -> SSAValue:
    """Compute the input position between 0 and size - 1 that an output position stands for."""
    position = scalars.index_to_float(scalars.position(axis.loop), work)
    if align_corners:
        steps = max(1, axis.result_size - 1)
        return scalars.multiply(position, scalars.constant((axis.size - 1) / steps, work))
    half = scalars.constant(0.5, work)
    scaled = scalars.multiply(scalars.add(position, half), scalars.constant(axis.ratio, work))
    real = scalars.maximum(scalars.subtract(scaled, half), scalars.constant(0, work))
    return scalars.minimum(real, scalars.constant(axis.size - 1, work))
