"""Sampling at given positions to `linalg.generic` that reads where the grid says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

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

from gawee_dialect.dialect.graph.resize import GridSampleOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.graph.lower_to_linalg.tensors import padded, zero
from gawee_dialect.passes.rewrite_pass import Pattern

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
