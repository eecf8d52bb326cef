"""Elements at positions that are computed: grids, regions, deformed windows."""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.arithmetic import (
    AbsOp,
    FloorOp,
    MaximumOp,
    MinimumOp,
    RemainderOp,
    RoundOp,
)
from gawee_dialect.dialect.bitwise import BitwiseAndOp
from gawee_dialect.dialect.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.gather import GatherNdOp
from gawee_dialect.dialect.grid_sample import GridSampleOp
from gawee_dialect.dialect.matmul import BatchMatMulOp
from gawee_dialect.dialect.scatter import ScatterElementsOp
from gawee_dialect.dialect.shape import CatOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, mul, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared, where
from gawee_dialect.frontends.onnx.ops.windows import windows_of
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Ints, KnownInts

MODES = {
    **{"linear": "linear", "bilinear": "linear", "nearest": "nearest"},
    **{"cubic": "cubic", "bicubic": "cubic"},
}
CUBIC = -0.75


def within(emit: Emitter, x: SSAValue, low: float, high: float) -> SSAValue:
    """Return positions cut to bounds."""
    element = element_type(x)
    raised = emit(MaximumOp(x, emit.number(low, element)))
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
    if padding_mode not in ("zeros", "border", "reflection"):
        raise Refusal(
            f"unsupported padding_mode '{padding_mode}'; supported: zeros, border, reflection"
        )
    sizes, kind = tensor_shape(x)[2:], MODES[mode]
    if len(sizes) == 2 and kind != "cubic" and padding_mode != "reflection":
        own = {"linear": "bilinear", "nearest": "nearest"}[kind]
        aligned = bool(align_corners)
        return emit(
            GridSampleOp(x, grid, mode=own, padding_mode=padding_mode, align_corners=aligned)
        )
    batch, *outputs, rank = tensor_shape(grid)
    sampler = Sampler(emit, x, padding_mode, aligned=bool(align_corners))
    places: list[SSAValue] = []
    for axis, size in enumerate(sizes):
        column = part(emit, grid, len(outputs) + 1, rank - 1 - axis, 1)
        flat = emit.reshape(column, (batch, prod(outputs)))
        if align_corners:
            places.append(mul(emit, add(emit, flat, 1), (size - 1) / 2))
        else:
            places.append(sub(emit, mul(emit, add(emit, flat, 1), size / 2), 0.5))
    return sampler.image(sampler.at(places, kind), outputs)


@register_op("AffineGrid")
def affine_grid(
    emit: Emitter, theta: SSAValue, size: KnownInts, align_corners: int = 0
) -> SSAValue:
    """The positions that an affine map sends those of an image to"""
    sizes = list(size)[2:]
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
