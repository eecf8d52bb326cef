"""Shapes, and the order of elements."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.constant import IotaOp, TriOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.logic import WhereOp
from gawee_dialect.dialect.graph.movement import CatOp, IdentityOp, ReshapeOp, ReverseOp, TileOp
from gawee_dialect.dialect.graph.normalization import GroupNormOp
from gawee_dialect.dialect.graph.order import TopKOp
from gawee_dialect.dialect.graph.slicing import PadOp, SliceOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import element_type, is_unsigned, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.onnx.ops.reduction import of_groups
from gawee_dialect.frontends.onnx.registry import check_size, register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    axis_of,
    bounds,
    compared,
    completed,
    part,
    permuted,
    stacked,
    where,
)
from gawee_dialect.frontends.op_mapping.registry import (
    Ints,
    KnownArray,
    KnownArrayOrNone,
    KnownInts,
    KnownIntsOrNone,
    KnownNumberOrNone,
    Refusal,
    Tensors,
)


@register_op("OptionalHasElement")
def optional_has_element(emit: Emitter, input: SSAValue | None = None) -> SSAValue:
    """Whether there is a tensor, which is known when the graph is read"""
    return emit.number(input is not None, i1)


@register_op("Identity", "OptionalGetElement")
def identity(emit: Emitter, input: SSAValue) -> SSAValue:
    """The tensor itself"""
    return emit(IdentityOp(input))


@register_op("Reshape")
def reshape(emit: Emitter, data: SSAValue, shape: KnownInts, allowzero: int = 0) -> SSAValue:
    """Another shape; 0 keeps a size, -1 is what is left"""
    old = tensor_shape(data)
    if not allowzero and any(size == 0 and i >= len(old) for i, size in enumerate(shape)):
        raise Refusal(f"expected shape to keep one of {len(old)} sizes, got {list(shape)}")
    sizes = [old[i] if size == 0 and not allowzero else size for i, size in enumerate(shape)]
    sizes = completed(sizes, prod(old))
    whole = of_groups(emit, data.owner, sizes) if isinstance(data.owner, GroupNormOp) else None
    return emit.reshape(data, sizes) if whole is None else whole


@register_op("Flatten")
def flatten(emit: Emitter, input: SSAValue, axis: int = 1) -> SSAValue:
    """A matrix: the axes before one, and those from it on"""
    shape = tensor_shape(input)
    split = axis + len(shape) if axis < 0 else axis
    if not 0 <= split <= len(shape):
        raise Refusal(f"expected axis from {-len(shape)} to {len(shape)}, got {axis}")
    return emit.reshape(input, (prod(shape[:split]), prod(shape[split:])))


@register_op("Squeeze")
def squeeze(emit: Emitter, data: SSAValue, axes: KnownIntsOrNone = None) -> SSAValue:
    """Without axes of size 1"""
    shape = tensor_shape(data)
    ones = [i for i, size in enumerate(shape) if size == 1]
    gone = ones if axes is None else [axis_of(data, axis) for axis in axes]
    if any([*shape[axis : axis + 1]] != [1] for axis in gone):
        raise Refusal(f"expected axes of size 1, got {list(gone)} of {list(shape)}")
    return emit.reshape(data, [size for i, size in enumerate(shape) if i not in gone])


@register_op("Unsqueeze")
def unsqueeze(emit: Emitter, data: SSAValue, axes: KnownInts) -> SSAValue:
    """With axes of size 1 put in"""
    rank = len(tensor_shape(data)) + len(axes)
    if len({axis % rank for axis in axes}) != len(axes) or not all(
        -rank <= axis < rank for axis in axes
    ):
        raise Refusal(f"expected axes that differ, from {-rank} to {rank - 1}, got {list(axes)}")
    new = {axis % rank for axis in axes}
    sizes = iter(tensor_shape(data))
    return emit.reshape(data, [1 if axis in new else next(sizes) for axis in range(rank)])


@register_op("Transpose")
def transpose(emit: Emitter, data: SSAValue, perm: Ints | None = None) -> SSAValue:
    """Axes in another order, reversed by default"""
    axes = list(range(len(tensor_shape(data))))
    order = axes[::-1] if perm is None else list(perm)
    if sorted(order) != axes:
        raise Refusal(f"expected perm to order {len(axes)} axes, got {order}")
    return permuted(emit, data, order)


@register_op("Concat")
def concat(emit: Emitter, inputs: Tensors, axis: int = 1) -> SSAValue:
    """Tensors one after the other along an axis"""
    at = axis_of(inputs[0], axis)
    rows = [each for each in (_without_axis(value, at) for value in inputs) if each is not None]
    if 1 < len(rows) == len(inputs):
        return stacked(emit, rows, at)
    return emit(CatOp(inputs, dim=at))


def _without_axis(value: SSAValue, axis: int) -> SSAValue | None:
    """Return what a tensor is with an axis of size 1 put in; None where it is nothing such."""
    view, shape = value.owner, tensor_shape(value)
    if not isinstance(view, ReshapeOp) or shape[axis] != 1:
        return None
    fits = tensor_shape(view.input) == (*shape[:axis], *shape[axis + 1 :])
    return view.input if fits else None


@register_op("Expand")
def expand(emit: Emitter, input: SSAValue, shape: KnownInts) -> SSAValue:
    """Repeated to a shape, by NumPy's rule in both directions"""
    sizes = list(tensor_shape(input))
    wanted = list(shape)
    rank = max(len(sizes), len(wanted))
    sizes = [1] * (rank - len(sizes)) + sizes
    wanted = [1] * (rank - len(wanted)) + wanted
    whole = [w if s == 1 else s for s, w in zip(sizes, wanted, strict=True)]
    return emit.broadcast(input, whole)


