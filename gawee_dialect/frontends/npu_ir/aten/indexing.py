"""Elements read and written at positions that a tensor holds."""

from collections.abc import Callable, Sequence
from math import inf, prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.graph.arithmetic import MaximumOp
from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import DivOp, ElementwiseOp, MulOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.logic import LogicalNotOp, WhereOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, ReverseOp, TransposeOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, SliceOp
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import (
    dtype_name,
    element_type,
    is_float,
    is_unsigned,
    tensor_shape,
    ui8,
)
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, div_mode, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import clamp, compared
from gawee_dialect.frontends.npu_ir.aten.reduction import cumsum
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import (
    around_diagonal,
    flatten,
    joint_shape,
    slice_bounds,
    stack,
    unsqueeze,
)
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    as_element,
    axis_of,
    part,
    permuted,
    to_bool,
)
from gawee_dialect.frontends.op_mapping.registry import Indices, Ints, Operand, Refusal


def is_mask(index: SSAValue) -> bool:
    """Whether an index says of each element if it is chosen."""
    return element_type(index) in (i1, ui8)


def positions(emit: Emitter, index: SSAValue) -> SSAValue:
    """Return positions in int64; raises Refusal for a mask, whose result has no static shape."""
    if is_mask(index):
        raise Refusal("unsupported index by a mask: the shape of its result depends on data")
    return emit.cast(index, i64)


@register_op("aten.embedding")
def embedding(
    emit: Emitter,
    weight: SSAValue,
    indices: SSAValue,
    padding_idx: object = None,
    scale_grad_by_freq: object = None,
    sparse: object = None,
) -> SSAValue:
    """Rows of a table"""
    return emit(GatherOp(weight, positions(emit, indices), axis=0))


@register_op("aten.index_select")
def index_select(emit: Emitter, self: SSAValue, dim: int, index: SSAValue) -> SSAValue:
    """Positions of an axis"""
    flat = emit.reshape(index, (1,)) if not tensor_shape(index) else index
    if not tensor_shape(self):
        return self
    return emit(GatherOp(self, positions(emit, flat), axis=axis_of(self, dim)))


@register_op("aten.gather")
def gather(
    emit: Emitter, self: SSAValue, dim: int, index: SSAValue, sparse_grad: object = None
) -> SSAValue:
    """For each element of the index, the element at that position of an axis"""
    if not tensor_shape(self):
        return emit.broadcast(self, tensor_shape(index))
    return emit(GatherElementsOp(self, positions(emit, index), axis=axis_of(self, dim)))


@register_op("aten.take_along_dim")
def take_along_dim(
    emit: Emitter, self: SSAValue, indices: SSAValue, dim: int | None = None
) -> SSAValue:
    """gather, the other axes broadcast; of the flat tensor without dim"""
    if dim is None:
        return gather(emit, flatten(emit, self), 0, flatten(emit, indices))
    axis = axis_of(self, dim)

    def off_axis(value: SSAValue, size: int) -> list[int]:
        shape = list(tensor_shape(value))
        shape[axis] = size
        return shape

    taken, given = tensor_shape(indices)[axis], tensor_shape(self)[axis]
    sizes = [max(pair) for pair in zip(off_axis(self, 1), off_axis(indices, 1), strict=True)]
    source = emit.broadcast(self, [*sizes[:axis], given, *sizes[axis + 1 :]])
    index = emit.broadcast(indices, [*sizes[:axis], taken, *sizes[axis + 1 :]])
    return gather(emit, source, axis, index)


class AdvancedIndex:
    """Positions along some axes of a tensor, as `x[:, i, j]` has them, broadcast to one shape."""

    def __init__(self, emit: Emitter, indices: Indices, rank: int) -> None:
        if len(indices) > rank:
            raise Refusal(f"expected at most {rank} indices, got {len(indices)}")
        self.axes = [axis for axis, index in enumerate(indices) if index is not None]
        tensors = [positions(emit, index) for index in indices if index is not None]
        self.shape = joint_shape(tensors)
        self.tensors = [emit.broadcast(each, self.shape) for each in tensors]
        self.rest = [axis for axis in range(rank) if axis not in self.axes]

    @property
    def order(self) -> list[int]:
        """The axes of the tensor with the indexed ones first."""
        return [*self.axes, *self.rest]

    @property
    def place(self) -> int:
        """Where the axes of the positions stand in the result: in front unless side by side."""
        first, last = self.axes[0], self.axes[-1]
        return first if last - first + 1 == len(self.axes) else 0

    def result_order(self) -> list[int]:
        """Return how to bring a result with the positions' axes in front into PyTorch's order."""
        count = len(self.shape)
        rest = range(count, count + len(self.rest))
        return [*rest[: self.place], *range(count), *rest[self.place :]]


