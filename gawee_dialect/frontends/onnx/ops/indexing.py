"""Elements by their positions, which count from the end where they are negative."""

from collections.abc import Callable
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.graph.position import IotaOp
from gawee_dialect.dialect.graph.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.types import element_type, is_unsigned, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.onnx.argument_rules import check_size
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.promotion import compared, where
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import (
    KnownArray,
    KnownArrayOrNone,
    KnownInts,
)


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
