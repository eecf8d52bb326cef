"""Activations."""

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import (
    EluOp,
    GeluOp,
    LeakyReluOp,
    SigmoidOp,
    SoftplusOp,
)
from gawee_dialect.dialect.graph.arithmetic import NegOp, TanhOp
from gawee_dialect.dialect.graph.elementwise import MulOp
from gawee_dialect.dialect.graph.logic import WhereOp
from gawee_dialect.dialect.graph.reduction import LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import scaled
from gawee_dialect.frontends.npu_ir.aten.comparison import clamp, compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import halves
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of, dtype_element
from gawee_dialect.frontends.op_mapping.registry import Number, Refusal


@register_op("aten.relu6")
def relu6(emit: Emitter, self: SSAValue) -> SSAValue:
    """min(max(x, 0), 6)"""
    return clamp(emit, self, 0, 6)


@register_op("aten.hardtanh")
def hardtanh(emit: Emitter, self: SSAValue, min_val: Number = -1, max_val: Number = 1) -> SSAValue:
    """Limit to an interval; the element type stays."""
    if is_float(element_type(self)):
        return clamp(emit, self, min_val, max_val)
    return clamp(emit, self, int(min_val), int(max_val))


@register_op("aten.gelu")
def gelu(emit: Emitter, self: SSAValue, approximate: str = "none") -> SSAValue:
    """x times the normal distribution's probability below x"""
    return emit(GeluOp(self, approximate=approximate))


@register_op("aten.leaky_relu")
def leaky_relu(emit: Emitter, self: SSAValue, negative_slope: float = 0.01) -> SSAValue:
    """x, times a slope below zero"""
    return emit(LeakyReluOp(self, alpha=negative_slope))


@register_op("aten.rrelu_with_noise_functional", limits=("training=False",))
def rrelu(
    emit: Emitter,
    self: SSAValue,
    noise: SSAValue,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: object = None,
) -> tuple[SSAValue, SSAValue]:
    """x, below zero times the middle of two slopes; the noise, which is not read"""
    if training:
        raise Refusal("unsupported training=True: slopes are random numbers")
    return leaky_relu(emit, self, (lower + upper) / 2), noise


@register_op("aten.prelu", "aten._prelu_kernel")
def prelu(emit: Emitter, self: SSAValue, weight: SSAValue) -> SSAValue:
    """x, below zero times a slope of its channel (axis 1)"""
    rank, slopes = len(tensor_shape(self)), tensor_shape(weight)
    if len(slopes) == 1 and rank > 1:
        weight = emit.reshape(weight, (*slopes, *[1] * (rank - 2)))
    positive = compared(emit, self, 0, "gt")
    return emit(WhereOp(positive, self, emit(MulOp(self, weight))))


@register_op("aten.elu")
def elu(
    emit: Emitter, self: SSAValue, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0
) -> SSAValue:
    """scale * (x, below zero alpha * (exp(x * input_scale) - 1))"""
    if input_scale != 1:
        raise Refusal(f"unsupported input_scale {input_scale}; supported: 1")
    return scaled(emit, emit(EluOp(self, alpha=alpha)), scale)


@register_op("aten.selu")
def selu(emit: Emitter, self: SSAValue) -> SSAValue:
    """elu with the constants that keep mean and variance"""
    return elu(emit, self, 1.6732632423543772, 1.0507009873554805)


@register_op("aten.celu")
def celu(emit: Emitter, self: SSAValue, alpha: float = 1.0) -> SSAValue:
    """x, below zero alpha * (exp(x / alpha) - 1)"""
    return scaled(emit, emit(EluOp(scaled(emit, self, 1 / alpha), alpha=1.0)), alpha)


@register_op("aten.softplus")
def softplus(emit: Emitter, self: SSAValue, beta: Number = 1, threshold: Number = 20) -> SSAValue:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above the threshold"""
    times_beta = scaled(emit, self, float(beta))
    result = scaled(emit, emit(SoftplusOp(times_beta)), 1 / beta)
    above = compared(emit, times_beta, float(threshold), "gt")
    return emit(WhereOp(above, self, result))


@register_op("aten.log_sigmoid")
def log_sigmoid(emit: Emitter, self: SSAValue) -> SSAValue:
    """-softplus(-x)"""
    return emit(NegOp(emit(SoftplusOp(emit(NegOp(self))))))


@register_op("aten.mish")
def mish(emit: Emitter, self: SSAValue) -> SSAValue:
    """x * tanh(softplus(x))"""
    return emit(MulOp(self, emit(TanhOp(emit(SoftplusOp(self))))))


@register_op("aten.glu")
def glu(emit: Emitter, self: SSAValue, dim: int = -1) -> SSAValue:
    """The first half of an axis times sigmoid of the second."""
    first, second = halves(emit, self, dim)
    return emit(MulOp(first, emit(SigmoidOp(second))))


def _register_along_axis(op: type[SoftmaxOp | LogSoftmaxOp], name: str, *others: str) -> None:
    """Register the mappings of softmax or of its logarithm, as written and as decomposed."""

    def written(emit: Emitter, self: SSAValue, dim: int, dtype: str | None = None) -> SSAValue:
        value = self if dtype is None else emit.cast(self, dtype_element(dtype))
        if tensor_shape(value):
            return emit(op(value, axis=dim))
        axis_of(value, dim)
        return emit.reshape(emit(op(emit.reshape(value, (1,)), axis=0)), ())

    def decomposed(emit: Emitter, self: SSAValue, dim: int, half_to_float: bool) -> SSAValue:
        return written(emit, self, dim, "float32" if half_to_float else None)

    register_op(f"aten.{name}.int", *others)(written)
    register_op(f"aten._{name}")(decomposed)


_register_along_axis(SoftmaxOp, "softmax", "aten.special_softmax")
_register_along_axis(LogSoftmaxOp, "log_softmax")
