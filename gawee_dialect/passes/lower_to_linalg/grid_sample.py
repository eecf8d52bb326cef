"""Sampling at given positions to `linalg.generic` that reads where the grid says."""

from collections.abc import Sequence
from functools import reduce
from itertools import product

from xdsl.dialects.builtin import AnyFloat, Float64Type, f32, f64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.grid_sample import GridSampleOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerGridSample(Pattern):
    """gawee.grid_sample -> linalg.generic that reads x and y, with tensor.extract where they say"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GridSampleOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        inputs = [(op.grid, coordinate_reads(which)) for which in (0, 1)]

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            x, y, _ = args
            element = element_type(op.input)
            work = f64 if isinstance(element, Float64Type) else f32
            height, width = tensor_shape(op.input)[2:]
            row = _position(scalars, op, scalars.widen(y, work), height)
            column = _position(scalars, op, scalars.widen(x, work), width)
            if op.mode.data == "nearest":
                row, column = scalars.round_to_even(row), scalars.round_to_even(column)
                return _element(scalars, op, row, column)
            return scalars.narrow(_bilinear(scalars, op, row, column, work), element)

        rewriter.replace(op, (), [generic(rewriter, tensor_type(op.result), inputs, body)])


def coordinate_reads(which: int) -> AffineMap:
    """Make the map (n, c, y, x) -> (n, y, x, which) of one coordinate of the grid."""
    batch, _, row, column = (AffineExpr.dimension(loop) for loop in range(4))
    return AffineMap(4, 0, (batch, row, column, AffineExpr.constant(which)))


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
