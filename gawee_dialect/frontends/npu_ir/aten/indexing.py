"""Elements read at positions that a tensor holds."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.arithmetic import MaximumOp
from gawee_dialect.dialect.graph.arrangement import BroadcastToOp, ReverseOp, TransposeOp
from gawee_dialect.dialect.graph.bitwise import LogicalNotOp
from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.elementwise import DivOp, ElementwiseOp, MulOp
from gawee_dialect.dialect.graph.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.graph.position import IotaOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.graph.scatter import ScatterNdOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import element_type, tensor_shape, ui8
from gawee_dialect.frontends.npu_ir.aten.arithmetic import sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import flatten, joint_shape, stack, unsqueeze
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Indices, Ints, Operand


def positions(emit: Emitter, index: SSAValue) -> SSAValue:
    """Return positions in int64; raises Refusal for a mask, whose result has no static shape."""
    if element_type(index) in (i1, ui8):
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


@register_op("aten.as_strided")
def as_strided(
    emit: Emitter,
    self: SSAValue,
    size: Ints,
    stride: Ints,
    storage_offset: int | None = None,
) -> SSAValue:
    """Positions of memory, of a tensor in row-major order"""
    moved = made_otherwise_in_memory(self)
    if moved is not None and isinstance(moved.owner, Operation):
        raise Refusal(f"unsupported as_strided in the order of the result of '{moved.owner.name}'")
    places = np.full((1,) * len(size), storage_offset or 0)
    for axis, (count, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * len(size)
        shape[axis] = count
        places = places + np.arange(count).reshape(shape) * step
    if places.size == prod(tensor_shape(self)) and (places.ravel() == np.arange(places.size)).all():
        return emit.reshape(self, size)
    return emit(GatherOp(flatten(emit, self), emit.array(places, i64), axis=0))


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
