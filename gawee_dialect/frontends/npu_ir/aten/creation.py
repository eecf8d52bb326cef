"""Tensors that no other tensor goes into: ranges, and one value everywhere."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from xdsl.dialects.builtin import f32, f64, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.constant import TriOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.open_size import OpenSize, greater
from gawee_dialect.dialect.types import element_type, is_float, is_signed_number, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    as_element,
    counted,
    dtype_element,
    number_element,
)
from gawee_dialect.frontends.op_mapping.registry import Ints, Number, Operand


def chosen(dtype: str | None, otherwise: Attribute) -> Attribute:
    """Return the element type of a dtype, or another one where none is given."""
    return otherwise if dtype is None else dtype_element(dtype)


@register_op("aten.arange.start_step", "aten.arange.start", "aten.arange.default")
def arange(
    emit: Emitter, *, start: Number = 0, end: Number, step: Number = 1, dtype: str | None = None
) -> SSAValue:
    """start, start + step, ... below end"""
    floats = any(isinstance(each, float) for each in (start, end, step))
    element = chosen(dtype, f32 if floats else i64)
    if element == i64:  # PyTorch takes the whole part of each
        start, end, step = (int(x) if isinstance(x, float) else x for x in (start, end, step))
    length = end - start
    is_open = isinstance(length, OpenSize)
    count = _steps(length, step) if is_open else max(ceil(length / step), 0)
    if is_float(element) and (is_open or isinstance(start, OpenSize)):
        place = emit.cast(counted(emit, 0, count, 1, i64), f64)
        distance = emit(MulOp(place, emit.number(step, f64)))
        return emit.cast(emit(AddOp(distance, as_element(emit, start, f64))), element)
    if is_float(element) and (start, step) != (0, 1):
        # PyTorch computes start + i * step in double precision and rounds once.
        return emit.array(start + step * np.arange(count, dtype=np.float64), element)
    number = element if is_signed_number(element) else i64
    return emit.cast(counted(emit, start, count, step, number), element)


def _steps(length: OpenSize, step: Number) -> int:
    """Return how many steps it takes to the end of an open length; raises UnknownSize."""
    above, below = step.as_integer_ratio()
    sign = -1 if above < 0 else 1
    return greater(-(-sign * length * below // abs(above)), 0)


@register_op("aten.linspace.default")
def linspace(
    emit: Emitter, start: Number, end: Number, steps: int, dtype: str | None = None
) -> SSAValue:
    """So many numbers from start to end, both included"""
    return emit.array(np.linspace(start, end, steps), chosen(dtype, f32))


# One value everywhere: in a shape, in that of another tensor, in the element type of another one.


@register_op("aten.full.default")
def full(emit: Emitter, size: Ints, fill_value: Operand, dtype: str | None = None) -> SSAValue:
    """One value everywhere"""
    element = chosen(dtype, f32 if isinstance(fill_value, SSAValue) else number_element(fill_value))
    return emit.broadcast(as_element(emit, fill_value, element), size)


@register_op("aten.full_like")
def full_like(
    emit: Emitter, self: SSAValue, fill_value: Operand, dtype: str | None = None
) -> SSAValue:
    """One value everywhere, in the shape of another tensor"""
    return new_full(emit, self, tensor_shape(self), fill_value, dtype)


@register_op("aten.new_full")
def new_full(
    emit: Emitter, self: SSAValue, size: Ints, fill_value: Operand, dtype: str | None = None
) -> SSAValue:
    """One value everywhere, in the element type of another tensor"""
    value = as_element(emit, fill_value, chosen(dtype, element_type(self)))
    return emit.broadcast(value, size)


def _register_value(value: int, *full_names: str, like: Sequence[str]) -> None:
    """Register mappings for one value: those of a shape by name, the others by what is in them."""

    def of_size(emit: Emitter, size: Ints, dtype: str | None = None) -> SSAValue:
        return emit.full(size, value, chosen(dtype, f32))

    def of_shape(emit: Emitter, self: SSAValue, dtype: str | None = None) -> SSAValue:
        return full_like(emit, self, value, dtype)

    def of_element(emit: Emitter, self: SSAValue, size: Ints, dtype: str | None = None) -> SSAValue:
        return new_full(emit, self, size, value, dtype)

    register_op(*full_names)(of_size)
    register_op(*(f"aten.{name}_like" for name in like))(of_shape)
    register_op(*(f"aten.new_{name}" for name in like))(of_element)


# Where PyTorch leaves memory as it is, it is zero.
_ZEROS = "aten.zeros.default", "aten.empty.memory_format", "aten.empty_permuted"
_register_value(0, *_ZEROS, like=("zeros", "empty"))
_register_value(1, "aten.ones.default", like=("ones",))


@register_op("aten.scalar_tensor")
def scalar_tensor(emit: Emitter, s: Operand, dtype: str | None = None) -> SSAValue:
    """A number as a tensor of rank 0"""
    return as_element(emit, s, chosen(dtype, f32))


@register_op("aten.eye", "aten.eye.m")
def eye(emit: Emitter, n: int, m: int | None = None, dtype: str | None = None) -> SSAValue:
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


@register_op("aten.tril_indices")
def tril_indices(
    emit: Emitter, row: int, col: int, offset: int = 0, dtype: str | None = None
) -> SSAValue:
    """The rows and the columns of the elements that are not above a diagonal"""
    return emit.array(np.array(np.tril_indices(row, offset, col)), chosen(dtype, i64))


@register_op("aten.triu_indices")
def triu_indices(
    emit: Emitter, row: int, col: int, offset: int = 0, dtype: str | None = None
) -> SSAValue:
    """The rows and the columns of the elements that are not below a diagonal"""
    return emit.array(np.array(np.triu_indices(row, offset, col)), chosen(dtype, i64))


@register_op("aten.fft_fftfreq.default")
def frequencies(emit: Emitter, n: int, d: Number = 1.0, dtype: str | None = None) -> SSAValue:
    """The frequencies of a Fourier transform of n numbers, of samples that are d apart"""
    return emit.array(np.fft.fftfreq(n, float(d)), chosen(dtype, f32))


@register_op("aten.fft_rfftfreq.default")
def real_frequencies(emit: Emitter, n: int, d: Number = 1.0, dtype: str | None = None) -> SSAValue:
    """The frequencies of a Fourier transform of n real numbers, of samples that are d apart"""
    return emit.array(np.fft.rfftfreq(n, float(d)), chosen(dtype, f32))
