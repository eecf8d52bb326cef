"""Parts of tensors, and padding."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arrangement import ReverseOp
from gawee_dialect.dialect.graph.order import TopKOp
from gawee_dialect.dialect.graph.position import TriOp
from gawee_dialect.dialect.graph.slicing import PadOp, SliceOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import bounds, part
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import (
    Ints,
    KnownInts,
    KnownIntsOrNone,
    KnownNumberOrNone,
)


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
