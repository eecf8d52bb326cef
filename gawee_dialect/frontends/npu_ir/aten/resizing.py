"""Resampling."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.contraction import linear, matmul
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
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
        size = [int(axis * scale) for axis, scale in zip(spatial, known, strict=True)]
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
