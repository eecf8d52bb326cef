"""Shapes, the order of axes, and parts of tensors."""

from collections.abc import Sequence
from functools import reduce
from math import prod

from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import RemainderOp
from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import broadcast_shape
from gawee_dialect.dialect.graph.indexing import GatherElementsOp, GatherOp
from gawee_dialect.dialect.graph.movement import CatOp, ReverseOp, TileOp
from gawee_dialect.dialect.graph.slicing import PadOp
from gawee_dialect.dialect.open_size import OpenSize, indices_of, is_open, least, number_of
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    all_promoted,
    as_element,
    axes_of,
    axis_of,
    bounds,
    common_element,
    completed,
    part,
    permuted,
    stacked,
)
from gawee_dialect.frontends.op_mapping.registry import Ints, Number, Refusal, Tensors


@register_op("aten.view.default", "aten._unsafe_view", "aten.view_copy.default")
@register_op("aten._reshape_copy")
def view(emit: Emitter, self: SSAValue, size: Ints) -> SSAValue:
    """The same elements under another shape"""
    return emit.reshape(self, completed(size, prod(tensor_shape(self))))


@register_op("aten.reshape")
def reshape(emit: Emitter, self: SSAValue, shape: Ints) -> SSAValue:
    """The same elements under another shape"""
    return view(emit, self, shape)


