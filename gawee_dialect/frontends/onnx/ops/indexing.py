"""Elements by their positions."""

from collections.abc import Callable
from math import prod

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.comparison import CompareOp, WhereOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.elementwise import AddOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.types import element_type, is_unsigned, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.npu_ir.aten.comparison import compared, where
from gawee_dialect.frontends.onnx.argument_rules import check_size
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import (
    KnownArray,
    KnownArrayOrNone,
    KnownInts,
)


def counts_from_start(indices: SSAValue) -> bool:
    """Whether positions are known not to be negative: constants, and what `from_start` makes."""
    match indices.owner:
        case ConstantOp() as constant:
            return min(array_of(constant.value).reshape(-1).tolist(), default=0) >= 0
        case WhereOp(condition=condition, lhs=lhs, rhs=rhs) if isinstance(lhs.owner, AddOp):
            test = condition.owner
            return isinstance(test, CompareOp) and test.lhs is rhs and lhs.owner.lhs is rhs
        case _:
            return False


def from_start(emit: Emitter, indices: SSAValue, size: int) -> SSAValue:
    """Return positions counted from the start; negative ones count from the end."""
    if counts_from_start(indices):
        return indices
    return where(emit, compared(emit, indices, 0, "lt"), add(emit, indices, size), indices)


def _part_of_axis(emit: Emitter, data: SSAValue, indices: SSAValue, axis: int) -> SSAValue | None:
    """Return what positions in a row that are known pick, as a slice; None for any others."""
    if not isinstance(indices.owner, ConstantOp):
        return None
    shape, places = tensor_shape(data), array_of(indices.owner.value)
    if places.ndim > 1 or not places.size or not shape[axis]:
        return None
    first = int(places.reshape(-1)[0])
    last = first + places.size - 1
    in_a_row = (places.reshape(-1) == np.arange(first, last + 1)).all()
    if not in_a_row or first < -shape[axis] or last >= (0 if first < 0 else shape[axis]):
        return None
    taken = part(emit, data, axis, first % shape[axis], places.size)
    return emit.reshape(taken, (*shape[:axis], *places.shape, *shape[axis + 1 :]))


@register_op("Gather")
def gather(emit: Emitter, data: SSAValue, indices: SSAValue, axis: int = 0) -> SSAValue:
    """Slices of an axis"""
    at = axis_of(data, axis)
    known = _part_of_axis(emit, data, indices, at)
    if known is not None:
        return known
    places = from_start(emit, indices, tensor_shape(data)[at])
    return emit(GatherOp(data, places, axis=at))


@register_op("GatherElements")
def gather_elements(emit: Emitter, data: SSAValue, indices: SSAValue, axis: int = 0) -> SSAValue:
    """Elements of an axis, each place its own"""
    at = axis_of(data, axis)
    places = from_start(emit, indices, tensor_shape(data)[at])
    return emit(GatherElementsOp(data, places, axis=at))


def _from_starts(emit: Emitter, data: SSAValue, indices: SSAValue, batch_dims: int = 0) -> SSAValue:
    if counts_from_start(indices):
        return indices
    depth = tensor_shape(indices)[-1]
    sizes = tensor_shape(data)[batch_dims : batch_dims + depth]
    row = emit.array(np.asarray(sizes, np.int64), element_type(indices))
    negative = compared(emit, indices, 0, "lt")
    return emit(WhereOp(negative, emit(AddOp(indices, row)), indices))


@register_op("GatherND")
def gather_nd(emit: Emitter, data: SSAValue, indices: SSAValue, batch_dims: int = 0) -> SSAValue:
    """Slices by positions of several axes"""
    places = _from_starts(emit, data, indices, batch_dims)
    return emit(GatherNdOp(data, places, batch_dims=batch_dims))


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
    places = from_start(emit, indices, tensor_shape(data)[at])

    def make(data: SSAValue, updates: SSAValue) -> SSAValue:
        return emit(ScatterElementsOp(data, places, updates, axis=at, reduction=reduction))

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
    places = _from_starts(emit, data, indices)

    def make(data: SSAValue, updates: SSAValue) -> SSAValue:
        return emit(ScatterNdOp(data, places, updates, reduction=reduction))

    return _combined(emit, make, data, updates, reduction)


@register_op("Compress")
def compress(
    emit: Emitter, input: SSAValue, condition: KnownArrayOrNone = None, axis: int | None = None
) -> SSAValue:
    """The slices of an axis for which a known condition holds"""
    import numpy as np

    if condition is None:
        raise Refusal("expected argument 'condition', got none")
    if axis is None:
        count = 1
        for size in tensor_shape(input):
            count *= size
        input, axis = emit.reshape(input, (count,)), 0
    places = emit.array(np.flatnonzero(condition).astype(np.int64), i64)
    return emit(GatherOp(input, places, axis=axis_of(input, axis)))


@register_op("OneHot")
def one_hot(
    emit: Emitter, indices: SSAValue, depth: KnownArray, values: SSAValue, axis: int = -1
) -> SSAValue:
    """One value at the positions, another one elsewhere"""
    from xdsl.dialects.builtin import TensorType

    from gawee_dialect.dialect.position import IotaOp

    shape = list(tensor_shape(indices))
    at = axis_of(indices, axis, new=True)
    count = int(depth.item())
    whole = (*shape[:at], count, *shape[at:])
    places = emit.cast(from_start(emit, indices, count), i64)
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
    import numpy as np

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
