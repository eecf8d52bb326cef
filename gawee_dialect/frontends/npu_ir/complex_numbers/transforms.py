"""Fourier transforms."""

from collections.abc import Sequence
from math import prod, sqrt

from xdsl.ir import SSAValue

from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.complex_numbers.arithmetic import scaled
from gawee_dialect.frontends.npu_ir.complex_numbers.registry import register_complex_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.fourier import transformed


def normalized(
    emit: Emitter, value: SSAValue, count: int, normalization: int, *, inverse: bool
) -> SSAValue:
    """Return a transform divided by what the mode says: by 1, the root of `count`, or `count`."""
    wanted = (1.0, 1 / sqrt(count), 1 / count)[normalization]
    factor = wanted * count if inverse else wanted
    return value if factor == 1 else scaled(emit, value, factor)


def axes_from_start(value: SSAValue, dim: Sequence[int]) -> list[int]:
    """Return axes counted from the start, the last axis of parts left out."""
    rank = len(tensor_shape(value)) - 1
    return [axis % rank for axis in dim]


def all_transformed(
    emit: Emitter, value: SSAValue, axes: Sequence[int], *, inverse: bool
) -> SSAValue:
    """Return the complex transform of some axes, one after the other."""
    for axis in axes:
        length = tensor_shape(value)[axis]
        value = transformed(emit, value, axis, length, inverse=inverse, onesided=False)
    return value


@register_complex_op("aten._fft_r2c")
def real_to_complex(
    emit: Emitter, self: SSAValue, dim: Sequence[int], normalization: int, onesided: bool
) -> SSAValue:
    """The transform of a real tensor, the last of its axes first"""
    *others, last = axes_from_start(self, dim)
    sizes = tensor_shape(self)
    made = transformed(emit, self, last, sizes[last], inverse=False, onesided=onesided)
    made = all_transformed(emit, made, others, inverse=False)
    count = prod(sizes[axis] for axis in (*others, last))
    return normalized(emit, made, count, normalization, inverse=False)


@register_complex_op("aten._fft_c2c")
def complex_to_complex(
    emit: Emitter, self: SSAValue, dim: Sequence[int], normalization: int, forward: bool
) -> SSAValue:
    """The transform of a complex tensor, or its inverse"""
    axes = axes_from_start(self, dim)
    made = all_transformed(emit, self, axes, inverse=not forward)
    count = prod(tensor_shape(self)[axis] for axis in axes)
    return normalized(emit, made, count, normalization, inverse=not forward)


@register_complex_op("aten._fft_c2r")
def complex_to_real(
    emit: Emitter, self: SSAValue, dim: Sequence[int], normalization: int, last_dim_size: int
) -> SSAValue:
    """The inverse transform that is real, the last of its axes last"""
    *others, last = axes_from_start(self, dim)
    made = all_transformed(emit, self, others, inverse=True)
    made = transformed(emit, made, last, last_dim_size, inverse=True, onesided=True)
    real = emit.reshape(made, tensor_shape(made)[:-1])
    count = prod(tensor_shape(self)[axis] for axis in others) * last_dim_size
    return normalized(emit, real, count, normalization, inverse=True)
