"""Arithmetic on elements, comparisons, logic and activations."""

from collections.abc import Callable
from functools import reduce
from math import inf, prod

import numpy as np
from xdsl.dialects.builtin import TensorType, f64, i1, i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.graph.activation import (
    EluOp,
    GeluOp,
    HardSigmoidOp,
    LeakyReluOp,
    SigmoidOp,
)
from gawee_dialect.dialect.graph.arithmetic import (
    FloorDivOp,
    FmodOp,
    MaximumOp,
    MinimumOp,
    ReciprocalOp,
    RemainderOp,
    RsqrtOp,
)
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp
from gawee_dialect.dialect.graph.elementwise import (
    AddOp,
    DivOp,
    ElementwiseOp,
    MulOp,
    SqrtOp,
    SubOp,
)
from gawee_dialect.dialect.graph.logic import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    CompareOp,
    WhereOp,
)
from gawee_dialect.dialect.graph.reduction import ArgMaxOp, LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten import activation as aten
from gawee_dialect.frontends.npu_ir.aten.arithmetic import (
    absolute,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atanh,
    cosh,
    div,
    div_mode,
    left_shift,
    mul,
    pow_number,
    pow_tensors,
    right_shift,
    sinh,
    sub,
    tan,
)
from gawee_dialect.frontends.onnx.held_types import HELD, converted, dtype_of, flipped
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of, compared, where
from gawee_dialect.frontends.op_mapping.registry import Number, Refusal, Result, Tensors

# Activations.


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


# Arithmetic on elements.


OF_BITS: dict[str, type[ElementwiseOp]] = {
    "BitwiseNot": BitwiseNotOp,
    "BitwiseAnd": BitwiseAndOp,
    "And": BitwiseAndOp,
    "BitwiseOr": BitwiseOrOp,
    "Or": BitwiseOrOp,
    "BitwiseXor": BitwiseXorOp,
    "Xor": BitwiseXorOp,
}
"""Ops that ONNX has under one name on integers, and under another one on booleans."""


