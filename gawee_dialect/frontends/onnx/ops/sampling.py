"""Elements at positions that are computed: grids, regions, deformed windows."""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import AbsOp, CeilOp, FloorOp, MaximumOp, NegOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherOp, ScatterElementsOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, CompareOp, WhereOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import ReduceMaxOp, ReduceMeanOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.resampling import PADDINGS, Sampler, grid_sampled
from gawee_dialect.frontends.npu_ir.aten.windows import windows_of
from gawee_dialect.frontends.onnx.registry import check_size, register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Ints, KnownInts, Refusal

MODES = {
    **{"linear": "linear", "bilinear": "linear", "nearest": "nearest"},
    **{"cubic": "cubic", "bicubic": "cubic"},
}


@register_op("GridSample")
def grid_sample(
    emit: Emitter,
    x: SSAValue,
    grid: SSAValue,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> SSAValue:
    """Elements at the positions of a grid, which go from -1 to 1"""
    if mode not in MODES:
        raise Refusal(f"unsupported mode '{mode}'; supported: {', '.join(MODES)}")
    if padding_mode not in PADDINGS:
        raise Refusal(
            f"unsupported padding_mode '{padding_mode}'; supported: {', '.join(PADDINGS)}"
        )
    return grid_sampled(emit, x, grid, MODES[mode], padding_mode, aligned=bool(align_corners))


@register_op("AffineGrid")
def affine_grid(
    emit: Emitter, theta: SSAValue, size: KnownInts, align_corners: int = 0
) -> SSAValue:
    """The positions that an affine map sends those of an image to"""
    sizes = list(size)[2:]
    check_size(prod(sizes))
    axes = [
        np.linspace(-1, 1, n) if align_corners else (2 * np.arange(n) + 1) / n - 1 for n in sizes
    ]
    mesh = np.meshgrid(*axes, indexing="ij")[::-1]
    points = np.stack([*mesh, np.ones(sizes)], axis=-1).reshape(-1, len(sizes) + 1)
    batch = tensor_shape(theta)[0]
    constant = emit.array(points, element_type(theta))
    spread = emit.broadcast(constant, (batch, *points.shape))
    made = emit(BatchMatMulOp(spread, theta, transpose_b=True))
    return emit.reshape(made, (batch, *sizes, len(sizes)))


@register_op("Col2Im")
def col2im(
    emit: Emitter,
    input: SSAValue,
    image_shape: KnownInts,
    block_shape: KnownInts,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> SSAValue:
    """Windows added up where they lie in an image"""
    rank = len(block_shape)
    ones = [1] * rank
    windows = windows_of(
        tuple(image_shape),
        block_shape,
        strides or ones,
        dilations or ones,
        pads or [0] * (2 * rank),
        ceil=False,
    )
    batch, width, count = tensor_shape(input)
    block = prod(block_shape)
    channels, pixels = width // block, prod(image_shape)
    places = np.where(windows.inside, windows.flat(), pixels).reshape(-1)
    whole = np.broadcast_to(places, (batch, channels, block * count)).copy()
    zeros = emit.full((batch, channels, pixels + 1), 0, element_type(input))
    updates = emit.reshape(input, (batch, channels, block * count))
    total = emit(ScatterElementsOp(zeros, emit.array(whole, i64), updates, axis=2, reduction="add"))
    return emit.reshape(part(emit, total, 2, 0, pixels), (batch, channels, *image_shape))


@register_op("DeformConv")
def deform_conv(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    offset: SSAValue,
    b: SSAValue | None = None,
    mask: SSAValue | None = None,
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    offset_group: int = 1,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> SSAValue:
    """A convolution whose windows' elements are moved, each by its own offset"""
    batch, channels, *sizes = tensor_shape(x)
    outputs, _, *kernel = tensor_shape(w)
    rank, elements = len(kernel), prod(kernel)
    if rank != 2:
        raise Refusal(f"unsupported input of rank {rank + 2}; supported: 4")
    ones = [1] * rank
    windows = windows_of(
        tuple(sizes),
        kernel,
        strides or ones,
        dilations or ones,
        pads or [0] * (2 * rank),
        ceil=False,
    )
    count = prod(windows.outputs)
    moves = emit.reshape(offset, (batch, offset_group, elements, rank, count))
    size = channels // offset_group
    columns: list[SSAValue] = []
    for index in range(offset_group):
        own = emit.reshape(part(emit, moves, 1, index, 1), (batch, elements, rank, count))
        places: list[SSAValue] = []
        for axis in range(rank):
            move = emit.reshape(part(emit, own, 2, axis, 1), (batch, elements * count))
            start = emit.array(windows.coordinates[axis].reshape(-1), element_type(x))
            places.append(emit(AddOp(move, start)))
        sampler = Sampler(emit, part(emit, x, 1, index * size, size), "zeros", aligned=True)
        value = permuted(emit, sampler.at(places, "linear"), (0, 2, 1))
        if mask is not None:
            weights = part(emit, mask, 1, index * elements, elements)
            value = emit(MulOp(value, emit.reshape(weights, (batch, 1, elements * count))))
        columns.append(emit.reshape(value, (batch, size, elements, count)))
    joint = columns[0] if len(columns) == 1 else emit(CatOp(columns, dim=1))
    rows = channels // group * elements
    stacked = emit.reshape(joint, (batch * group, rows, count))
    weights = emit.reshape(w, (1, group, outputs // group, rows))
    spread = emit.broadcast(weights, (batch, group, outputs // group, rows))
    spread = emit.reshape(spread, (batch * group, outputs // group, rows))
    made = emit.reshape(emit(BatchMatMulOp(spread, stacked)), (batch, outputs, *windows.outputs))
    if b is None:
        return made
    return emit(AddOp(made, emit.reshape(b, (outputs, *[1] * rank))))


# Regions of images, pooled to one size.

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


@register_op("MaxRoiPool")
def max_roi_pool(
    emit: Emitter, x: SSAValue, rois: SSAValue, pooled_shape: Ints, spatial_scale: float = 1.0
) -> SSAValue:
    """The maxima of the parts of each region, whose corners are rounded; zero of an empty part"""
    regions, element = tensor_shape(rois)[0], element_type(x)
    first, *corners = (part(emit, rois, 1, index, 1) for index in range(5))
    scale = emit.number(spatial_scale, element_type(rois))
    left, top, right, bottom = (_rounded(emit, emit(MulOp(each, scale))) for each in corners)
    chosen = emit.reshape(emit.cast(first, i64), (regions,))
    value = emit(GatherOp(x, chosen, axis=0))
    for axis, low, high, count in zip((2, 3), (top, left), (bottom, right), pooled_shape):
        inside = _parts(emit, low, high, count, tensor_shape(x)[axis])
        value = _maxima_of_parts(emit, value, inside, axis)
    is_empty = emit(CompareOp(value, emit.number(-np.inf, element), predicate="eq"))
    return emit(WhereOp(is_empty, emit.number(0, element), value))


def _rounded(emit: Emitter, x: SSAValue) -> SSAValue:
    """Return whole numbers, halves away from zero."""
    element = element_type(x)
    size = emit(FloorOp(emit(AddOp(emit(AbsOp(x)), emit.number(0.5, element)))))
    is_negative = emit(CompareOp(x, emit.number(0, element), predicate="lt"))
    return emit(WhereOp(is_negative, emit(NegOp(size)), size))


def _parts(emit: Emitter, low: SSAValue, high: SSAValue, count: int, size: int) -> SSAValue:
    """Return which places of an axis each part of a region has: regions x parts x size."""
    element, regions = element_type(low), tensor_shape(low)[0]
    one = emit.number(1, element)
    extent = emit(MaximumOp(emit(AddOp(emit(SubOp(high, low)), one)), one))
    width = emit(DivOp(extent, emit.number(count, element)))
    numbers = emit.array(np.arange(count).reshape(1, -1), element)
    start = emit(FloorOp(emit(MulOp(width, numbers))))
    end = emit(CeilOp(emit(MulOp(width, emit(AddOp(numbers, one))))))
    start, end = (
        emit.reshape(emit(AddOp(each, low)), (regions, count, 1)) for each in (start, end)
    )
    places = emit.array(np.arange(size).reshape(1, 1, -1), element)
    after = emit(CompareOp(places, start, predicate="ge"))
    return emit(BitwiseAndOp(after, emit(CompareOp(places, end, predicate="lt"))))


def _maxima_of_parts(emit: Emitter, value: SSAValue, inside: SSAValue, axis: int) -> SSAValue:
    """Return the maxima of the parts of an axis, 2 or 3, which then counts parts."""
    regions, count, size = tensor_shape(inside)
    shape = tensor_shape(value)
    behind = shape[axis + 1 :]
    spread = emit.reshape(value, (*shape[:axis], 1, size, *behind))
    ones = [1] * (axis - 1)
    mask = emit.reshape(inside, (regions, *ones, count, size, *(1 for _ in behind)))
    least = emit.number(-np.inf, element_type(value))
    return emit(ReduceMaxOp(emit(WhereOp(mask, spread, least)), axes=[axis + 1]))
