"""Pooling by the elements of each window: where positions of maxima or dilated means are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.elementwise import AddOp
from gawee_dialect.dialect.gather import GatherOp
from gawee_dialect.dialect.reduction import ArgMaxOp
from gawee_dialect.dialect.shape import CatOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import mul
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.schema import Number

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """Which elements windows have: `coordinates` is axes x kernel elements x windows."""

    sizes: tuple[int, ...]
    """Of the image."""
    outputs: tuple[int, ...]
    coordinates: Indices
    padded: Sequence[int]
    """Where the padding behind each axis ends."""

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which elements are in the image."""
        ends = np.reshape(self.sizes, (-1, 1, 1))
        return np.all((self.coordinates >= 0) & (self.coordinates < ends), axis=0)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which elements are in the image or in its padding."""
        return np.all(self.coordinates < np.reshape(self.padded, (-1, 1, 1)), axis=0)

    def flat(self, *, columns_first: bool = False) -> Indices:
        """Return positions in the image of elements that are inside, 0 for others."""
        order = range(len(self.sizes)) if not columns_first else range(len(self.sizes))[::-1]
        total = np.zeros(self.coordinates.shape[1:], np.int64)
        for axis in order:
            total = total * self.sizes[axis] + self.coordinates[axis]
        return np.where(self.inside, total, 0)

    def elements(self, emit: Emitter, x: SSAValue, outside: Number) -> SSAValue:
        """Return batch x channels x kernel elements x windows."""
        batch, channels = tensor_shape(x)[:2]
        count = prod(self.sizes)
        flat = emit.reshape(x, (batch, channels, count))
        if not self.inside.all():
            more = emit.full((batch, channels, 1), outside, element_type(x))
            flat = emit(CatOp([flat, more], dim=2))
        places = np.where(self.inside, self.flat(), count)
        return emit(GatherOp(flat, emit.array(places, i64), axis=2))

    def shaped(self, emit: Emitter, x: SSAValue, value: SSAValue) -> SSAValue:
        """Return what is batch x channels x windows as an image."""
        return emit.reshape(value, (*tensor_shape(x)[:2], *self.outputs))


def windows_of(
    sizes: tuple[int, ...],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    *,
    ceil: bool,
) -> Windows:
    """Return the windows of an image of some sizes, pads before all axes and then behind them."""
    axes: list[Indices] = []
    padded = [size + after for size, after in zip(sizes, pads[len(sizes) :], strict=True)]
    for axis, size in enumerate(sizes):
        before = pads[axis]
        room = padded[axis] + before - dilations[axis] * (kernel[axis] - 1) - 1
        count = (-(-room // strides[axis]) if ceil else room // strides[axis]) + 1
        if ceil and (count - 1) * strides[axis] >= size + before:
            count -= 1
        starts = np.arange(count) * strides[axis] - before
        axes.append(np.arange(kernel[axis])[:, None] * dilations[axis] + starts)
    rank = len(sizes)
    grids: list[Indices] = []
    for axis, each in enumerate(axes):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = each.shape
        grids.append(each.reshape(shape))
    outputs = tuple(each.shape[1] for each in axes)
    full = (*kernel, *outputs)
    coordinates = np.stack([np.broadcast_to(each, full) for each in grids])
    return Windows(sizes, outputs, coordinates.reshape(rank, prod(kernel), prod(outputs)), padded)


def maxima_places(emit: Emitter, x: SSAValue, windows: Windows, *, columns_first: bool) -> SSAValue:
    """Return where the maximum of each window is, counted in elements of the whole tensor."""
    batch, channels = tensor_shape(x)[:2]
    elements = windows.elements(emit, x, -np.inf)
    first = emit(ArgMaxOp(elements, axis=2))
    count = prod(windows.outputs)
    table = emit.array(windows.flat(columns_first=columns_first).reshape(-1), i64)
    column = emit.array(np.arange(count), i64)
    inside = emit(GatherOp(table, emit(AddOp(mul(emit, first, count), column)), axis=0))
    images = np.arange(batch * channels).reshape(batch, channels, 1) * prod(windows.sizes)
    return windows.shaped(emit, x, emit(AddOp(inside, emit.array(images, i64))))
