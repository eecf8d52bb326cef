"""Resampling: images of other sizes, images and volumes sampled at the positions of a grid.

What `gawee.grid_sample` has no mode for is written out: one gather for each neighbour of a
position, weighed and added up.
"""

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import (
    AbsOp,
    FloorOp,
    MinimumOp,
    RemainderOp,
    RoundOp,
)
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherNdOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.open_size import OpenSize, indices_of
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, mul, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared, where
from gawee_dialect.frontends.npu_ir.aten.contraction import linear, matmul
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import select
from gawee_dialect.frontends.op_mapping.emitter import Emitter, permuted
from gawee_dialect.frontends.op_mapping.registry import Floats, Ints, Refusal

KEEPING = (("linear", 1), ("linear", 3), ("bilinear", 2), ("nearest", 2))
"""Modes of so many axes in which PyTorch leaves an axis alone that keeps its size, whatever its
scale: one of 1.2 makes 4 elements of 4."""


def resampled(
    emit: Emitter,
    value: SSAValue,
    mode: str,
    size: Ints | None,
    scales: Sequence[float | None],
    align_corners: bool = False,
) -> SSAValue:
    """Resample to a size, or by scales where there is none; scales given with it count too."""
    spatial = tensor_shape(value)[2:]
    known = [scale for scale in scales if scale is not None]
    if size is None:
        if len(known) != len(spatial):
            raise Refusal(f"expected output_size or {len(spatial)} scales, got {list(scales)}")
        size = [scaled_size(axis, scale) for axis, scale in zip(spatial, known, strict=True)]
    whole = len(known) == len(spatial) and not align_corners
    if whole and (mode, len(spatial)) in KEEPING:
        along = zip(spatial, size, known, strict=True)
        known = [1.0 if axis == after else scale for axis, after, scale in along]
    return emit(
        InterpolateOp(
            value,
            size=size,
            mode=mode,
            align_corners=align_corners,
            scales=known if whole else None,
            float_positions=mode in InterpolateOp.CHOOSING,
        )
    )


def scaled_size(size: int, scale: float) -> int:
    """Return the whole part of a multiple of a size; raises UnknownSize where it is no form."""
    if not isinstance(size, OpenSize):
        return int(size * scale)
    above, below = scale.as_integer_ratio()
    return size * above // below


def nearest_vec(mode: str) -> Callable[..., SSAValue]:
    """Return the mapping of an op that chooses elements, its scales in a list."""

    def mapping(
        emit: Emitter, input: SSAValue, output_size: Ints | None, scale_factors: Floats | None
    ) -> SSAValue:
        return resampled(emit, input, mode, output_size, scale_factors or ())

    return mapping


def blend_vec(mode: str) -> Callable[..., SSAValue]:
    """Return the mapping of an op that blends elements, its scales in a list."""

    def mapping(
        emit: Emitter,
        input: SSAValue,
        output_size: Ints | None,
        align_corners: bool,
        scale_factors: Floats | None,
    ) -> SSAValue:
        return resampled(emit, input, mode, output_size, scale_factors or (), align_corners)

    return mapping


for _name, _mode in {"nearest": "nearest", "_nearest_exact": "nearest_exact"}.items():
    _prefix = "_upsample" if _name.startswith("_") else "upsample_"
    for _axes in (1, 2, 3):
        register_op(f"aten.{_prefix}{_name}{_axes}d.vec")(nearest_vec(_mode))


def of_axes(value: SSAValue, scales: Sequence[float | None]) -> Sequence[float | None]:
    """Return the scales of depth, height and width that a tensor has; one alone stands first."""
    axes = len(tensor_shape(value)) - 2
    return scales[:1] if axes == 1 else scales[len(scales) - axes :]


