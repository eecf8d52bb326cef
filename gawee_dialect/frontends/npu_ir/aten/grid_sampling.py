"""Images and volumes sampled at the positions of a grid.

What `gawee.grid_sample` has no mode for is written out: one gather for each neighbour of a
position, weighed and added up.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import (
    AbsOp,
    FloorOp,
    MaximumOp,
    MinimumOp,
    RemainderOp,
    RoundOp,
)
from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.gather import GatherNdOp
from gawee_dialect.dialect.graph.grid_sample import GridSampleOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, mul, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared, where
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.slicing import select
from gawee_dialect.frontends.op_mapping.emitter import Emitter, permuted
from gawee_dialect.frontends.op_mapping.registry import Refusal

INTERPOLATIONS = ("linear", "nearest", "cubic")
PADDINGS = ("zeros", "border", "reflection")
"""As PyTorch numbers them."""

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
