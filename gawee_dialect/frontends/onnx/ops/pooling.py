"""Poolings."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from gawee_dialect.dialect.arithmetic import AbsOp
from gawee_dialect.dialect.pool import AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.reduction import ReduceMaxOp, ReduceMeanOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import mul, pow_tensors
from gawee_dialect.frontends.onnx.ops.convolution import same_pads, totals_for_same
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import (
    Ints,
)


def _padding(
    x: SSAValue,
    kernel: Ints,
    strides: Ints,
    dilations: Ints,
    auto_pad: str,
    pads: Ints | None,
) -> list[int]:
    totals = totals_for_same(tensor_shape(x)[2:], kernel, strides, dilations)
    return same_pads(auto_pad, pads, totals)


@register_op("MaxPool", limits=("the positions of maxima are not made",))
def max_pool(
    emit: Emitter,
    x: SSAValue,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    storage_order: int = 0,
    strides: Ints | None = None,
) -> Sequence[SSAValue | None]:
    """The maximum of each window"""
    if emit.is_used(1):
        raise Refusal("unsupported use of the positions of maxima; supported: the maxima")
    ones = [1] * len(kernel_shape)
    steps, spread = strides or ones, dilations or ones
    padding = _padding(x, kernel_shape, steps, spread, auto_pad, pads)
    result = emit(
        MaxPoolOp(
            x,
            kernel=kernel_shape,
            strides=steps,
            padding=padding,
            dilations=spread,
            ceil_mode=bool(ceil_mode),
        )
    )
    return result, None


@register_op("AveragePool", limits=("dilations are 1",))
def average_pool(
    emit: Emitter,
    x: SSAValue,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> SSAValue:
    """The mean of each window"""
    ones = [1] * len(kernel_shape)
    steps, spread = strides or ones, dilations or ones
    if any(each != 1 for each in spread):
        raise Refusal(f"unsupported dilations {list(spread)}; supported: 1")
    padding = _padding(x, kernel_shape, steps, spread, auto_pad, pads)
    return emit(
        AvgPoolOp(
            x,
            kernel=kernel_shape,
            strides=steps,
            padding=padding,
            ceil_mode=bool(ceil_mode),
            count_include_pad=bool(count_include_pad),
        )
    )


@register_op("LpPool")
def lp_pool(
    emit: Emitter,
    x: SSAValue,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints | None = None,
    p: int = 2,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> SSAValue:
    """The p-norm of each window"""
    powers = pow_tensors(emit, emit(AbsOp(x)), p)
    mean = average_pool(
        emit, powers, kernel_shape, auto_pad, ceil_mode, 1, dilations, pads, strides
    )
    return pow_tensors(emit, mul(emit, mean, float(prod(kernel_shape))), 1 / p)


def _over_pixels(x: SSAValue) -> list[int]:
    return list(range(2, len(tensor_shape(x))))


@register_op("GlobalAveragePool")
def global_average_pool(emit: Emitter, x: SSAValue) -> SSAValue:
    """The mean of each channel"""
    return emit(ReduceMeanOp(x, axes=_over_pixels(x), keep_dims=True))


@register_op("GlobalMaxPool")
def global_max_pool(emit: Emitter, x: SSAValue) -> SSAValue:
    """The maximum of each channel"""
    return emit(ReduceMaxOp(x, axes=_over_pixels(x), keep_dims=True))
