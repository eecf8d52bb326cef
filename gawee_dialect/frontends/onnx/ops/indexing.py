"""Elements by their positions."""

from collections.abc import Callable
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.arithmetic import MaximumOp, MinimumOp
from gawee_dialect.dialect.comparison import CompareOp, WhereOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.elementwise import AddOp, MulOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.npu_ir.aten.comparison import compared, where
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


@register_op("Gather")
def gather(emit: Emitter, data: SSAValue, indices: SSAValue, axis: int = 0) -> SSAValue:
    """Slices of an axis"""
    at = axis_of(data, axis)
    places = from_start(emit, indices, tensor_shape(data)[at])
    return emit(GatherOp(data, places, axis=at))


@register_op("GatherElements")
def gather_elements(emit: Emitter, data: SSAValue, indices: SSAValue, axis: int = 0) -> SSAValue:
    """Elements of an axis, each place its own"""
    at = axis_of(data, axis)
    places = from_start(emit, indices, tensor_shape(data)[at])
    return emit(GatherElementsOp(data, places, axis=at))


def _from_starts(emit: Emitter, data: SSAValue, indices: SSAValue, batch_dims: int = 0) -> SSAValue:
    import numpy as np

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


COMBINED: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    **{"mul": MulOp, "max": MaximumOp, "min": MinimumOp},
}
"""Reductions that are written out, an update after the other."""

MAX_UPDATES = 256


def _check(reduction: str, updates: int) -> None:
    names = ("none", "add", *COMBINED)
    if reduction not in names:
        raise Refusal(f"unsupported reduction '{reduction}'; supported: {', '.join(names)}")
    if reduction in COMBINED and updates > MAX_UPDATES:
        raise Refusal(f"expected at most {MAX_UPDATES} updates by '{reduction}', got {updates}")


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
    at = axis_of(data, axis)
    places = from_start(emit, indices, tensor_shape(data)[at])
    count = tensor_shape(updates)[at]
    _check(reduction, count)
    if reduction not in COMBINED:
        return emit(ScatterElementsOp(data, places, updates, axis=at, reduction=reduction))
    # Elements of one row of updates go to places that differ.
    for index in range(count):
        row, new = part(emit, places, at, index, 1), part(emit, updates, at, index, 1)
        old = emit(GatherElementsOp(data, row, axis=at))
        joint = emit(COMBINED[reduction](old, new))
        data = emit(ScatterElementsOp(data, row, joint, axis=at))
    return data


@register_op("ScatterND")
def scatter_nd(
    emit: Emitter,
    data: SSAValue,
    indices: SSAValue,
    updates: SSAValue,
    reduction: str = "none",
) -> SSAValue:
    """Slices put at places of several axes"""
    places = _from_starts(emit, data, indices)
    *outer, depth = tensor_shape(places)
    count = prod(outer)
    _check(reduction, count)
    if reduction not in COMBINED:
        return emit(ScatterNdOp(data, places, updates, reduction=reduction))
    inner = tensor_shape(updates)[len(outer) :]
    rows = emit.reshape(places, (count, depth))
    news = emit.reshape(updates, (count, *inner))
    for index in range(count):
        row, new = part(emit, rows, 0, index, 1), part(emit, news, 0, index, 1)
        joint = emit(COMBINED[reduction](emit(GatherNdOp(data, row)), new))
        data = emit(ScatterNdOp(data, row, joint))
    return data


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
    time = np.arange(shape[time_axis])
    rows = [np.where(time < length, length - 1 - time, time) for length in sequence_lens]
    table = np.stack(rows, axis=1 if batch_axis > time_axis else 0)
    outside = [1] * len(shape)
    outside[batch_axis], outside[time_axis] = shape[batch_axis], shape[time_axis]
    places = np.broadcast_to(table.reshape(outside), shape).astype(np.int64)
    return emit(GatherElementsOp(input, emit.array(places.copy(), i64), axis=time_axis))
