"""Elements read at positions that a tensor holds."""

from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TransposeOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.position import IotaOp
from gawee_dialect.dialect.slicing import SliceOp
from gawee_dialect.dialect.types import element_type, tensor_shape, ui8
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.joining import stack
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import flatten, joint_shape, unsqueeze
from gawee_dialect.frontends.op_mapping.axes import permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Indices, Ints


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


@register_op("aten.as_strided")
def as_strided(
    emit: Emitter,
    self: SSAValue,
    size: Ints,
    stride: Ints,
    storage_offset: int | None = None,
) -> SSAValue:
    """Positions of memory, of a tensor in row-major order"""
    if isinstance(self.owner, OTHERWISE_IN_MEMORY):
        raise Refusal(f"unsupported as_strided of the result of '{self.owner.name}'")
    places = np.full((1,) * len(size), storage_offset or 0)
    for axis, (count, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * len(size)
        shape[axis] = count
        places = places + np.arange(count).reshape(shape) * step
    if places.size == prod(tensor_shape(self)) and (places.ravel() == np.arange(places.size)).all():
        return emit.reshape(self, size)
    return emit(GatherOp(flatten(emit, self), emit.array(places, i64), axis=0))
