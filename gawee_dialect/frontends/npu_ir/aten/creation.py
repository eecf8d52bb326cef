"""Tensors that no other tensor goes into: ranges, and one value everywhere."""

from math import ceil

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.graph.position import IotaOp, TriOp
from gawee_dialect.dialect.types import element_type, is_float, is_signed_number, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, dtype_element
from gawee_dialect.frontends.op_mapping.promotion import number_element
from gawee_dialect.frontends.op_mapping.schema import Ints, Number


def chosen(dtype: str | None, otherwise: Attribute) -> Attribute:
    """Return the element type of a dtype, or another one where none is given."""
    return otherwise if dtype is None else dtype_element(dtype)


@register_op("aten.arange.start_step")
def arange(
    emit: Emitter,
    start: Number,
    end: Number,
    step: Number = 1,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """start, start + step, ... below end"""
    floats = any(isinstance(each, float) for each in (start, end, step))
    element = chosen(dtype, f32 if floats else i64)
    count = max(ceil((end - start) / step), 0)
    if is_float(element) and (start, step) != (0, 1):
        # PyTorch computes start + i * step in double precision and rounds once.
        return emit.array(start + step * np.arange(count, dtype=np.float64), element)
    counted = element if is_signed_number(element) else i64
    value = emit(IotaOp(TensorType(counted, [count]), axis=0))
    if step != 1:
        value = emit(MulOp(value, emit.number(step, counted)))
    if start != 0:
        value = emit(AddOp(value, emit.number(start, counted)))
    return emit.cast(value, element)


@register_op("aten.arange.start")
def arange_start(
    emit: Emitter,
    start: Number,
    end: Number,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """start, start + 1, ... below end"""
    return arange(emit, start, end, 1, dtype)


@register_op("aten.arange.default")
def arange_end(
    emit: Emitter,
    end: Number,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """0, 1, ... below end"""
    return arange(emit, 0, end, 1, dtype)


@register_op("aten.linspace.default")
def linspace(
    emit: Emitter,
    start: Number,
    end: Number,
    steps: int,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """So many numbers from start to end, both included"""
    return emit.array(np.linspace(start, end, steps), chosen(dtype, f32))


@register_op("aten.full.default")
def full(
    emit: Emitter,
    size: Ints,
    fill_value: Number,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """One value everywhere"""
    return emit.full(size, fill_value, chosen(dtype, number_element(fill_value)))


@register_op("aten.zeros.default", "aten.empty.memory_format")
def zeros(
    emit: Emitter,
    size: Ints,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> SSAValue:
    """Zeros; also where PyTorch leaves memory as it is"""
    return emit.full(size, 0, chosen(dtype, f32))


@register_op("aten.empty_permuted")
def empty_permuted(
    emit: Emitter,
    size: Ints,
    physical_layout: object,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """Zeros, where PyTorch leaves memory as it is; the order of axes in memory does not count"""
    return zeros(emit, size, dtype)


@register_op("aten.ones.default")
def ones(
    emit: Emitter,
    size: Ints,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """Ones"""
    return emit.full(size, 1, chosen(dtype, f32))


@register_op("aten.full_like")
def full_like(
    emit: Emitter,
    self: SSAValue,
    fill_value: Number,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> SSAValue:
    """One value everywhere, in the shape of another tensor"""
    return emit.full(tensor_shape(self), fill_value, chosen(dtype, element_type(self)))


@register_op("aten.zeros_like", "aten.empty_like")
def zeros_like(
    emit: Emitter,
    self: SSAValue,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> SSAValue:
    """Zeros in the shape of another tensor"""
    return full_like(emit, self, 0, dtype)


@register_op("aten.ones_like")
def ones_like(
    emit: Emitter,
    self: SSAValue,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> SSAValue:
    """Ones in the shape of another tensor"""
    return full_like(emit, self, 1, dtype)


@register_op("aten.new_full")
def new_full(
    emit: Emitter,
    self: SSAValue,
    size: Ints,
    fill_value: Number,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """One value everywhere, in the element type of another tensor"""
    return emit.full(size, fill_value, chosen(dtype, element_type(self)))


@register_op("aten.new_zeros", "aten.new_empty")
def new_zeros(
    emit: Emitter,
    self: SSAValue,
    size: Ints,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """Zeros in the element type of another tensor"""
    return new_full(emit, self, size, 0, dtype)


@register_op("aten.new_ones")
def new_ones(
    emit: Emitter,
    self: SSAValue,
    size: Ints,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """Ones in the element type of another tensor"""
    return new_full(emit, self, size, 1, dtype)


@register_op("aten.scalar_tensor")
def scalar_tensor(
    emit: Emitter,
    s: Number,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """A number as a tensor of rank 0"""
    return emit.number(s, chosen(dtype, f32))


@register_op("aten.eye", "aten.eye.m")
def eye(
    emit: Emitter,
    n: int,
    m: int | None = None,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> SSAValue:
    """Ones on the diagonal, zeros elsewhere"""
    return emit.array(np.eye(n, n if m is None else m), chosen(dtype, f32))


@register_op("aten.tril")
def tril(emit: Emitter, self: SSAValue, diagonal: int = 0) -> SSAValue:
    """Zeros above a diagonal"""
    return emit(TriOp(self, upper=False, diagonal=diagonal))


@register_op("aten.triu")
def triu(emit: Emitter, self: SSAValue, diagonal: int = 0) -> SSAValue:
    """Zeros below a diagonal"""
    return emit(TriOp(self, upper=True, diagonal=diagonal))
