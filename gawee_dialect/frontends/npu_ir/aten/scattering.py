"""Tensors with some elements replaced."""

from math import inf, prod

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.arithmetic import MaximumOp
from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.gather import GatherOp
from gawee_dialect.dialect.graph.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp
from gawee_dialect.dialect.types import dtype_name, element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import div_mode, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import clamp
from gawee_dialect.frontends.npu_ir.aten.indexing import AdvancedIndex, positions
from gawee_dialect.frontends.npu_ir.aten.reduction import cumsum
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import flatten, joint_shape, stack
from gawee_dialect.frontends.npu_ir.aten.slicing import slice_bounds
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.promotion import as_element, to_bool
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
    limits = np.iinfo(dtype_name(element))
    return int(limits.min if reduction == "max" else limits.max)


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