@register_op("aten.reshape_as", "aten.view_as")
def reshape_as(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The same elements under the shape of another tensor"""
    return emit.reshape(self, tensor_shape(other))


@register_op("aten.flatten.using_ints")
def flatten(emit: Emitter, self: SSAValue, start_dim: int = 0, end_dim: int = -1) -> SSAValue:
    """Join axes."""
    shape = tensor_shape(self) or (1,)
    start, end = axis_of(self, start_dim), axis_of(self, end_dim)
    if start > end:
        raise Refusal(f"expected start_dim ({start_dim}) not to come after end_dim ({end_dim})")
    return emit.reshape(self, (*shape[:start], prod(shape[start : end + 1]), *shape[end + 1 :]))


@register_op("aten.unflatten.int")
def unflatten(emit: Emitter, self: SSAValue, dim: int, sizes: Ints) -> SSAValue:
    """Split an axis into several."""
    shape, axis = tensor_shape(self), axis_of(self, dim)
    inner = completed(sizes, shape[axis])
    return emit.reshape(self, (*shape[:axis], *inner, *shape[axis + 1 :]))


@register_op("aten.permute", "aten.permute_copy")
def permute(emit: Emitter, self: SSAValue, dims: Ints) -> SSAValue:
    """The axes in another order"""
    return permuted(emit, self, [axis_of(self, dim) for dim in dims])


@register_op("aten.transpose.int", "aten.swapdims", "aten.transpose_copy.int")
def transpose(emit: Emitter, self: SSAValue, dim0: int, dim1: int) -> SSAValue:
    """Two axes exchanged"""
    if not tensor_shape(self):
        return self
    permutation = list(range(len(tensor_shape(self))))
    first, second = axis_of(self, dim0), axis_of(self, dim1)
    permutation[first], permutation[second] = second, first
    return permuted(emit, self, permutation)


@register_op("aten.swapaxes")
def swapaxes(emit: Emitter, self: SSAValue, axis0: int, axis1: int) -> SSAValue:
    """Two axes exchanged"""
    return transpose(emit, self, axis0, axis1)


@register_op("aten.t", "aten.numpy_T", "aten.mT", "aten.adjoint", "aten.t_copy")
def t(emit: Emitter, self: SSAValue) -> SSAValue:
    """The last two axes exchanged; vectors stay"""
    return self if len(tensor_shape(self)) < 2 else transpose(emit, self, -2, -1)


@register_op("aten.movedim.int", "aten.movedim.intlist", "aten.moveaxis.intlist")
def movedim(emit: Emitter, self: SSAValue, source: Ints, destination: Ints) -> SSAValue:
    """Axes put at other places, the rest in order around them"""
    moved = {
        axis_of(self, to): axis_of(self, at) for at, to in zip(source, destination, strict=True)
    }
    rest = iter(axis for axis in range(len(tensor_shape(self))) if axis not in moved.values())
    order = [moved[i] if i in moved else next(rest) for i in range(len(tensor_shape(self)))]
    return permuted(emit, self, order)


@register_op("aten.squeeze", "aten.squeeze_copy")
def squeeze(emit: Emitter, self: SSAValue, dim: Ints | None = None) -> SSAValue:
    """Without the given axes, or any, where they have size 1"""
    shape = tensor_shape(self)
    axes = range(len(shape)) if dim is None else {axis_of(self, each) for each in dim}
    return emit.reshape(
        self, [size for axis, size in enumerate(shape) if size != 1 or axis not in axes]
    )


@register_op("aten.unsqueeze", "aten.unsqueeze_copy")
def unsqueeze(emit: Emitter, self: SSAValue, dim: int) -> SSAValue:
    """With one more axis, of size 1"""
    shape, axis = tensor_shape(self), axis_of(self, dim, new=True)
    return emit.reshape(self, (*shape[:axis], 1, *shape[axis:]))


@register_op("aten.expand", "aten.expand_copy", "aten.broadcast_to")
def expand(emit: Emitter, self: SSAValue, size: Ints, implicit: object = False) -> SSAValue:
    """Repeat axes of size 1; -1 keeps a size."""
    shape = tensor_shape(self)
    new = len(size) - len(shape)
    if new < 0:
        raise Refusal(f"expected size of at least {len(shape)} entries, got {list(size)}")
    kept = [shape[i - new] if s == -1 and i >= new else s for i, s in enumerate(size)]
    return emit.broadcast(self, kept)


@register_op("aten.expand_as")
def expand_as(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """Repeat axes of size 1 to the shape of another tensor."""
    return emit.broadcast(self, tensor_shape(other))


@register_op("aten.broadcast_tensors")
def broadcast_tensors(emit: Emitter, tensors: Tensors) -> Tensors:
    """Repeat axes of size 1 until all tensors have one shape."""
    shape = joint_shape(tensors)
    return [emit.broadcast(each, shape) for each in tensors]


def joint_shape(tensors: Tensors) -> tuple[int, ...]:
    """Return the shape that tensors broadcast to."""
    return reduce(broadcast_shape, (tensor_shape(each) for each in tensors))


@register_op("aten.repeat")
def repeat(emit: Emitter, self: SSAValue, repeats: Ints) -> SSAValue:
    """The tensor several times along each axis"""
    shape = tensor_shape(self)
    value = emit.reshape(self, (*[1] * (len(repeats) - len(shape)), *shape))
    return value if set(repeats) <= {1} else emit(TileOp(value, repeats=repeats))


@register_op("aten.tile")
def tile(emit: Emitter, self: SSAValue, dims: Ints) -> SSAValue:
    """The tensor several times along each axis; the last axes where there are fewer numbers"""
    missing = len(tensor_shape(self)) - len(dims)
    return repeat(emit, self, [*[1] * missing, *dims])


@register_op("aten.repeat_interleave.self_int")
def repeat_interleave(
    emit: Emitter, self: SSAValue, repeats: int, dim: int | None = None, output_size: object = None
) -> SSAValue:
    """Each element several times in a row, along one axis"""
    value = flatten(emit, self) if dim is None else self
    shape, axis = tensor_shape(value), axis_of(value, dim or 0)
    once = emit.reshape(value, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    several = emit.broadcast(once, (*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return emit.reshape(several, (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))


@register_op("aten.pixel_shuffle")
def pixel_shuffle(emit: Emitter, self: SSAValue, upscale_factor: int) -> SSAValue:
    """Channels moved into height and width"""
    *lead, channels, height, width = tensor_shape(self)
    r, rank = upscale_factor, len(lead)
    split = emit.reshape(self, (*lead, channels // (r * r), r, r, height, width))
    order = [*range(rank + 1), rank + 3, rank + 1, rank + 4, rank + 2]
    shape = (*lead, channels // (r * r), height * r, width * r)
    return emit.reshape(permuted(emit, split, order), shape)


@register_op("aten.pixel_unshuffle")
def pixel_unshuffle(emit: Emitter, self: SSAValue, downscale_factor: int) -> SSAValue:
    """Blocks of height and width moved into channels"""
    *lead, channels, height, width = tensor_shape(self)
    r, rank = downscale_factor, len(lead)
    split = emit.reshape(self, (*lead, channels, height // r, r, width // r, r))
    order = [*range(rank + 1), rank + 2, rank + 4, rank + 1, rank + 3]
    shape = (*lead, channels * r * r, height // r, width // r)
    return emit.reshape(permuted(emit, split, order), shape)


@register_op("aten.channel_shuffle")
def channel_shuffle(emit: Emitter, self: SSAValue, groups: int) -> SSAValue:
    """Channels of the groups taken in turn"""
    batch, channels, *rest = tensor_shape(self)
    split = emit.reshape(self, (batch, groups, channels // groups, *rest))
    order = [0, 2, 1, *range(3, 3 + len(rest))]
    return emit.reshape(permuted(emit, split, order), tensor_shape(self))


# Tensors put together.


@register_op("aten.cat", "aten.concat", "aten.concatenate")
def cat(emit: Emitter, tensors: Tensors, dim: int = 0) -> SSAValue:
    """One after the other along an axis; of vectors without elements the type alone counts"""
    counted = [each for each in tensors if tensor_shape(each) != (0,)] or list(tensors[:1])
    if not counted:
        raise Refusal("expected at least one tensor, got none")
    axis, element = axis_of(counted[0], dim), common_element(*tensors)
    values = [as_element(emit, each, element) for each in counted]
    return values[0] if len(values) == 1 else emit(CatOp(values, dim=axis))


@register_op("aten.stack")
def stack(emit: Emitter, tensors: Tensors, dim: int = 0) -> SSAValue:
    """Along a new axis"""
    if not tensors:
        raise Refusal("expected at least one tensor, got none")
    axis = axis_of(tensors[0], dim, new=True)
    return stacked(emit, all_promoted(emit, tensors), axis)


@register_op("aten.hstack")
def hstack(emit: Emitter, tensors: Tensors) -> SSAValue:
    """Along the second axis, vectors along their only one"""
    return cat(emit, tensors, 0 if len(tensor_shape(tensors[0])) <= 1 else 1)


@register_op("aten.meshgrid", "aten.meshgrid.indexing")
def meshgrid(emit: Emitter, tensors: Tensors, indexing: str = "ij") -> Sequence[SSAValue]:
    """Each vector along an axis of its own, repeated along the others"""
    if indexing not in ("ij", "xy"):
        raise Refusal(f"unsupported indexing '{indexing}'; supported: ij, xy")
    rank = len(tensors)
    axes = list(range(rank))
    if indexing == "xy" and rank >= 2:
        axes[:2] = [1, 0]
    sizes = [(tensor_shape(each) or (1,))[0] for each in tensors]
    shape = [1] * rank
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    grids: list[SSAValue] = []
    for tensor, axis, size in zip(tensors, axes, sizes, strict=True):
        alone = [size if each == axis else 1 for each in range(rank)]
        grids.append(emit.broadcast(emit.reshape(tensor, alone), shape))
    return grids


def slice_bounds(size: int, start: int | None, end: int | None, step: int) -> tuple[int, int]:
    """Return the first position that a slice takes of an axis, and how many."""
    if step < 1:
        raise Refusal(f"expected step of at least 1, got {step}")
    return bounds(size, start, end, step)


@register_op("aten.slice.Tensor", "aten.slice_copy.Tensor")
def slice_tensor(
    emit: Emitter,
    self: SSAValue,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> SSAValue:
    """A part of one axis"""
    axis = axis_of(self, dim)
    first, count = slice_bounds(tensor_shape(self)[axis], start, end, step)
    return part(emit, self, axis, first, count, step)


@register_op("aten.narrow.default", "aten.narrow_copy")
def narrow(emit: Emitter, self: SSAValue, dim: int, start: int, length: int) -> SSAValue:
    """A part of one axis"""
    axis = axis_of(self, dim)
    return part(emit, self, axis, start % max(tensor_shape(self)[axis], 1), length)


@register_op("aten.select.int", "aten.select_copy.int")
def select(emit: Emitter, self: SSAValue, dim: int, index: int) -> SSAValue:
    """One position of an axis, which then is gone"""
    shape, axis = tensor_shape(self), axis_of(self, dim)
    if not shape or not -shape[axis] <= index < shape[axis]:
        raise Refusal(f"expected index {index} to be in an axis of {shape[axis] if shape else 0}")
    taken = part(emit, self, axis, index % shape[axis], 1)
    return emit.reshape(taken, (*shape[:axis], *shape[axis + 1 :]))


@register_op("aten.split_with_sizes", "aten.split_with_sizes_copy")
def split_with_sizes(
    emit: Emitter, self: SSAValue, split_sizes: Ints, dim: int = 0
) -> Sequence[SSAValue]:
    """Parts of the given sizes along an axis"""
    axis, parts, start = axis_of(self, dim), list[SSAValue](), 0
    if sum(split_sizes) != tensor_shape(self)[axis]:
        raise Refusal(
            f"expected split_sizes {list(split_sizes)} to add up to {tensor_shape(self)[axis]}"
        )
    for size in split_sizes:
        parts.append(part(emit, self, axis, start, size))
        start += size
    return parts


@register_op("aten.split.sizes")
def split_sizes(
    emit: Emitter, self: SSAValue, split_size: Ints, dim: int = 0
) -> Sequence[SSAValue]:
    """Parts of the given sizes along an axis"""
    return split_with_sizes(emit, self, split_size, dim)


@register_op("aten.split.Tensor", "aten.split_copy.Tensor")
def split(emit: Emitter, self: SSAValue, split_size: int, dim: int = 0) -> Sequence[SSAValue]:
    """Parts of one size along an axis; the last may be smaller"""
    total = number_of(tensor_shape(self)[axis_of(self, dim)])
    if split_size < 1:
        raise Refusal(f"expected split_size of at least 1, got {split_size}")
    sizes = [min(split_size, total - start) for start in range(0, total, split_size)]
    return split_with_sizes(emit, self, sizes or [0], dim)


@register_op("aten.chunk", "aten.unsafe_chunk")
def chunk(emit: Emitter, self: SSAValue, chunks: int, dim: int = 0) -> Sequence[SSAValue]:
    """At most so many parts along an axis, all but the last of one size"""
    total = tensor_shape(self)[axis_of(self, dim)]
    return split(emit, self, max(-(-total // chunks), 1), dim)


@register_op("aten.tensor_split.sections")
def tensor_split(emit: Emitter, self: SSAValue, sections: int, dim: int = 0) -> Sequence[SSAValue]:
    """Just so many parts along an axis, the first ones larger by one where it does not divide"""
    size, larger = divmod(tensor_shape(self)[axis_of(self, dim)], sections)
    sizes = [size + 1 if index < larger else size for index in range(sections)]
    return split_with_sizes(emit, self, sizes, dim)


@register_op("aten.unbind.int", "aten.unbind_copy.int")
def unbind(emit: Emitter, self: SSAValue, dim: int = 0) -> Sequence[SSAValue]:
    """Every position of an axis, without it"""
    size = tensor_shape(self)[axis_of(self, dim)]
    return [select(emit, self, dim, index) for index in indices_of(size)]


@register_op("aten.diagonal", "aten.diagonal_copy")
def diagonal(
    emit: Emitter, self: SSAValue, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> SSAValue:
    """A diagonal of two axes, along a new last axis; above the main one by the offset"""
    columns = tensor_shape(self)[axis_of(self, dim2)]
    if isinstance(columns, OpenSize):
        return _diagonal_of_open(emit, self, offset, axis_of(self, dim1), axis_of(self, dim2))
    flat, _, (start, count, step) = around_diagonal(emit, self, offset, dim1, dim2)
    return part(emit, flat, len(tensor_shape(flat)) - 1, start, count, step)


def _diagonal_of_open(
    emit: Emitter, self: SSAValue, offset: int, first: int, second: int
) -> SSAValue:
    """Return a diagonal whose elements are an open number of columns apart."""
    order = [axis for axis in range(len(tensor_shape(self))) if axis not in (first, second)]
    value = permuted(emit, self, [*order, first, second])
    *lead, rows, columns = tensor_shape(value)
    above, below = max(offset, 0), max(-offset, 0)
    count = max(min(rows - below, columns - above), 0)
    value = part(emit, value, len(lead), below, count)
    place = emit(IotaOp(TensorType(i64, [*lead, count, 1]), axis=len(lead)))
    place = add(emit, place, above) if above else place
    return emit.reshape(emit(GatherElementsOp(value, place, axis=len(lead) + 1)), (*lead, count))


def around_diagonal(
    emit: Emitter, self: SSAValue, offset: int, dim1: int, dim2: int
) -> tuple[SSAValue, list[int], tuple[int, int, int]]:
    """Return a tensor with two axes as its last one, and where a diagonal of them is in that.

    Also the order of axes with those two last; the place is a start, a count and a step.
    """
    first, second = axis_of(self, dim1), axis_of(self, dim2)
    order = [axis for axis in range(len(tensor_shape(self))) if axis not in (first, second)]
    order += [first, second]
    value = permuted(emit, self, order)
    *lead, rows, columns = tensor_shape(value)
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    flat = emit.reshape(value, (*lead, rows * columns))
    start = (offset if offset >= 0 else -offset * columns) if count else 0
    return flat, order, (start, count, columns + 1)


def halves(emit: Emitter, value: SSAValue, dim: int) -> Sequence[SSAValue]:
    """Return the two halves of an axis; raises Refusal where its size is odd."""
    size = tensor_shape(value)[axis_of(value, dim)]
    if size % 2 != 0:
        raise Refusal(f"expected an even size of axis {dim}, got {size}")
    return split(emit, value, size // 2, dim)


@register_op("aten.flip")
def flip(emit: Emitter, self: SSAValue, dims: Ints) -> SSAValue:
    """Axes from their end to their start"""
    axes = axes_of(self, dims) if dims else []
    return emit(ReverseOp(self, axes=axes)) if axes else self


@register_op("aten.roll")
def roll(emit: Emitter, self: SSAValue, shifts: Ints, dims: Ints = ()) -> SSAValue:
    """Axes moved on, what leaves at the end coming in at the start; all elements without dims"""
    if not dims:
        flat = roll(emit, flatten(emit, self), shifts, [0])
        return emit.reshape(flat, tensor_shape(self))
    value = self
    for shift, dim in zip(shifts, dims, strict=True):
        axis = axis_of(value, dim)
        size = tensor_shape(value)[axis]
        if isinstance(size, OpenSize) and abs(shift) >= least(size):
            value = _rolled(emit, value, shift, axis)
            continue
        if isinstance(size, OpenSize):
            head = -shift if shift <= 0 else size - shift
        else:
            head = size - shift % size if size else 0
        if head not in (0, size):
            parts = split_with_sizes(emit, value, [head, size - head], axis)
            value = emit(CatOp([parts[1], parts[0]], dim=axis))
    return value


def _rolled(emit: Emitter, value: SSAValue, shift: int, axis: int) -> SSAValue:
    """Move an axis on by no less than its size may be: by the rest of a division at run time."""
    size = tensor_shape(value)[axis]
    place = emit(IotaOp(TensorType(i64, [size]), axis=0))
    source = emit(RemainderOp(sub(emit, place, shift), as_element(emit, size, i64)))
    return emit(GatherOp(value, source, axis=axis))


@register_op("aten.diff")
def diff(
    emit: Emitter,
    self: SSAValue,
    n: int = 1,
    dim: int = -1,
    prepend: SSAValue | None = None,
    append: SSAValue | None = None,
) -> SSAValue:
    """Each element minus the one before it, n times"""
    axis = axis_of(self, dim)
    around = [each for each in (prepend, self, append) if each is not None]
    value = emit(CatOp(around, dim=axis)) if len(around) > 1 else self
    for _ in range(n):
        size = tensor_shape(value)[axis]
        later = part(emit, value, axis, 1, size - 1)
        value = difference(emit, later, part(emit, value, axis, 0, size - 1))
    return value


def difference(emit: Emitter, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return lhs - rhs; of booleans whether they differ."""
    return compared(emit, lhs, rhs, "ne") if element_type(lhs) == i1 else sub(emit, lhs, rhs)


@register_op("aten.unfold")
def unfold(emit: Emitter, self: SSAValue, dimension: int, size: int, step: int) -> SSAValue:
    """Windows of an axis, their elements along a new last axis"""
    axis, shape = axis_of(self, dimension), tensor_shape(self)
    count = (shape[axis] - size) // step + 1
    positions = [part(emit, self, axis, offset, count, step) for offset in indices_of(size)]
    with_axis = [emit.reshape(each, (*tensor_shape(each), 1)) for each in positions]
    return emit(CatOp(with_axis, dim=len(shape)))


# Padding.

MODES = ("constant", "reflect", "replicate", "circular")


def padded(emit: Emitter, value: SSAValue, pad: Ints, mode: str, fill: Number) -> SSAValue:
    """Pad; `pad` has (before, after) of the last axis first, then of the one before it."""
    rank = len(tensor_shape(value))
    if len(pad) % 2 != 0 or len(pad) > 2 * rank:
        raise Refusal(f"expected an even number of pads up to {2 * rank}, got {list(pad)}")
    if all(each == 0 for each in pad):  # an open size is never equal to it
        return value
    if is_open(pad):
        return _surrounded(emit, value, pad, mode, fill)
    low, high = [0] * rank, [0] * rank
    for index in range(len(pad) // 2):
        low[rank - 1 - index], high[rank - 1 - index] = pad[2 * index], pad[2 * index + 1]
    return emit(PadOp(value, low=low, high=high, mode=mode, value=fill))


def _surrounded(emit: Emitter, value: SSAValue, pad: Ints, mode: str, fill: Number) -> SSAValue:
    """Pad by amounts that are open: with tensors of one value before and after."""
    if mode != "constant" or any(least(each) < 0 for each in pad):
        kinds = "numbers, or of one value and not negative"
        raise Refusal(f"expected pads that are {kinds}, got {[*map(str, pad)]} in mode '{mode}'")
    last = len(tensor_shape(value)) - 1
    for index in range(len(pad) // 2):
        axis, shape = last - index, tensor_shape(value)
        before, after = (
            [emit.full((*shape[:axis], each, *shape[axis + 1 :]), fill, element_type(value))]
            if each != 0
            else []
            for each in pad[2 * index : 2 * index + 2]
        )
        if before or after:
            value = emit(CatOp([*before, value, *after], dim=axis))
    return value


@register_op("aten.pad")
def pad(
    emit: Emitter,
    self: SSAValue,
    pad: Ints,
    mode: str = "constant",
    value: float | None = None,
) -> SSAValue:
    """Pad by a mode."""
    if mode not in MODES:
        raise Refusal(f"unsupported mode '{mode}'; supported: {', '.join(MODES)}")
    return padded(emit, self, pad, mode, 0.0 if value is None else value)


@register_op("aten.constant_pad_nd")
def constant_pad(emit: Emitter, self: SSAValue, pad: Ints, value: Number = 0) -> SSAValue:
    """Pad with one value; negative numbers cut off."""
    return padded(emit, self, pad, "constant", value)


@register_op("aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d")
def reflection_pad(emit: Emitter, self: SSAValue, padding: Ints) -> SSAValue:
    """Pad with the mirror image, without the border itself."""
    return padded(emit, self, padding, "reflect", 0)


@register_op("aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d")
def replication_pad(emit: Emitter, self: SSAValue, padding: Ints) -> SSAValue:
    """Pad with the border."""
    return padded(emit, self, padding, "replicate", 0)


@register_op("aten._pad_circular")
def circular_pad(emit: Emitter, self: SSAValue, pad: Ints) -> SSAValue:
    """Pad with the other end."""
    return padded(emit, self, pad, "circular", 0)