@register_op("aten.index.Tensor", limits=("no index is a mask",))
def index(emit: Emitter, self: SSAValue, indices: Indices) -> SSAValue:
    """x[:, i, j]: the elements at positions of some axes"""
    where = AdvancedIndex(emit, indices, len(tensor_shape(self)))
    if len(where.axes) == 1:
        return emit(GatherOp(self, where.tensors[0], axis=where.axes[0]))
    source = permuted(emit, self, where.order)
    joined = stack(emit, where.tensors, -1)
    return permuted(emit, emit(GatherNdOp(source, joined)), where.result_order())


@register_op("aten.take")
def take(emit: Emitter, self: SSAValue, index: SSAValue) -> SSAValue:
    """Positions of the flat tensor"""
    return emit(GatherOp(flatten(emit, self), positions(emit, index), axis=0))


@register_op("aten.one_hot")
def one_hot(emit: Emitter, self: SSAValue, num_classes: int = -1) -> SSAValue:
    """1 at the position that each element says, 0 at the others"""
    if num_classes < 1:
        raise Refusal("unsupported one_hot without num_classes: its shape depends on data")
    classes = emit(IotaOp(TensorType(i64, [num_classes]), axis=0))
    return emit.cast(compared(emit, unsqueeze(emit, self, -1), classes, "eq"), i64)


OTHERWISE_IN_MEMORY = (TransposeOp, SliceOp, BroadcastToOp, ReverseOp)
"""Ops whose result PyTorch does not have in row-major order."""


def made_otherwise_in_memory(value: SSAValue) -> SSAValue | None:
    """Return what a value has its order in memory from, None where that is row-major.

    An elementwise op's result is in the order of its operands; files do not say any.
    """
    seen, waiting = set[SSAValue](), [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each.owner, OTHERWISE_IN_MEMORY):
            return each
        if isinstance(each.owner, ElementwiseOp):
            waiting += [operand for operand in each.owner.operands if operand not in seen]
            seen.update(each.owner.operands)
    return None


def is_row_major(size: Ints, stride: Ints) -> bool:
    """Whether elements that are a stride apart stand one after the other; sizes may be open."""
    step = 1
    for count, each in zip(reversed(size), reversed(stride), strict=True):
        if count != 1 and each != step:
            return False
        step *= count
    return True


@register_op("aten.as_strided")
def as_strided(
    emit: Emitter,
    self: SSAValue,
    size: Ints,
    stride: Ints,
    storage_offset: int | None = None,
) -> SSAValue:
    """Positions of memory, of a tensor in row-major order"""
    require_own_order(self)
    whole = prod(size) == prod(tensor_shape(self))
    if whole and not storage_offset and is_row_major(size, stride):
        return emit.reshape(self, size)
    places = places_of_strides(emit, size, stride, storage_offset)
    return emit(GatherOp(flatten(emit, self), places, axis=0))


def require_own_order(value: SSAValue) -> None:
    """Raise Refusal for a tensor that PyTorch holds in memory in another order."""
    moved = made_otherwise_in_memory(value)
    if moved is not None and isinstance(moved.owner, Operation):
        raise Refusal(f"unsupported as_strided in the order of the result of '{moved.owner.name}'")


