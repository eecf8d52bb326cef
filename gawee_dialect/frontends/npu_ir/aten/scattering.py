"""Tensors with some elements replaced."""

from xdsl.ir import SSAValue

from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.slicing import InsertSliceOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.indexing import AdvancedIndex, positions
from gawee_dialect.frontends.npu_ir.aten.joining import stack
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.slicing import slice_bounds
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.promotion import as_element
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Indices, Operand


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
    taken = slice_bounds(tensor_shape(self)[axis], start, end, step)
    if not taken:
        return self
    shape = list(tensor_shape(self))
    shape[axis] = len(taken)
    update = emit.broadcast(emit.cast(src, element_type(self)), shape)
    return (
        update
        if len(taken) == tensor_shape(self)[axis]
        else inserted(emit, self, update, axis, taken.start, step)
    )


@register_op("aten.select_scatter")
def select_scatter(emit: Emitter, self: SSAValue, src: SSAValue, dim: int, index: int) -> SSAValue:
    """One position of an axis replaced"""
    shape, axis = list(tensor_shape(self)), axis_of(self, dim)
    place = index % shape[axis]
    shape[axis] = 1
    update = emit.reshape(emit.cast(src, element_type(self)), shape)
    return inserted(emit, self, update, axis, place)


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
    axis = axis_of(self, dim)
    return emit(
        ScatterElementsOp(self, positions(emit, index), updates, axis=axis, reduction=reduction)
    )


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


@register_op("aten.index_put", limits=("no index is a mask",))
def index_put(
    emit: Emitter,
    self: SSAValue,
    indices: Indices,
    values: SSAValue,
    accumulate: bool = False,
) -> SSAValue:
    """x[:, i, j] = values, or += with accumulate"""
    where = AdvancedIndex(emit, indices, len(tensor_shape(self)))
    source = permuted(emit, self, where.order)
    order = where.result_order()
    rest = tensor_shape(source)[len(where.axes) :]
    shape = (*where.shape, *rest)
    updates = emit.broadcast(emit.cast(values, element_type(self)), [shape[i] for i in order])
    updates = permuted(emit, updates, inverse(order))
    joined = stack(emit, where.tensors, -1)
    reduction = "add" if accumulate else "none"
    result = emit(ScatterNdOp(source, joined, updates, reduction=reduction))
    return permuted(emit, result, inverse(where.order))


def inverse(permutation: list[int]) -> list[int]:
    """Return the permutation that undoes another."""
    return sorted(range(len(permutation)), key=permutation.__getitem__)