@register_op(*(f"aten.upsample_nearest{_axes}d.default" for _axes in (1, 2, 3)))
def nearest(
    emit: Emitter,
    self: SSAValue,
    output_size: Ints,
    scales: float | None = None,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> SSAValue:
    """Choose the nearest element."""
    given = of_axes(self, (scales, scales_d, scales_h, scales_w))
    return resampled(emit, self, "nearest", output_size, given)


def blend(mode: str) -> Callable[..., SSAValue]:
    """Return the mapping of an op that blends neighbours, each scale on its own."""

    def mapping(
        emit: Emitter,
        self: SSAValue,
        output_size: Ints,
        align_corners: bool,
        scales: float | None = None,
        scales_d: float | None = None,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> SSAValue:
        given = of_axes(self, (scales, scales_d, scales_h, scales_w))
        return resampled(emit, self, mode, output_size, given, align_corners)

    return mapping


for _name, _mode in {
    "linear1d": "linear",
    "bilinear2d": "bilinear",
    "trilinear3d": "linear",
    "bicubic2d": "bicubic",
}.items():
    register_op(f"aten.upsample_{_name}.vec")(blend_vec(_mode))
    register_op(f"aten.upsample_{_name}.default")(blend(_mode))


# Resampling of images with weights as wide as what becomes one element: PyTorch's antialias.
#
# Each axis is a product with a matrix that is known when the graph is read.

Weights = NDArray[np.floating]


def triangle(distance: Weights) -> Weights:
    """Return the weights of linear interpolation at some distances, 1 apart."""
    return np.maximum(1 - np.abs(distance), 0)


def cubic(distance: Weights) -> Weights:
    """Return the weights of cubic interpolation, of Keys with a = -1/2."""
    x = np.abs(distance)
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


FILTERS = {"bilinear": (triangle, 1), "bicubic": (cubic, 2)}
"""The weights of each mode, and how far from the middle they reach."""


def matrix(mode: str, size: int, result: int, align_corners: bool, scale: float | None) -> Weights:
    """Return the weights (result, size) of one axis."""
    weigh, reach = FILTERS[mode]
    if align_corners:
        step = (size - 1) / (result - 1) if result > 1 else 0.0
    else:
        step = 1 / scale if scale else size / result
    width = max(step, 1.0)
    weights = np.zeros((result, size))
    for row in indices_of(result):
        middle = step * (row + 0.5)
        first = max(int(middle - reach * width + 0.5), 0)
        last = min(int(middle + reach * width + 0.5), size)
        given = weigh((np.arange(first, last) - middle + 0.5) / width)
        weights[row, first:last] = given / given.sum()
    return weights


def antialiased(
    emit: Emitter,
    value: SSAValue,
    mode: str,
    size: Ints,
    align_corners: bool,
    scales: tuple[float | None, float | None],
) -> SSAValue:
    """Resample (batch, channels, height, width), the width first."""
    element = element_type(value)
    if not is_float(element):
        raise Refusal(f"expected a tensor of floats, got '{element}'")
    (height, width), (to_height, to_width) = tensor_shape(value)[2:], size
    columns = matrix(mode, width, to_width, align_corners, scales[1])
    rows = matrix(mode, height, to_height, align_corners, scales[0])
    wide = linear(emit, value, emit.array(columns, element))
    return matmul(emit, emit.array(rows, element), wide)


def by_size(mode: str) -> Callable[..., SSAValue]:
    """Return the mapping of an op with each scale on its own."""

    def mapping(
        emit: Emitter,
        self: SSAValue,
        output_size: Ints,
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> SSAValue:
        return antialiased(emit, self, mode, output_size, align_corners, (scales_h, scales_w))

    return mapping


def by_scales(mode: str) -> Callable[..., SSAValue]:
    """Return the mapping of an op with a size or scales in a list."""

    def mapping(
        emit: Emitter,
        input: SSAValue,
        output_size: Ints | None,
        align_corners: bool,
        scale_factors: Floats | None,
    ) -> SSAValue:
        if scale_factors is None or output_size is not None:
            return antialiased(emit, input, mode, output_size or (), align_corners, (None, None))
        height, width = tensor_shape(input)[2:]
        by_height, by_width = scale_factors
        size = int(height * by_height), int(width * by_width)
        return antialiased(emit, input, mode, size, align_corners, (by_height, by_width))

    return mapping


for _antialiasing_mode in FILTERS:
    register_op(f"aten._upsample_{_antialiasing_mode}2d_aa.default")(by_size(_antialiasing_mode))
    register_op(f"aten._upsample_{_antialiasing_mode}2d_aa.vec")(by_scales(_antialiasing_mode))


INTERPOLATIONS = ("linear", "nearest", "cubic")
PADDINGS = ("zeros", "border", "reflection")
"""As PyTorch numbers them."""

CUBIC = -0.75


def within(emit: Emitter, x: SSAValue, low: float, high: float) -> SSAValue:
    """Return positions cut to bounds; one that is no number is at the lower bound."""
    element = element_type(x)
    raised = where(emit, compared(emit, x, low, "gt"), x, low)
    return emit(MinimumOp(raised, emit.number(high, element)))


def reflected(emit: Emitter, x: SSAValue, low: float, high: float) -> SSAValue:
    """Return positions thrown back from bounds until they are between them."""
    span = high - low
    if span <= 0:
        return mul(emit, x, 0.0)
    element = element_type(x)
    distance = emit(AbsOp(sub(emit, x, low)))
    rest = emit(RemainderOp(distance, emit.number(2 * span, element)))
    back = sub(emit, emit(AbsOp(sub(emit, rest, span))), span)
    return sub(emit, low, back)


class Sampler:
    """Takes elements of images (batch x channels x sizes) at positions (batch x places)."""

    def __init__(self, emit: Emitter, x: SSAValue, padding: str, *, aligned: bool) -> None:
        self.emit, self.padding, self.aligned = emit, padding, aligned
        self.shape = tensor_shape(x)
        self.sizes = self.shape[2:]
        flat = emit.reshape(x, (*self.shape[:2], prod(self.sizes)))
        self.rows = permuted(emit, flat, (0, 2, 1))

    def kept(self, at: SSAValue, size: int) -> SSAValue:
        """Return positions as the padding has them."""
        if self.padding == "border":
            return within(self.emit, at, 0, size - 1)
        if self.padding == "reflection":
            ends = (0, size - 1) if self.aligned else (-0.5, size - 0.5)
            return within(self.emit, reflected(self.emit, at, *ends), 0, size - 1)
        return at

    def taken(self, places: Sequence[SSAValue]) -> SSAValue:
        """Return batch x places x channels at whole positions; zeros outside of the image."""
        emit = self.emit
        index: SSAValue | None = None
        inside: SSAValue | None = None
        for at, size in zip(places, self.sizes, strict=True):
            held = within(emit, at, 0, size - 1)
            good = compared(emit, at, held, "eq")
            inside = good if inside is None else emit(BitwiseAndOp(inside, good))
            whole = emit.cast(held, i64)
            index = whole if index is None else emit(AddOp(mul(emit, index, size), whole))
        assert index is not None
        assert inside is not None
        batch, count = tensor_shape(index)
        column = emit.reshape(index, (batch, count, 1))
        found = emit(GatherNdOp(self.rows, column, batch_dims=1))
        return where(emit, emit.reshape(inside, (batch, count, 1)), found, 0)

    def at(self, places: Sequence[SSAValue], mode: str) -> SSAValue:
        """Return batch x places x channels, by the nearest element, by lines or by cubics."""
        emit = self.emit
        if mode == "nearest":
            near = [emit(RoundOp(each)) for each in places]
            return self.taken(self._kept_all(near))
        if mode == "linear":
            places = self._kept_all(places)
        floors = [emit(FloorOp(each)) for each in places]
        parts = [emit(SubOp(at, floor)) for at, floor in zip(places, floors, strict=True)]
        taps = (0, 1) if mode == "linear" else (-1, 0, 1, 2)
        total: SSAValue | None = None
        for offsets in product(taps, repeat=len(places)):
            moved = zip(floors, offsets, strict=True)
            whole = [add(emit, floor, offset) for floor, offset in moved]
            value = self.taken(whole if mode == "linear" else self._kept_all(whole))
            for each, offset in zip(parts, offsets, strict=True):
                weight = self.line(each, offset) if mode == "linear" else self.cubic(each, offset)
                value = emit(MulOp(value, emit.reshape(weight, (*tensor_shape(weight), 1))))
            total = value if total is None else emit(AddOp(total, value))
        assert total is not None
        return total

    def _kept_all(self, places: Sequence[SSAValue]) -> list[SSAValue]:
        return [self.kept(each, size) for each, size in zip(places, self.sizes, strict=True)]

    def line(self, rest: SSAValue, offset: int) -> SSAValue:
        """Return the weight of one of two neighbours."""
        return rest if offset else sub(self.emit, 1.0, rest)

    def cubic(self, rest: SSAValue, offset: int) -> SSAValue:
        """Return the weight of one of four neighbours."""
        distance = self.emit(AbsOp(sub(self.emit, rest, float(offset))))
        near = (CUBIC + 2, -(CUBIC + 3), 0.0, 1.0)
        far = (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC)
        result: SSAValue | None = None
        for factor in near if offset in (0, 1) else far:
            raised = None if result is None else self.emit(MulOp(result, distance))
            same = mul(self.emit, distance, 0.0) if raised is None else raised
            result = add(self.emit, same, factor)
        assert result is not None
        return result

    def image(self, value: SSAValue, outputs: Sequence[int]) -> SSAValue:
        """Return batch x places x channels as images."""
        moved = permuted(self.emit, value, (0, 2, 1))
        return self.emit.reshape(moved, (*tensor_shape(moved)[:2], *outputs))


def grid_sampled(
    emit: Emitter, x: SSAValue, grid: SSAValue, mode: str, padding: str, *, aligned: bool
) -> SSAValue:
    """Sample (batch, channels, *sizes) at a grid (batch, *outputs, axes), the last axis first.

    -1 and 1 are the ends of an axis: the centres of its outer elements with `aligned`, else their
    outer edges.
    """
    sizes = tensor_shape(x)[2:]
    if len(sizes) == 2 and mode != "cubic" and padding != "reflection":
        own = "bilinear" if mode == "linear" else mode
        return emit(GridSampleOp(x, grid, mode=own, padding_mode=padding, align_corners=aligned))
    batch, *outputs, rank = tensor_shape(grid)
    flat = emit.reshape(grid, (batch, prod(outputs), rank))
    places: list[SSAValue] = []
    for axis, size in enumerate(sizes):
        moved = add(emit, select(emit, flat, 2, rank - 1 - axis), 1)
        if aligned:
            places.append(mul(emit, moved, (size - 1) / 2))
        else:
            places.append(sub(emit, mul(emit, moved, size / 2), 0.5))
    sampler = Sampler(emit, x, padding, aligned=aligned)
    return sampler.image(sampler.at(places, mode), outputs)


@register_op("aten.grid_sampler", "aten.grid_sampler_2d", "aten.grid_sampler_3d")
def grid_sampler(
    emit: Emitter,
    input: SSAValue,
    grid: SSAValue,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> SSAValue:
    """Sample images or volumes at the positions of a grid; the modes are numbers"""
    if not 0 <= interpolation_mode < len(INTERPOLATIONS):
        raise Refusal(f"unsupported interpolation_mode {interpolation_mode}; supported: 0, 1, 2")
    if not 0 <= padding_mode < len(PADDINGS):
        raise Refusal(f"unsupported padding_mode {padding_mode}; supported: 0, 1, 2")
    mode, padding = INTERPOLATIONS[interpolation_mode], PADDINGS[padding_mode]
    return grid_sampled(emit, input, grid, mode, padding, aligned=align_corners)
