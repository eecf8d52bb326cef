"""Activations."""

from collections.abc import Callable
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, f64, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import (
    EluOp,
    GeluOp,
    HardSigmoidOp,
    LeakyReluOp,
    SigmoidOp,
)
from gawee_dialect.dialect.graph.along_axis import LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.graph.arithmetic import MaximumOp, MinimumOp
from gawee_dialect.dialect.graph.position import IotaOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten import activation as aten
from gawee_dialect.frontends.npu_ir.aten.arithmetic import absolute, add, div, mul, sub
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.promotion import compared, where
from gawee_dialect.frontends.op_mapping.schema import (
    Number,
)


@register_op("LeakyRelu")
def leaky_relu(emit: Emitter, x: SSAValue, alpha: float = 0.01) -> SSAValue:
    """A line with another slope below zero"""
    return emit(LeakyReluOp(x, alpha=alpha))


@register_op("Elu")
def elu(emit: Emitter, x: SSAValue, alpha: float = 1.0) -> SSAValue:
    """alpha * (exp(x) - 1) below zero"""
    return emit(EluOp(x, alpha=alpha))


@register_op("Selu")
def selu(
    emit: Emitter, x: SSAValue, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805
) -> SSAValue:
    """gamma times an Elu"""
    return mul(emit, emit(EluOp(x, alpha=alpha)), gamma)


@register_op("Celu")
def celu(emit: Emitter, x: SSAValue, alpha: float = 1.0) -> SSAValue:
    """alpha * (exp(x / alpha) - 1) below zero"""
    return aten.celu(emit, x, alpha)


@register_op("HardSigmoid")
def hard_sigmoid(emit: Emitter, x: SSAValue, alpha: float = 0.2, beta: float = 0.5) -> SSAValue:
    """alpha * x + beta, cut to 0 and 1"""
    is_plain = np.float32(alpha) == np.float32(1 / 6) and beta == 0.5
    if is_plain and element_type(x) != f64:  # what PyTorch's is exported as, attributes in f32
        return emit(HardSigmoidOp(x))
    return between(emit, add(emit, mul(emit, x, alpha), beta), 0, 1)


def between(emit: Emitter, x: SSAValue, low: Number | None, high: Number | None) -> SSAValue:
    """Return a tensor cut to bounds that are numbers."""
    element = element_type(x)
    if low is not None:
        x = emit(MaximumOp(x, emit.number(low, element)))
    return x if high is None else emit(MinimumOp(x, emit.number(high, element)))


@register_op("Softsign")
def softsign(emit: Emitter, x: SSAValue) -> SSAValue:
    """x / (1 + |x|)"""
    return div(emit, x, add(emit, absolute(emit, x), 1))


@register_op("ThresholdedRelu")
def thresholded_relu(emit: Emitter, x: SSAValue, alpha: float = 1.0) -> SSAValue:
    """x where it is above alpha"""
    return where(emit, compared(emit, x, alpha, "gt"), x, 0)


@register_op("PRelu")
def prelu(emit: Emitter, x: SSAValue, slope: SSAValue) -> SSAValue:
    """A line with another slope below zero, which is a tensor"""
    return where(emit, compared(emit, x, 0, "lt"), mul(emit, slope, x), x)


@register_op("Gelu")
def gelu(emit: Emitter, x: SSAValue, approximate: str = "none") -> SSAValue:
    """x times the normal distribution's integral"""
    return emit(GeluOp(x, approximate=approximate))


@register_op("Mish")
def mish(emit: Emitter, x: SSAValue) -> SSAValue:
    """x * tanh(softplus(x))"""
    return aten.mish(emit, x)


@register_op("Swish")
def swish(emit: Emitter, x: SSAValue, alpha: float = 1.0) -> SSAValue:
    """x * sigmoid(alpha * x)"""
    return mul(emit, x, emit(SigmoidOp(mul(emit, x, alpha))))


@register_op("Shrink")
def shrink(emit: Emitter, x: SSAValue, bias: float = 0.0, lambd: float = 0.5) -> SSAValue:
    """x moved towards zero by a bias, zero between -lambd and lambd"""
    above = where(emit, compared(emit, x, lambd, "gt"), sub(emit, x, bias), 0)
    return where(emit, compared(emit, x, -lambd, "lt"), add(emit, x, bias), above)


def flattened(function: Callable[..., SSAValue]) -> Callable[..., SSAValue]:
    """Return the mapping of a function as it was before opset 13: over all axes from one on."""

    def mapping(emit: Emitter, x: SSAValue, axis: int = 1) -> SSAValue:
        shape = tensor_shape(x)
        split = axis if axis >= 0 else axis + len(shape)
        rows = prod(shape[:split])
        flat = emit.reshape(x, (rows, prod(shape) // max(rows, 1)))
        return emit.reshape(function(emit, flat, 1), shape)

    return mapping


@register_op("Softmax", since=13)
def softmax(emit: Emitter, x: SSAValue, axis: int = -1) -> SSAValue:
    """Exponentials as parts of their sum"""
    return emit(SoftmaxOp(x, axis=axis))


@register_op("LogSoftmax", since=13)
def log_softmax(emit: Emitter, x: SSAValue, axis: int = -1) -> SSAValue:
    """The logarithm of exponentials as parts of their sum"""
    return emit(LogSoftmaxOp(x, axis=axis))


@register_op("Hardmax", since=13)
def hardmax(emit: Emitter, x: SSAValue, axis: int = -1) -> SSAValue:
    """1 at the first maximum, 0 elsewhere"""
    at = axis_of(x, axis)
    first = emit(ArgMaxOp(x, axis=at, keep_dims=True))
    places = emit(IotaOp(TensorType(i64, tensor_shape(x)), at))
    return emit.cast(compared(emit, places, first, "eq"), element_type(x))


register_op("Softmax")(flattened(softmax))
register_op("LogSoftmax")(flattened(log_softmax))
register_op("Hardmax")(flattened(hardmax))


@register_op("Clip")
def clip_numbers(
    emit: Emitter, input: SSAValue, min: float | None = None, max: float | None = None
) -> SSAValue:
    """Bounds that are attributes, before opset 11"""
    return between(emit, input, min, max)


@register_op("Clip", since=11)
def clip(
    emit: Emitter, input: SSAValue, min: SSAValue | None = None, max: SSAValue | None = None
) -> SSAValue:
    """Bounds that are tensors"""
    if min is not None:
        input = emit(MaximumOp(input, min))
    return input if max is None else emit(MinimumOp(input, max))