def same(op: Callable[..., Operation], arity: int) -> Callable[..., SSAValue]:
    """Return the mapping of an op that is one of the dialect."""

    def unary(emit: Emitter, x: SSAValue) -> SSAValue:
        return emit(op(x))

    def binary(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
        return emit(op(a, b))

    def ternary(emit: Emitter, condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
        return emit(op(condition, x, y))

    return (unary, binary, ternary)[arity - 1]


for _name, _kind in (*((kind.ONNX, kind) for kind in ELEMENTWISE), *OF_BITS.items()):
    if _name:  # takes the place of what is composed above; what follows that of some
        register_op(_name)(same(_kind, len(_kind.get_irdl_definition().operands)))


@register_op("Reciprocal")
def reciprocal(emit: Emitter, x: SSAValue) -> SSAValue:
    """1 / x; of a square root, which is how exporters write it, one op"""
    root = x.owner
    return emit(RsqrtOp(root.input) if isinstance(root, SqrtOp) else ReciprocalOp(x))


@register_op("Div")
def divide(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """The quotient; that of integers is cut towards zero"""
    if is_float(element_type(a)):
        return emit(DivOp(a, b))
    if dtype_of(emit, a) == "uint64":
        return _unsigned_quotient(emit, a, b)
    return div_mode(emit, a, b, "trunc")


def _unsigned_quotient(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """Divide unsigned numbers whose bits are held in int64: half of a is divided, then the rest."""
    one, low = emit.number(1, i64), emit.number((1 << 63) - 1, i64)
    half = emit(BitwiseAndOp(emit(FloorDivOp(a, emit.number(2, i64))), low))
    near = emit(MulOp(emit(FloorDivOp(half, emit(MaximumOp(b, one)))), emit.number(2, i64)))
    rest = emit(SubOp(a, emit(MulOp(near, b))))

    def not_below(lhs: SSAValue) -> SSAValue:
        return emit(CompareOp(flipped(emit, lhs), flipped(emit, b), predicate="ge"))

    more = emit(AddOp(near, emit.cast(not_below(rest), i64)))
    is_large = emit(CompareOp(b, emit.number(0, i64), predicate="lt"))
    return emit(WhereOp(is_large, emit.cast(not_below(a), i64), more))


@register_op("Mod")
def modulo(emit: Emitter, a: SSAValue, b: SSAValue, fmod: int = 0) -> SSAValue:
    """The remainder, with the sign of the divisor, or with fmod that of the dividend"""
    if dtype_of(emit, a) == "uint64":
        return emit(SubOp(a, emit(MulOp(_unsigned_quotient(emit, a, b), b))))
    return emit(FmodOp(a, b) if fmod else RemainderOp(a, b))


@register_op("Pow")
def power(emit: Emitter, x: SSAValue, y: SSAValue) -> SSAValue:
    """x to the power of y, in the element type of x; squares and cubes are products"""
    element = element_type(x)
    if dtype_of(emit, y) in HELD and is_float(element):
        y = converted(emit, y, dtype_of(emit, x))
    is_number = len(tensor_shape(y)) <= len(tensor_shape(x)) and prod(tensor_shape(y)) == 1
    if isinstance(y.owner, ConstantOp) and is_number and is_float(element):
        exponent = array_of(y.owner.value).item()
        if exponent in (2, 3):
            return pow_number(emit, x, int(exponent))
    return emit.cast(pow_tensors(emit, x, y), element)


@register_op("BitShift")
def bit_shift(emit: Emitter, x: SSAValue, y: SSAValue, direction: str) -> SSAValue:
    """The bits of unsigned integers moved to the left or to the right"""
    dtype = dtype_of(emit, x)
    if direction not in ("LEFT", "RIGHT") or not dtype.startswith("uint"):
        raise Refusal(f"expected unsigned integers moved LEFT or RIGHT, got {dtype} {direction}")
    wide = [emit.cast(each, i64) for each in (x, y)]
    if direction == "LEFT":
        return emit.cast(left_shift(emit, *wide), element_type(x))
    shifted = right_shift(emit, *wide)
    if dtype == "uint64":  # what comes from the left are zeros, not copies of the sign
        copies = left_shift(emit, emit.number(-1, i64), emit(SubOp(emit.number(64, i64), wide[1])))
        shifted = emit(BitwiseAndOp(shifted, emit(BitwiseNotOp(copies))))
    return emit.cast(shifted, element_type(x))


def joined(op: Callable[[SSAValue, SSAValue], Operation]) -> Callable[..., SSAValue]:
    """Return the mapping of an op that takes any number of tensors together."""

    def mapping(emit: Emitter, inputs: Tensors) -> SSAValue:
        return reduce(lambda a, b: emit(op(a, b)), inputs)

    return mapping


register_op("Sum")(joined(AddOp))
register_op("Max")(joined(MaximumOp))
register_op("Min")(joined(MinimumOp))


@register_op("Mean")
def mean(emit: Emitter, inputs: Tensors) -> SSAValue:
    """The mean of tensors, element by element"""
    return div(emit, reduce(lambda a, b: emit(AddOp(a, b)), inputs), float(len(inputs)))


# Comparisons.

PREDICATES = {
    "Equal": "eq",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "Less": "lt",
    "LessOrEqual": "le",
}


def comparison(predicate: str) -> Callable[..., SSAValue]:
    """Return the mapping of a comparison of pairs of elements."""

    def mapping(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
        return emit(CompareOp(a, b, predicate=predicate))

    return mapping


for _comparison_name, _predicate in PREDICATES.items():
    register_op(_comparison_name)(comparison(_predicate))


@register_op("IsInf")
def is_inf(
    emit: Emitter, x: SSAValue, detect_negative: int = 1, detect_positive: int = 1
) -> SSAValue:
    """Whether it is infinite, of either sign or of one"""
    found = [
        compared(emit, x, bound, "eq")
        for wanted, bound in ((detect_positive, inf), (detect_negative, -inf))
        if wanted
    ]
    if not found:
        return emit.full(tensor_shape(x), False, i1)
    return found[0] if len(found) == 1 else emit(BitwiseOrOp(found[0], found[1]))


OF_ATEN: dict[str, Callable[[Emitter, SSAValue], Result]] = {
    **{"Tan": tan, "Sinh": sinh, "Cosh": cosh, "Asin": asin, "Acos": acos, "Atan": atan},
    **{"Asinh": asinh, "Acosh": acosh, "Atanh": atanh},
}
for _name, _function in OF_ATEN.items():
    register_op(_name)(_function)