def places_of_strides(
    emit: Emitter, size: Ints, stride: Ints, storage_offset: int | None
) -> SSAValue:
    """Return where elements are in the flat tensor."""
    places = np.full((1,) * len(size), storage_offset or 0)
    for axis, (count, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * len(size)
        shape[axis] = count
        places = places + np.arange(count).reshape(shape) * step
    return emit.array(places, i64)


@register_op("aten.as_strided_scatter")
def as_strided_scatter(
    emit: Emitter,
    self: SSAValue,
    src: SSAValue,
    size: Ints,
    stride: Ints,
    storage_offset: int | None = None,
) -> SSAValue:
    """A tensor in row-major order of which positions of memory are replaced"""
    require_own_order(self)
    places = places_of_strides(emit, size, stride, storage_offset)
    return put(emit, self, places, src)


@register_op("aten.put")
def put(
    emit: Emitter, self: SSAValue, index: SSAValue, source: SSAValue, accumulate: bool = False
) -> SSAValue:
    """Elements of the flat tensor replaced, or added to"""
    flat = (flatten(emit, each) for each in (self, index, source))
    value, places, elements = flat
    made = index_put(emit, value, [places], elements, accumulate)
    return emit.reshape(made, tensor_shape(self))


# Sums, means and extremes of rows of a table.

SUM, MEAN, MAX = range(3)
"""How PyTorch numbers the modes."""


def bags_of(emit: Emitter, offsets: SSAValue, count: int) -> SSAValue:
    """Return the number of the bag that each of so many indices is in."""
    place = emit(IotaOp(TensorType(element_type(offsets), [count]), axis=0))
    begun = compared(emit, offsets, unsqueeze(emit, place, -1), "le")
    return sub(emit, emit(ReduceSumOp(emit.cast(begun, i64), axes=[1], keep_dims=False)), 1)


def embedding_bag(
    emit: Emitter,
    weight: SSAValue,
    indices: SSAValue,
    offsets: SSAValue,
    scale_grad_by_freq: object = False,
    mode: int = 0,
    sparse: object = False,
    per_sample_weights: SSAValue | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> Sequence[SSAValue | None]:
    """The sum, mean or greatest of the rows in each bag, and what only gradients need: nothing"""
    if mode not in (SUM, MEAN, MAX):
        raise Refusal(f"unsupported mode {mode}; supported: 0, 1, 2")
    if any(emit.is_used(index) for index in range(1, 4)):
        raise Refusal("unsupported use of what only gradients need; supported: the first result")
    (count,), (rows, width) = tensor_shape(indices), tensor_shape(weight)
    (bags,) = tensor_shape(offsets)
    if include_last_offset:
        bags -= 1
        offsets = part(emit, offsets, 0, 0, bags)
    element = element_type(weight)
    values, place = embedding(emit, weight, indices), bags_of(emit, offsets, count)
    if per_sample_weights is not None:
        values = emit(MulOp(values, unsqueeze(emit, per_sample_weights, -1)))
    one = emit.full((count, 1), 1, element)
    if padding_idx >= 0:
        kept = unsqueeze(emit, compared(emit, indices, padding_idx % rows, "ne"), -1)
        one = emit.cast(kept, element)
        ignored = emit.number(float("-inf") if mode == MAX else 0, element)
        values = emit(WhereOp(kept, values, ignored))

    def collected(updates: SSAValue, start: float, reduction: str) -> SSAValue:
        empty = emit.full((bags, tensor_shape(updates)[1]), start, element)
        where = unsqueeze(emit, place, -1)
        return emit(ScatterNdOp(empty, where, updates, reduction=reduction))

    if mode == SUM:
        return collected(values, 0, "add"), None, None, None
    counts = collected(one, 0, "add")
    if mode == MEAN:
        divisor = emit(MaximumOp(counts, emit.number(1, element)))
        return emit(DivOp(collected(values, 0, "add"), divisor)), None, None, None
    greatest = collected(values, float("-inf"), "max")
    filled = emit.broadcast(compared(emit, counts, 0, "gt"), (bags, width))
    return emit(WhereOp(filled, greatest, emit.number(0, element))), None, None, None


FIRST_ALONE = ("what only gradients need is not made",)

for _name in ("_embedding_bag", "_embedding_bag_forward_only"):
    _register: Callable[..., object] = register_op(f"aten.{_name}", limits=FIRST_ALONE)
    _register(embedding_bag)


# Positions in sorted values.


def place_among(
    emit: Emitter, bounds: SSAValue, value: Operand, out_int32: bool, right: bool
) -> SSAValue:
    """Count the bounds, along their last axis, that come before a value; NaN comes last."""
    predicate = "gt" if right else "ge"
    before = emit(LogicalNotOp(compared(emit, bounds, value, predicate)))
    counted = emit.cast(before, i32 if out_int32 else i64)
    return emit(ReduceSumOp(counted, axes=[-1], keep_dims=False))


@register_op("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(
    emit: Emitter,
    self: Operand,
    boundaries: SSAValue,
    out_int32: bool = False,
    right: bool = False,
) -> SSAValue:
    """Which of the intervals between boundaries each element is in"""
    value = unsqueeze(emit, self, -1) if isinstance(self, SSAValue) else self
    return place_among(emit, boundaries, value, out_int32, right)


@register_op("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    emit: Emitter,
    sorted_sequence: SSAValue,
    self: Operand,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: SSAValue | None = None,
) -> SSAValue:
    """Where each element would be put in to keep the last axis sorted"""
    if side not in (None, "left", "right"):
        raise Refusal(f"unsupported side '{side}'; supported: left, right")
    bounds = sorted_sequence if sorter is None else gather(emit, sorted_sequence, -1, sorter)
    after = side == "right" or (side is None and right)
    if not isinstance(self, SSAValue):
        return place_among(emit, bounds, self, out_int32, after)
    if len(tensor_shape(bounds)) > 1:
        bounds = unsqueeze(emit, bounds, -2)
    return place_among(emit, bounds, unsqueeze(emit, self, -1), out_int32, after)


@register_op("aten.repeat_interleave.Tensor", limits=("output_size is given",))
def repeat_interleave(
    emit: Emitter, repeats: SSAValue, *, output_size: int | None = None
) -> SSAValue:
    """The position of each element as often as the element says"""
    if output_size is None:
        raise Refusal("unsupported call without output_size: its shape depends on data")
    ends = cumsum(emit, repeats, 0)
    place = emit(IotaOp(TensorType(i64, [output_size]), axis=0))
    return emit.cast(bucketize(emit, place, ends, right=True), element_type(repeats))


# Tensors with some elements replaced.


def inserted(
    emit: Emitter, value: SSAValue, update: SSAValue, axis: int, start: int, step: int = 1
) -> SSAValue:
    """Return a tensor with a part of one axis replaced."""
    rank = len(tensor_shape(value))
    offsets, strides = [0] * rank, [1] * rank
    offsets[axis], strides[axis] = start, step
    return emit(InsertSliceOp(value, update, offsets=offsets, strides=strides))


@register_op("aten.slice_scatter")
def slice_scatter(
    emit: Emitter,
    self: SSAValue,
    src: SSAValue,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> SSAValue:
    """A part of one axis replaced"""
    axis = axis_of(self, dim)
    first, count = slice_bounds(tensor_shape(self)[axis], start, end, step)
    if count == 0:
        return self
    shape = list(tensor_shape(self))
    shape[axis] = count
    update = emit.broadcast(emit.cast(src, element_type(self)), shape)
    return (
        update
        if count == tensor_shape(self)[axis]
        else inserted(emit, self, update, axis, first, step)
    )


@register_op("aten.select_scatter")
def select_scatter(emit: Emitter, self: SSAValue, src: SSAValue, dim: int, index: int) -> SSAValue:
    """One position of an axis replaced"""
    shape, axis = list(tensor_shape(self)), axis_of(self, dim)
    place = index % shape[axis]
    shape[axis] = 1
    update = emit.reshape(emit.cast(src, element_type(self)), shape)
    return inserted(emit, self, update, axis, place)


@register_op("aten.diagonal_scatter")
def diagonal_scatter(
    emit: Emitter, self: SSAValue, src: SSAValue, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> SSAValue:
    """A diagonal of two axes replaced"""
    flat, order, (start, count, step) = around_diagonal(emit, self, offset, dim1, dim2)
    if count == 0:
        return self
    update = emit.cast(src, element_type(self))
    made = inserted(emit, flat, update, len(tensor_shape(flat)) - 1, start, step)
    shape = [tensor_shape(self)[axis] for axis in order]
    return permuted(emit, emit.reshape(made, shape), inverse(order))


def scattered(
    emit: Emitter, self: SSAValue, dim: int, index: SSAValue, src: Operand, reduction: str
) -> SSAValue:
    """Replace, or add to, the elements at positions of an axis."""
    if not tensor_shape(self):
        raise Refusal("expected a tensor of rank 1 or more, got a scalar")
    updates = as_element(emit, src, element_type(self))
    if not isinstance(src, SSAValue):
        updates = emit.broadcast(updates, tensor_shape(index))
    for axis, size in enumerate(tensor_shape(index)):
        updates = part(emit, updates, axis, 0, size)
    axis, place = axis_of(self, dim), positions(emit, index)

    def scatter(value: SSAValue, updates: SSAValue) -> Operation:
        return ScatterElementsOp(value, place, updates, axis=axis, reduction=reduction)

    return combined(emit, scatter, self, updates, reduction)


def combined(
    emit: Emitter, op: Callable[..., Operation], value: SSAValue, updates: SSAValue, reduction: str
) -> SSAValue:
    """Scatter updates; bytes and truth values are combined in i32."""
    element = element_type(value)
    if reduction == "none" or (element != i1 and not is_unsigned(element)):
        return emit(op(value, updates))
    return emit.cast(emit(op(emit.cast(value, i32), emit.cast(updates, i32))), element)


@register_op("aten.scatter.src")
def scatter(emit: Emitter, self: SSAValue, dim: int, index: SSAValue, src: Operand) -> SSAValue:
    """Elements replaced at positions of an axis"""
    return scattered(emit, self, dim, index, src, "none")


@register_op("aten.scatter.value")
def scatter_value(
    emit: Emitter, self: SSAValue, dim: int, index: SSAValue, value: Operand
) -> SSAValue:
    """Elements replaced by a number at positions of an axis"""
    return scattered(emit, self, dim, index, value, "none")


@register_op("aten.scatter_add")
def scatter_add(
    emit: Emitter, self: SSAValue, dim: int, index: SSAValue, src: SSAValue
) -> SSAValue:
    """Elements added to at positions of an axis"""
    return scattered(emit, self, dim, index, src, "add")


BY_OLD_NAME = {"add": "add", "multiply": "mul"}
"""What `scatter` calls its reductions."""


@register_op("aten.scatter.reduce")
def scatter_by_name(
    emit: Emitter, self: SSAValue, dim: int, index: SSAValue, src: Operand, reduce: str
) -> SSAValue:
    """Elements added to, or multiplied, at positions of an axis"""
    if reduce not in BY_OLD_NAME:
        raise Refusal(f"unsupported reduce '{reduce}'; supported: {', '.join(BY_OLD_NAME)}")
    return scattered(emit, self, dim, index, src, BY_OLD_NAME[reduce])


@register_op("aten.scatter.value_reduce")
def scatter_value_by_name(
    emit: Emitter, self: SSAValue, dim: int, index: SSAValue, value: Operand, reduce: str
) -> SSAValue:
    """Elements that a number is added to, or multiplies, at positions of an axis"""
    return scatter_by_name(emit, self, dim, index, value, reduce)


_REDUCTIONS = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}


@register_op("aten.scatter_reduce.two")
def scatter_reduce(
    emit: Emitter,
    self: SSAValue,
    dim: int,
    index: SSAValue,
    src: SSAValue,
    reduce: str,
    include_self: bool = True,
) -> SSAValue:
    """Elements summed up, multiplied, or the extreme of them, at positions of an axis"""
    if reduce not in _REDUCTIONS:
        raise Refusal(f"unsupported reduce '{reduce}'; supported: {', '.join(_REDUCTIONS)}")
    element, how = element_type(self), _REDUCTIONS[reduce]
    start = self
    if not include_self:
        touched = scattered(emit, emit.full(tensor_shape(self), 0, i64), dim, index, 1, "none")
        neutral = emit.number(_neutral(element, how), element)
        start = emit(WhereOp(to_bool(emit, touched), neutral, self))
    result = scattered(emit, start, dim, index, src, how)
    if reduce != "mean":
        return result
    counts = emit.full(tensor_shape(self), int(include_self), element)
    counts = scattered(emit, counts, dim, index, 1, "add")
    counts = emit(MaximumOp(counts, emit.number(1, element)))
    return div_mode(emit, result, counts, None if is_float(element) else "floor")


def _neutral(element: Attribute, reduction: str) -> float:
    """Return the number that changes nothing under a reduction."""
    if reduction in ("add", "mul"):
        return 0 if reduction == "add" else 1
    if is_float(element):
        return -inf if reduction == "max" else inf
    if element == i1:
        return int(reduction == "min")
    limits = np.iinfo(dtype_name(element))
    return int(limits.min if reduction == "max" else limits.max)


@register_op("aten.index_reduce")
def index_reduce(
    emit: Emitter,
    self: SSAValue,
    dim: int,
    index: SSAValue,
    source: SSAValue,
    reduce: str,
    include_self: bool = True,
) -> SSAValue:
    """Parts of an axis multiplied, or the mean or extreme of them, at positions"""
    shape, axis = tensor_shape(source), axis_of(self, dim)
    row = [1] * len(shape)
    row[axis] = shape[axis]
    place = emit.broadcast(emit.reshape(index, row), shape)
    return scatter_reduce(emit, self, dim, place, source, reduce, include_self)


@register_op("aten.masked_scatter")
def masked_scatter(emit: Emitter, self: SSAValue, mask: SSAValue, source: SSAValue) -> SSAValue:
    """Elements of a source, one after the other, where a mask says so"""
    shape, count = joint_shape([self, mask]), prod(tensor_shape(source))
    value, chosen = emit.broadcast(self, shape), emit.broadcast(to_bool(emit, mask), shape)
    if count == 0 or not shape:
        first = emit.reshape(part(emit, flatten(emit, source), 0, 0, 1), ()) if count else value
        return emit(WhereOp(chosen, first, value))
    number = sub(emit, cumsum(emit, flatten(emit, chosen), 0), 1)
    taken = emit(GatherOp(flatten(emit, source), clamp(emit, number, 0, count - 1), axis=0))
    return emit(WhereOp(chosen, emit.reshape(taken, shape), value))


@register_op(
    "aten.index_put",
    limits=("a mask is the only index, with values whose number data decides, or one for all",),
)
def index_put(
    emit: Emitter,
    self: SSAValue,
    indices: Indices,
    values: SSAValue,
    accumulate: bool = False,
) -> SSAValue:
    """x[:, i, j] = values, or += with accumulate"""
    given = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if len(given) == 1 and is_mask(given[0][1]):
        return put_by_mask(emit, self, *given[0], values, accumulate=accumulate)
    where = AdvancedIndex(emit, indices, len(tensor_shape(self)))
    source = permuted(emit, self, where.order)
    order = where.result_order()
    rest = tensor_shape(source)[len(where.axes) :]
    shape = (*where.shape, *rest)
    updates = emit.broadcast(emit.cast(values, element_type(self)), [shape[i] for i in order])
    updates = permuted(emit, updates, inverse(order))
    joined = stack(emit, where.tensors, -1)
    reduction = "add" if accumulate else "none"

    def scatter(value: SSAValue, updates: SSAValue) -> Operation:
        return ScatterNdOp(value, joined, updates, reduction=reduction)

    result = combined(emit, scatter, source, updates, reduction)
    return permuted(emit, result, inverse(where.order))


def put_by_mask(
    emit: Emitter,
    self: SSAValue,
    axis: int,
    mask: SSAValue,
    values: SSAValue,
    *,
    accumulate: bool,
) -> SSAValue:
    """Return a tensor with values wherever a mask of some axes says so: the same, or in turn.

    Raises Refusal for a number of values that does not come from data, as that of the mask does.
    """
    shape, masked = tensor_shape(self), tensor_shape(mask)
    after = len(shape) - axis - len(masked)
    mask, values = to_bool(emit, mask), emit.cast(values, element_type(self))
    sizes = list(tensor_shape(values))
    if len(sizes) > after:
        place = len(sizes) - after - 1
        if sizes[place] == 1:
            sizes[place : place + 1] = [1] * len(masked)
        else:
            if not isinstance(sizes[place], OpenSize):
                positions(emit, mask)  # refuses the mask
            values = in_turn(emit, mask, values, place)
            sizes[place : place + 1] = masked
    chosen = emit.reshape(mask, (*masked, *[1] * after))
    new = emit.reshape(values, sizes)
    new = add(emit, self, new) if accumulate else new
    return emit(WhereOp(chosen, new, self))


def in_turn(emit: Emitter, mask: SSAValue, values: SSAValue, axis: int) -> SSAValue:
    """Return for each element of a mask the next of values along an axis, one for each chosen."""
    number = sub(emit, cumsum(emit, flatten(emit, mask), 0), 1)
    return emit(GatherOp(values, clamp(emit, number, 0), axis=axis))


def inverse(permutation: list[int]) -> list[int]:
    """Return the permutation that undoes another."""
    return sorted(range(len(permutation)), key=permutation.__getitem__)
