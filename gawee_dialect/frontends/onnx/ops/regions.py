"""Regions of images, pooled to one size."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.activation import ClipOp
from gawee_dialect.dialect.arithmetic import FloorOp, MaximumOp
from gawee_dialect.dialect.bitwise import BitwiseAndOp
from gawee_dialect.dialect.comparison import CompareOp
from gawee_dialect.dialect.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.gather import GatherOp
from gawee_dialect.dialect.reduction import ReduceMaxOp, ReduceMeanOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal

LIMITS = ("sampling_ratio above 0",)
Tap = tuple[SSAValue, SSAValue]
"""Whole positions along an axis, regions x samples, and the weights of what is there."""


def _taps(
    emit: Emitter, bounds: tuple[SSAValue, SSAValue], size: int, points: Sequence[float], half: bool
) -> Sequence[Tap]:
    """Return between which two elements each sample of an axis is, for `points` from 0 to 1."""
    start, end = bounds
    element = element_type(start)

    def number(value: float) -> SSAValue:
        return emit.number(value, element)

    if half:
        start, end = (emit(SubOp(each, number(0.5))) for each in (start, end))
    extent = emit(SubOp(end, start))
    if not half:
        extent = emit(MaximumOp(extent, number(1)))
    along = emit.array(np.asarray([points]), element)
    at = emit(AddOp(start, emit(MulOp(extent, along))))
    inside = emit(
        BitwiseAndOp(
            emit(CompareOp(at, number(-1), predicate="ge")),
            emit(CompareOp(at, number(size), predicate="le")),
        )
    )
    weight = emit.cast(inside, element)
    at = emit(ClipOp(at, min=0, max=size - 1))
    low = emit(FloorOp(at))
    high = emit(ClipOp(emit(AddOp(low, number(1))), max=size - 1))
    fraction = emit(MulOp(emit(SubOp(at, low)), weight))
    return [(low, emit(SubOp(weight, fraction))), (high, fraction)]


def _pooled(
    emit: Emitter,
    x: SSAValue,
    rois: SSAValue,
    batch_indices: SSAValue,
    sizes: tuple[int, int],
    mode: str,
    ratio: int,
    scale: float,
    *,
    half: bool,
) -> SSAValue:
    if ratio <= 0 or mode not in ("avg", "max"):
        wanted = "avg and max, and a sampling_ratio above 0"
        raise Refusal(f"unsupported mode '{mode}' with sampling_ratio {ratio}; supported: {wanted}")
    batch, channels, height, width = tensor_shape(x)
    regions = tensor_shape(rois)[0]
    scaled = emit(MulOp(rois, emit.number(scale, element_type(rois))))
    left, top, right, bottom = (part(emit, scaled, 1, index, 1) for index in range(4))
    rows, columns = (count * ratio for count in sizes)
    vertical, horizontal = (
        _taps(emit, bounds, size, [(at + 0.5) / count for at in range(count)], half)
        for bounds, size, count in (
            ((top, bottom), height, rows),
            ((left, right), width, columns),
        )
    )
    table = emit.reshape(permuted(emit, x, (0, 2, 3, 1)), (batch * height * width, channels))
    first = emit(MulOp(emit.cast(batch_indices, i64), emit.number(height * width, i64)))
    first = emit.reshape(first, (regions, 1, 1))
    terms: list[SSAValue] = []
    for (y, of_y), (x_at, of_x) in product(vertical, horizontal):
        down = emit(MulOp(emit.cast(y, i64), emit.number(width, i64)))
        line = emit(AddOp(first, emit.reshape(down, (regions, rows, 1))))
        index = emit(AddOp(line, emit.reshape(emit.cast(x_at, i64), (regions, 1, columns))))
        weight = emit(
            MulOp(
                emit.reshape(of_y, (regions, rows, 1, 1)),
                emit.reshape(of_x, (regions, 1, columns, 1)),
            )
        )
        terms.append(emit(MulOp(emit(GatherOp(table, index, axis=0)), weight)))
    total = terms[0]
    for term in terms[1:]:
        total = emit(AddOp(total, term) if mode == "avg" else MaximumOp(total, term))
    bins = emit.reshape(total, (regions, sizes[0], ratio, sizes[1], ratio, channels))
    pool = ReduceMeanOp if mode == "avg" else ReduceMaxOp
    return permuted(emit, emit(pool(bins, axes=[2, 4])), (0, 3, 1, 2))


@register_op("RoiAlign", since=16, limits=LIMITS)
def roi_align(
    emit: Emitter,
    x: SSAValue,
    rois: SSAValue,
    batch_indices: SSAValue,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> SSAValue:
    """Samples between the elements of each region, pooled; with max, of their weighted elements"""
    half = coordinate_transformation_mode == "half_pixel"
    sizes = output_height, output_width
    return _pooled(
        emit, x, rois, batch_indices, sizes, mode, sampling_ratio, spatial_scale, half=half
    )


@register_op("RoiAlign", limits=LIMITS)
def roi_align_before(
    emit: Emitter,
    x: SSAValue,
    rois: SSAValue,
    batch_indices: SSAValue,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> SSAValue:
    """As it was before opset 16: regions start at the corners of elements"""
    sizes = output_height, output_width
    return _pooled(
        emit, x, rois, batch_indices, sizes, mode, sampling_ratio, spatial_scale, half=False
    )