@register_op("Tile")
def tile(emit: Emitter, input: SSAValue, repeats: KnownInts) -> SSAValue:
    """Repeated along each axis"""
    return emit(TileOp(input, repeats=list(repeats)))


@register_op("DepthToSpace")
def depth_to_space(emit: Emitter, input: SSAValue, blocksize: int, mode: str = "DCR") -> SSAValue:
    """Channels as blocks of pixels"""
    n, c, h, w = _image(input)
    b = blocksize
    if c % (b * b):
        raise Refusal(f"expected channels ({c}) to be a multiple of blocksize squared ({b * b})")
    if mode == "DCR":
        parts, order = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        parts, order = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    moved = permuted(emit, emit.reshape(input, parts), order)
    return emit.reshape(moved, (n, c // (b * b), h * b, w * b))


@register_op("SpaceToDepth")
def space_to_depth(emit: Emitter, input: SSAValue, blocksize: int) -> SSAValue:
    """Blocks of pixels as channels"""
    n, c, h, w = _image(input)
    b = blocksize
    parts = emit.reshape(input, (n, c, h // b, b, w // b, b))
    moved = permuted(emit, parts, (0, 3, 5, 1, 2, 4))
    return emit.reshape(moved, (n, c * b * b, h // b, w // b))


def _image(input: SSAValue) -> tuple[int, int, int, int]:
    shape = tensor_shape(input)
    if len(shape) != 4:
        raise Refusal(f"expected input of rank 4, got {len(shape)}")
    return shape[0], shape[1], shape[2], shape[3]


# Parts of tensors, and padding.


@register_op("Slice")
def slice_ranges(
    emit: Emitter,
    data: SSAValue,
    starts: KnownInts,
    ends: KnownInts,
    axes: KnownIntsOrNone = None,
    steps: KnownIntsOrNone = None,
) -> SSAValue:
    """Ranges of some axes, with steps of either sign"""
    chosen = list(range(len(starts))) if axes is None else list(axes)
    every = [1] * len(starts) if steps is None else list(steps)
    for axis, start, end, step in zip(chosen, starts, ends, every, strict=True):
        data = _range(emit, data, axis_of(data, axis), (start, end, step))
    return data


def _range(emit: Emitter, data: SSAValue, axis: int, wanted: tuple[int, int, int]) -> SSAValue:
    start, end, step = wanted
    if step == 0:
        raise Refusal("expected steps other than 0, got 0")
    size = tensor_shape(data)[axis]
    if step > 0:
        return part(emit, data, axis, *bounds(size, start, end, step), step)
    if is_open((size, start, end)):
        if step != -1 or start not in (-1, size - 1) or end >= -size:
            raise Refusal(f"expected a step of at least 1, or all of an axis of open size '{size}'")
        return emit(ReverseOp(data, axes=[axis]))
    taken = range(*slice(start, None if end < -size else end, step).indices(size))
    if not len(taken):
        return part(emit, data, axis, 0, 0, 1)
    backwards = part(emit, data, axis, taken[-1], len(taken), -step)
    return emit(ReverseOp(backwards, axes=[axis]))


@register_op("Split")
def split(
    emit: Emitter,
    input: SSAValue,
    split: KnownIntsOrNone = None,
    axis: int = 0,
    num_outputs: int | None = None,
) -> Sequence[SSAValue]:
    """Parts one after the other along an axis: of given sizes, or as equal as they can be"""
    at = axis_of(input, axis)
    size = tensor_shape(input)[at]
    if split is None:
        count = emit.outputs if num_outputs is None else num_outputs
        each = -(-size // count)
        split = [each] * (count - 1) + [size - each * (count - 1)]
    if sum(split) != size or min(split, default=0) < 0:
        raise Refusal(f"expected split to add up to {size}, got {list(split)}")
    starts = [sum(split[:index]) for index in range(len(split))]
    return [
        part(emit, input, at, start, length) for start, length in zip(starts, split, strict=True)
    ]


def padded(emit: Emitter, data: SSAValue, pads: Sequence[int], mode: str, value: float) -> SSAValue:
    """Return a tensor padded before and after each axis; negative numbers cut."""
    shape = tensor_shape(data)
    low, high = list(pads[: len(shape)]), list(pads[len(shape) :])
    offsets = [max(-each, 0) for each in low]
    sizes = [
        size - offset - max(-after, 0)
        for size, offset, after in zip(shape, offsets, high, strict=True)
    ]
    if any(offsets) or tuple(sizes) != shape:
        data = emit(SliceOp(data, offsets=offsets, sizes=sizes))
    low, high = [max(each, 0) for each in low], [max(each, 0) for each in high]
    return emit(PadOp(data, low=low, high=high, mode=PAD_MODES[mode], value=value))


PAD_MODES = {
    **{"constant": "constant", "reflect": "reflect"},
    **{"edge": "replicate", "wrap": "circular"},
}
"""ONNX's names of how a tensor goes on beyond its edges, and this dialect's."""


@register_op("Pad", since=11)
def pad(
    emit: Emitter,
    data: SSAValue,
    pads: KnownInts,
    constant_value: KnownNumberOrNone = None,
    axes: KnownIntsOrNone = None,
    mode: str = "constant",
) -> SSAValue:
    """Elements put around: one value, the edge, a reflection, or the other side"""
    rank = len(tensor_shape(data))
    chosen = list(range(rank)) if axes is None else [axis_of(data, axis) for axis in axes]
    if len(pads) != 2 * len(chosen):
        raise Refusal(f"expected pads of {2 * len(chosen)} entries, got {list(pads)}")
    if mode not in PAD_MODES:
        raise Refusal(f"unsupported mode '{mode}'; supported: {', '.join(PAD_MODES)}")
    every = [0] * (2 * rank)
    for index, axis in enumerate(chosen):
        every[axis], every[rank + axis] = pads[index], pads[len(chosen) + index]
    return padded(emit, data, every, mode, float(constant_value or 0))


@register_op("Pad")
def pad_attributes(
    emit: Emitter, data: SSAValue, pads: Ints, mode: str = "constant", value: float = 0.0
) -> SSAValue:
    """Pads that are attributes, before opset 11"""
    return pad(emit, data, pads, value, None, mode)


@register_op("Trilu")
def trilu(emit: Emitter, input: SSAValue, k: KnownNumberOrNone = None, upper: int = 1) -> SSAValue:
    """The upper or the lower triangle of matrices"""
    return emit(TriOp(input, upper=bool(upper), diagonal=int(k or 0)))


@register_op("TopK")
def top_k(
    emit: Emitter,
    x: SSAValue,
    k: KnownInts,
    axis: int = -1,
    largest: int = 1,
    sorted: int = 1,
) -> Sequence[SSAValue]:
    """The largest or smallest elements of each row, and where they are"""
    return emit.all(TopKOp(x, k=k[0], axis=axis_of(x, axis), largest=bool(largest)))


@register_op("CenterCropPad")
def center_crop_pad(
    emit: Emitter, input_data: SSAValue, shape: KnownInts, axes: Ints | None = None
) -> SSAValue:
    """Cut or padded with zeros around the middle to a shape"""
    rank = len(tensor_shape(input_data))
    chosen = list(range(rank)) if axes is None else [axis_of(input_data, a) for a in axes]
    if len(shape) != len(chosen):
        raise Refusal(f"expected a size of each of {len(chosen)} axes, got {list(shape)}")
    pads = [0] * (2 * rank)
    for axis, wanted in zip(chosen, shape, strict=True):
        size = tensor_shape(input_data)[axis]
        if wanted >= size:
            pads[axis], missing = (wanted - size) // 2, wanted - size
            pads[rank + axis] = missing - pads[axis]
        else:
            start = (size - wanted) // 2
            pads[axis], pads[rank + axis] = -start, -(size - wanted - start)
    return padded(emit, input_data, pads, "constant", 0)


# Elements by their positions, which count from the end where they are negative.


@register_op("Gather")
def gather(emit: Emitter, data: SSAValue, indices: SSAValue, axis: int = 0) -> SSAValue:
    """Slices of an axis"""
    return emit(GatherOp(data, indices, axis=axis_of(data, axis)))


@register_op("GatherElements")
def gather_elements(emit: Emitter, data: SSAValue, indices: SSAValue, axis: int = 0) -> SSAValue:
    """Elements of an axis, each place its own"""
    return emit(GatherElementsOp(data, indices, axis=axis_of(data, axis)))


@register_op("GatherND")
def gather_nd(emit: Emitter, data: SSAValue, indices: SSAValue, batch_dims: int = 0) -> SSAValue:
    """Slices by positions of several axes"""
    return emit(GatherNdOp(data, indices, batch_dims=batch_dims))


def _check(reduction: str) -> None:
    names = ScatterElementsOp.REDUCTIONS
    if reduction not in names:
        raise Refusal(f"unsupported reduction '{reduction}'; supported: {', '.join(names)}")


def _combined(
    emit: Emitter,
    make: Callable[[SSAValue, SSAValue], SSAValue],
    data: SSAValue,
    updates: SSAValue,
    reduction: str,
) -> SSAValue:
    """Scatter; with a reduction of what has no order, as integers that do."""
    element = element_type(data)
    if reduction == "none" or not (is_unsigned(element) or element == i1):
        return make(data, updates)
    return emit.cast(make(emit.cast(data, i64), emit.cast(updates, i64)), element)


@register_op("ScatterElements", "Scatter")
def scatter_elements(
    emit: Emitter,
    data: SSAValue,
    indices: SSAValue,
    updates: SSAValue,
    axis: int = 0,
    reduction: str = "none",
) -> SSAValue:
    """Elements put at places of an axis"""
    _check(reduction)
    at = axis_of(data, axis)

    def make(data: SSAValue, updates: SSAValue) -> SSAValue:
        return emit(ScatterElementsOp(data, indices, updates, axis=at, reduction=reduction))

    return _combined(emit, make, data, updates, reduction)


@register_op("ScatterND")
def scatter_nd(
    emit: Emitter,
    data: SSAValue,
    indices: SSAValue,
    updates: SSAValue,
    reduction: str = "none",
) -> SSAValue:
    """Slices put at places of several axes"""
    _check(reduction)

    def make(data: SSAValue, updates: SSAValue) -> SSAValue:
        return emit(ScatterNdOp(data, indices, updates, reduction=reduction))

    return _combined(emit, make, data, updates, reduction)


@register_op("Compress")
def compress(
    emit: Emitter, input: SSAValue, condition: KnownArrayOrNone = None, axis: int | None = None
) -> SSAValue:
    """The slices of an axis for which a known condition holds"""

    if condition is None:
        raise Refusal("expected argument 'condition', got none")
    if axis is None:
        input, axis = emit.reshape(input, (prod(tensor_shape(input)),)), 0
    places = emit.array(np.flatnonzero(condition).astype(np.int64), i64)
    return emit(GatherOp(input, places, axis=axis_of(input, axis)))


@register_op("OneHot")
def one_hot(
    emit: Emitter, indices: SSAValue, depth: KnownArray, values: SSAValue, axis: int = -1
) -> SSAValue:
    """One value at the positions, another one elsewhere"""
    shape = list(tensor_shape(indices))
    at = axis_of(indices, axis, new=True)
    count = int(depth.item())
    whole = (*shape[:at], count, *shape[at:])
    from_start = where(emit, compared(emit, indices, 0, "lt"), add(emit, indices, count), indices)
    places = emit.cast(from_start, i64)
    spread = emit.reshape(places, (*shape[:at], 1, *shape[at:]))
    iota = emit(IotaOp(TensorType(i64, whole), at))
    hit = compared(emit, iota, spread, "eq")
    off, on = (part(emit, values, 0, index, 1) for index in (0, 1))
    return emit(WhereOp(hit, on, off))


@register_op("ReverseSequence")
def reverse_sequence(
    emit: Emitter,
    input: SSAValue,
    sequence_lens: KnownInts,
    batch_axis: int = 1,
    time_axis: int = 0,
) -> SSAValue:
    """The beginning of each sequence, of a known length, backwards"""

    shape = tensor_shape(input)
    if batch_axis == time_axis or len(sequence_lens) != shape[batch_axis]:
        text = "expected axes of batch and time that differ, and a length of each sequence"
        raise Refusal(f"{text}, got {len(sequence_lens)} lengths of {shape_text(shape)}")
    check_size(prod(shape))
    time = np.arange(shape[time_axis])
    rows = [np.where(time < length, length - 1 - time, time) for length in sequence_lens]
    table = np.stack(rows, axis=1 if batch_axis > time_axis else 0)
    outside = [1] * len(shape)
    outside[batch_axis], outside[time_axis] = shape[batch_axis], shape[time_axis]
    places = np.broadcast_to(table.reshape(outside), shape).astype(np.int64)
    return emit(GatherElementsOp(input, emit.array(places.copy(), i64), axis=time_axis))
