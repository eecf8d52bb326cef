"""Functions of one tensor and of two, element by element, with PyTorch's promotion of types."""

from collections.abc import Callable, Sequence
from math import inf, log, prod

import numpy as np
from xdsl.dialects.builtin import IntegerType, bf16, f16, f32, f64, i1, i32, i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.graph.arithmetic import (
    AbsOp,
    Atan2Op,
    CeilOp,
    CosOp,
    ExpOp,
    FloorDivOp,
    FloorOp,
    FmodOp,
    Log1pOp,
    LogOp,
    MaximumOp,
    MinimumOp,
    NegOp,
    PowOp,
    ReciprocalOp,
    RemainderOp,
    RoundOp,
    RsqrtOp,
    SignOp,
    SinOp,
    TanhOp,
)
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.elementwise import (
    AddOp,
    DivOp,
    MulOp,
    SqrtOp,
    SubOp,
    broadcast_shape,
)
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.logic import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    IsNanOp,
    LogicalNotOp,
    WhereOp,
)
from gawee_dialect.dialect.graph.reduction import ReduceAnyOp
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import (
    FLOATS,
    element_bytes,
    element_type,
    is_float,
    is_unsigned,
    tensor_shape,
)
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.control_flow import repeated
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    as_element,
    common_element,
    promoted,
    promoted_to_float,
    to_bool,
    to_float,
)
from gawee_dialect.frontends.op_mapping.registry import Number, Operand, Refusal, Result

# Functions of one tensor, element by element.


Function = Callable[[Emitter, SSAValue], Result]


def float_function(op: Callable[..., Operation]) -> Function:
    """Return the mapping of a function of floats; integers become float32 first."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        return emit(op(to_float(emit, self)))

    return mapping


def same(op: Callable[..., Operation]) -> Function:
    """Return the mapping of a function of numbers that keeps their type."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        return emit(op(self))

    return mapping


def rounding_function(op: Callable[[SSAValue], Operation]) -> Function:
    """Return the mapping of a function that leaves integers as they are."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        return emit(op(self)) if is_float(element_type(self)) else self

    return mapping


def logarithm(base: float) -> Function:
    """Return the mapping of a logarithm."""

    def mapping(emit: Emitter, self: SSAValue) -> Result:
        value = emit(LogOp(to_float(emit, self)))
        return emit(MulOp(value, emit.number(1 / log(base), element_type(value))))

    return mapping


for _kind in ELEMENTWISE:
    if _kind.ATEN:
        register_op(_kind.ATEN)((float_function if _kind.ELEMENTS is FLOATS else same)(_kind))

for _name, _op in {"floor": FloorOp, "ceil": CeilOp, "round.default": RoundOp}.items():
    register_op(f"aten.{_name}")(rounding_function(_op))

register_op("aten.log2")(logarithm(2))
register_op("aten.log10")(logarithm(10))


def in_signed(emit: Emitter, op: Callable[..., Operation], *values: SSAValue) -> SSAValue:
    """Apply an op on unsigned integers in int32, of which they are the low bits; else as it is."""
    element = element_type(values[0])
    if not is_unsigned(element):
        return emit(op(*values))
    return emit.cast(emit(op(*(emit.cast(value, i32) for value in values))), element)


def in_common(
    emit: Emitter, op: Callable[..., Operation], self: Operand, other: Operand
) -> SSAValue:
    """Apply an op in the type that its operands promote to.

    A factor that f16 has no number for, as 1e5, is one of f32 beside tensors of f16, as in PyTorch.
    """
    if common_element(self, other) == f16 and (_beyond_f16(self) or _beyond_f16(other)):
        wide = (as_element(emit, each, f32) for each in (self, other))
        return emit.cast(emit(op(*wide)), f16)
    return in_signed(emit, op, *promoted(emit, self, other))


def _beyond_f16(operand: Operand) -> bool:
    """Whether f16 may make infinity, zero or a rough number of an operand of rank 0."""
    if isinstance(operand, SSAValue):
        return not tensor_shape(operand) and element_type(operand) in (f32, f64, i32, i64)
    if isinstance(operand, OpenSize) or operand == 0:
        return False
    limits = np.finfo(np.float16)
    return not float(limits.tiny) <= abs(operand) <= float(limits.max) and abs(operand) < inf


@register_op("aten.neg", "aten.negative", "aten._neg_view")
def neg(emit: Emitter, self: SSAValue) -> SSAValue:
    """-x"""
    return in_signed(emit, NegOp, self)


@register_op("aten.abs", "aten.absolute")
def absolute(emit: Emitter, self: SSAValue) -> SSAValue:
    """|x|"""
    element = element_type(self)
    return self if is_unsigned(element) or element == i1 else emit(AbsOp(self))


@register_op("aten.sign", "aten.sgn")
def sign(emit: Emitter, self: SSAValue) -> SSAValue:
    """-1, 0 or 1"""
    return self if element_type(self) == i1 else in_signed(emit, SignOp, self)


@register_op("aten.trunc", "aten.fix")
def trunc(emit: Emitter, self: SSAValue) -> SSAValue:
    """Round towards zero."""
    if not is_float(element_type(self)):
        return self
    negative = compared(emit, self, 0.0, "lt")
    return emit(WhereOp(negative, emit(CeilOp(self)), emit(FloorOp(self))))


@register_op("aten.square")
def square(emit: Emitter, self: SSAValue) -> SSAValue:
    """x * x"""
    return in_signed(emit, MulOp, self, self)


@register_op("aten.expm1")
def expm1(emit: Emitter, self: SSAValue) -> SSAValue:
    """exp(x) - 1, as tanh(x / 2) * (exp(x) + 1): exact near zero as well."""
    value = to_float(emit, self)
    half, one = (emit.number(number, element_type(value)) for number in (0.5, 1))
    exp, tanh = emit(ExpOp(value)), emit(TanhOp(emit(MulOp(value, half))))
    near_zero = emit(MulOp(tanh, emit(AddOp(exp, one))))
    large = compared(emit, emit(AbsOp(value)), 1.0, "gt")
    return emit(WhereOp(large, emit(SubOp(exp, one)), near_zero))


@register_op("aten.exp2")
def exp2(emit: Emitter, self: SSAValue) -> SSAValue:
    """2 to the power of x"""
    value = to_float(emit, self)
    return emit(ExpOp(emit(MulOp(value, emit.number(log(2), element_type(value))))))


@register_op("aten.tan")
def tan(emit: Emitter, self: SSAValue) -> SSAValue:
    """sin(x) / cos(x)"""
    value = to_float(emit, self)
    return emit(DivOp(emit(SinOp(value)), emit(CosOp(value))))


@register_op("aten.frac")
def frac(emit: Emitter, self: SSAValue) -> SSAValue:
    """x without its integer part"""
    return emit(SubOp(self, trunc(emit, self)))


@register_op("aten.logical_not")
def logical_not(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is zero."""
    return emit(LogicalNotOp(to_bool(emit, self)))


@register_op("aten.bitwise_not")
def bitwise_not(emit: Emitter, self: SSAValue) -> SSAValue:
    """~x; of booleans their negation."""
    return emit(LogicalNotOp(self) if element_type(self) == i1 else BitwiseNotOp(self))


@register_op("aten.isnan")
def isnan(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is NaN; integers never are."""
    if is_float(element_type(self)):
        return emit(IsNanOp(self))
    return compared(emit, self, self, "ne")


@register_op("aten.isinf")
def isinf(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is infinite."""
    return compared(emit, absolute(emit, to_float(emit, self)), float("inf"), "eq")


@register_op("aten.isfinite")
def isfinite(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element is neither infinite nor NaN."""
    return compared(emit, absolute(emit, to_float(emit, self)), float("inf"), "lt")


def scaled(emit: Emitter, value: SSAValue, factor: Number) -> SSAValue:
    """Return a tensor times a number, in its own element type."""
    if factor == 1:
        return value
    return in_signed(emit, MulOp, value, emit.number(factor, element_type(value)))


@register_op("aten.round.decimals")
def round_decimals(emit: Emitter, self: SSAValue, *, decimals: int) -> SSAValue:
    """Round to so many digits behind the point, or in front of it where that is negative."""
    if not is_float(element_type(self)):
        return self
    power = float(10 ** abs(decimals))
    if decimals > 0:
        return div(emit, emit(RoundOp(mul(emit, self, power))), power)
    return mul(emit, emit(RoundOp(div(emit, self, power))), power)


@register_op("aten.add")
def add(emit: Emitter, self: Operand, other: Operand, alpha: Number = 1) -> SSAValue:
    """self + alpha * other; of booleans whether any of them is true"""
    lhs, rhs = promoted(emit, self, other)
    if element_type(lhs) == i1:
        return emit(BitwiseOrOp(lhs, rhs))
    return in_signed(emit, AddOp, lhs, scaled(emit, rhs, alpha))


@register_op("aten.sub", "aten.subtract")
def sub(emit: Emitter, self: Operand, other: Operand, alpha: Number = 1) -> SSAValue:
    """self - alpha * other"""
    lhs, rhs = promoted(emit, self, other)
    return in_signed(emit, SubOp, lhs, scaled(emit, rhs, alpha))


@register_op("aten.rsub")
def rsub(emit: Emitter, self: Operand, other: Operand, alpha: Number = 1) -> SSAValue:
    """other - alpha * self"""
    return sub(emit, other, self, alpha)


@register_op("aten.mul", "aten.multiply")
def mul(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """self * other; of booleans whether both are true"""
    if common_element(self, other) == i1:
        return emit(BitwiseAndOp(*promoted(emit, self, other)))
    return in_common(emit, MulOp, self, other)


@register_op("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide")
def div(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """self / other; integers become float32"""
    if is_float(common_element(self, other)):
        return in_common(emit, DivOp, self, other)
    return emit(DivOp(*promoted_to_float(emit, self, other)))


@register_op("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(
    emit: Emitter, self: Operand, other: Operand, rounding_mode: str | None = None
) -> SSAValue:
    """Divide, and round as the mode says: not at all, `floor` or `trunc`."""
    if rounding_mode is None:
        return div(emit, self, other)
    if rounding_mode not in ("floor", "trunc"):
        raise Refusal(f"unsupported rounding_mode '{rounding_mode}'; supported: floor, trunc")
    lhs, rhs = promoted(emit, self, other)
    floats = is_float(element_type(lhs))
    if rounding_mode == "floor":
        return _floor_of_floats(emit, lhs, rhs) if floats else in_signed(emit, FloorDivOp, lhs, rhs)
    return trunc(emit, emit(DivOp(lhs, rhs))) if floats else _trunc_of_integers(emit, lhs, rhs)


def _floor_of_floats(emit: Emitter, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    # floor(lhs / rhs) would be one too large where the quotient is rounded up to an integer.
    exact = emit(SubOp(lhs, emit(RemainderOp(lhs, rhs))))
    quotient = emit(RoundOp(emit(DivOp(exact, rhs))))
    by_zero = compared(emit, rhs, 0.0, "eq")
    return emit(WhereOp(by_zero, emit(DivOp(lhs, rhs)), quotient))


def _trunc_of_integers(emit: Emitter, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    quotient = in_signed(emit, FloorDivOp, lhs, rhs)
    inexact = compared(emit, in_signed(emit, MulOp, quotient, rhs), lhs, "ne")
    negative = compared(emit, compared(emit, lhs, 0, "lt"), compared(emit, rhs, 0, "lt"), "ne")
    adjust = emit.cast(emit(BitwiseAndOp(inexact, negative)), element_type(quotient))
    return in_signed(emit, AddOp, quotient, adjust)


@register_op("aten.floor_divide")
def floor_divide(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """Divide and round down."""
    return div_mode(emit, self, other, "floor")


@register_op("aten.remainder")
def remainder(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """The rest of a division, with the sign of the divisor."""
    return in_signed(emit, RemainderOp, *promoted(emit, self, other))


@register_op("aten.fmod")
def fmod(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """The rest of a division, with the sign of the dividend."""
    return in_signed(emit, FmodOp, *promoted(emit, self, other))


@register_op("aten.gcd")
def gcd(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The greatest common divisor, by Euclid's steps until none has a rest"""
    lhs, rhs = promoted(emit, self, other)
    element = element_type(lhs)
    wide = i64 if element == i64 else i32
    shape = broadcast_shape(tensor_shape(lhs), tensor_shape(rhs))
    sizes = [emit(AbsOp(emit.broadcast(emit.cast(each, wide), shape))) for each in (lhs, rhs)]

    def rest(now: Sequence[SSAValue]) -> SSAValue:
        flat = emit.reshape(compared(emit, now[1], 0, "ne"), (prod(shape),))
        return emit(ReduceAnyOp(flat, axes=[0], keep_dims=False))

    def step(now: Sequence[SSAValue]) -> Sequence[SSAValue]:
        done = compared(emit, now[1], 0, "eq")
        divisor = emit(MaximumOp(now[1], emit.number(1, wide)))
        left = emit(FmodOp(now[0], divisor))
        return emit(WhereOp(done, now[0], now[1])), emit(WhereOp(done, now[1], left))

    return emit.cast(repeated(emit, rest, step, sizes)[0], element)


@register_op("aten.lcm")
def lcm(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The least common multiple; zero where one of both is"""
    lhs, rhs = promoted(emit, self, other)
    element = element_type(lhs)
    wide = i64 if element == i64 else i32
    lhs, rhs = emit.cast(lhs, wide), emit.cast(rhs, wide)
    divisor = emit(MaximumOp(gcd(emit, lhs, rhs), emit.number(1, wide)))
    multiple = emit(MulOp(emit(FloorDivOp(lhs, divisor)), rhs))
    return emit.cast(emit(AbsOp(multiple)), element)


@register_op("aten.atan2", "aten.arctan2")
def atan2(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The angle of the point (other, self)"""
    return emit(Atan2Op(*promoted_to_float(emit, self, other)))


@register_op("aten.signbit")
def signbit(emit: Emitter, self: SSAValue) -> SSAValue:
    """Whether an element has a minus, as -0.0 and a NaN may"""
    element = element_type(self)
    if element == i1:
        return emit.full(tensor_shape(self), False, i1)
    if is_float(element):
        self = emit(BitcastOp(self, IntegerType(8 * element_bytes(element))))
    return compared(emit, self, 0, "lt")


@register_op("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(emit: Emitter, self: SSAValue, other: Operand) -> SSAValue:
    """|self| with the sign of other, that of a zero or a NaN too"""
    lhs, rhs = promoted_to_float(emit, self, other)
    size = emit(AbsOp(lhs))
    return emit(WhereOp(signbit(emit, rhs), emit(NegOp(size)), size))


@register_op("aten.hypot")
def hypot(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """sqrt(self^2 + other^2), of squares of at most 1, which do not overflow"""
    lhs, rhs = (emit(AbsOp(each)) for each in promoted(emit, self, other))
    large, small = emit(MaximumOp(lhs, rhs)), emit(MinimumOp(lhs, rhs))
    part = div(emit, small, large)
    length = mul(emit, large, emit(SqrtOp(add(emit, mul(emit, part, part), 1))))
    infinite = emit(BitwiseOrOp(isinf(emit, lhs), isinf(emit, rhs)))
    length = emit(WhereOp(compared(emit, large, 0, "eq"), large, length))
    return emit(WhereOp(infinite, emit.number(inf, element_type(lhs)), length))


@register_op("aten.ldexp.Tensor")
def ldexp(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """self * 2^other, where PyTorch rounds the power to the type of its exponent"""
    lhs, rhs = _in_f32(emit, self), _in_f32(emit, other)
    power = pow_tensors(emit, 2.0, rhs)
    if is_bf16(other):
        power = emit.cast(emit.cast(power, bf16), f32)
    product = mul(emit, lhs, power)
    return emit.cast(product, bf16) if is_bf16(self) and is_bf16(other) else product


def is_bf16(operand: Operand) -> bool:
    """Whether an operand is stored in bfloat16, in which nothing is computed."""
    return isinstance(operand, SSAValue) and element_type(operand) == bf16


def _in_f32(emit: Emitter, operand: Operand) -> Operand:
    return as_element(emit, operand, f32) if is_bf16(operand) else operand


@register_op("aten.pow.Tensor_Scalar")
def pow_number(emit: Emitter, self: SSAValue, exponent: Number) -> SSAValue:
    """self to the power of a number; small powers are products, as in PyTorch"""
    if isinstance(exponent, OpenSize):
        return pow_tensors(emit, self, exponent)
    value = emit.cast(self, common_element(self, exponent))
    small = _small_power(emit, value, int(exponent)) if float(exponent).is_integer() else None
    if small is not None:
        return small
    roots = {0.5: SqrtOp, -0.5: RsqrtOp, -1: ReciprocalOp}
    if is_float(element_type(value)) and exponent in roots:
        return emit(roots[exponent](value))
    return pow_tensors(emit, value, exponent)


def _small_power(emit: Emitter, value: SSAValue, exponent: int) -> SSAValue | None:
    if exponent == 1:
        return value
    if exponent not in (2, 3) and (is_float(element_type(value)) or exponent < 1):
        return None
    result = value
    for bit in f"{exponent:b}"[1:]:
        result = in_signed(emit, MulOp, result, result)
        result = in_signed(emit, MulOp, result, value) if bit == "1" else result
    return result


@register_op("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def pow_tensors(emit: Emitter, self: Operand, exponent: Operand) -> SSAValue:
    """self to the power of a tensor"""
    return in_signed(emit, PowOp, *promoted(emit, self, exponent))


@register_op("aten.addcmul")
def addcmul(
    emit: Emitter, self: SSAValue, tensor1: SSAValue, tensor2: SSAValue, value: Number = 1
) -> SSAValue:
    """self + value * tensor1 * tensor2"""
    return add(emit, self, mul(emit, tensor1, tensor2), value)


@register_op("aten.addcdiv")
def addcdiv(
    emit: Emitter, self: SSAValue, tensor1: SSAValue, tensor2: SSAValue, value: Number = 1
) -> SSAValue:
    """self + value * tensor1 / tensor2"""
    return add(emit, self, div(emit, tensor1, tensor2), value)


@register_op("aten.lerp")
def lerp(emit: Emitter, self: SSAValue, end: SSAValue, weight: Operand) -> SSAValue:
    """self + weight * (end - self)"""
    step = mul(emit, as_element(emit, weight, element_type(self)), sub(emit, end, self))
    return add(emit, self, step)


@register_op("aten.copy")
def copy(emit: Emitter, self: SSAValue, src: SSAValue) -> SSAValue:
    """Other elements, in the shape and element type of the first tensor"""
    return emit.broadcast(emit.cast(src, element_type(self)), tensor_shape(self))


@register_op("aten.fill")
def fill(emit: Emitter, self: SSAValue, value: Operand) -> SSAValue:
    """One value everywhere, in the shape and element type of a tensor"""
    return emit.broadcast(as_element(emit, value, element_type(self)), tensor_shape(self))


# Bits moved to the left and to the right.


def width_of(value: SSAValue) -> int:
    """Return how many bits an element has; raises Refusal for what PyTorch shifts no bits of."""
    element = element_type(value)
    if not isinstance(element, IntegerType) or element.bitwidth == 1:
        raise Refusal(f"expected integers, got '{element}'")
    return element.bitwidth


def powers(emit: Emitter, count: SSAValue, known: int, beyond: int) -> SSAValue:
    """Return 2 to the power of each count from 0 up to `known`, and a number for any other."""
    table = np.array([*(1 << bits for bits in range(known)), beyond], np.uint64).astype(np.int64)
    wide = emit.cast(count, i64)
    negative = compared(emit, wide, 0, "lt")
    last = emit.number(known, i64)
    inside = emit(MaximumOp(emit(MinimumOp(wide, last)), emit.number(0, i64)))
    place = emit(WhereOp(negative, last, inside))
    return emit.cast(emit(GatherOp(emit.array(table, i64), place, axis=0)), element_type(count))


@register_op("aten.bitwise_left_shift", "aten.__lshift__")
def left_shift(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """x * 2^n; 0 for n below 0 or of more bits than there are"""
    lhs, rhs = promoted(emit, self, other)
    factor = powers(emit, rhs, width_of(lhs), 0)
    return in_signed(emit, MulOp, lhs, factor)


@register_op("aten.bitwise_right_shift", "aten.__rshift__")
def right_shift(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """x / 2^n, rounded down; the sign alone for n below 0 or of more bits than there are"""
    lhs, rhs = promoted(emit, self, other)
    # 2^(width - 1) is no signed number: what is shifted that far, in any direction, is its sign.
    known = width_of(lhs) - (0 if is_unsigned(element_type(lhs)) else 1)
    shifted = in_signed(emit, FloorDivOp, lhs, powers(emit, rhs, known, 1))
    wide = emit.cast(rhs, i64)
    sign = emit.cast(compared(emit, lhs, 0, "lt"), element_type(lhs))
    all_bits = in_signed(emit, MulOp, sign, emit.cast(emit.number(-1, i64), element_type(lhs)))
    near = emit(WhereOp(compared(emit, wide, known, "lt"), shifted, all_bits))
    return emit(WhereOp(compared(emit, wide, 0, "lt"), all_bits, near))


# Inverse trigonometric and hyperbolic functions; integers become float32 first.


@register_op("aten.atan", "aten.arctan")
def atan(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle of the point (1, x)"""
    value = to_float(emit, self)
    return emit(Atan2Op(value, emit.number(1, element_type(value))))


@register_op("aten.asin", "aten.arcsin")
def asin(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle of the point of the unit circle at height x"""
    value = to_float(emit, self)
    return emit(Atan2Op(value, _other_leg(emit, value)))


@register_op("aten.acos", "aten.arccos")
def acos(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle of the point of the upper unit circle above x"""
    value = to_float(emit, self)
    return emit(Atan2Op(_other_leg(emit, value), value))


def _other_leg(emit: Emitter, value: SSAValue) -> SSAValue:
    # sqrt(1 - x * x) loses digits near 1; its factors do not.
    factors = rsub(emit, value, 1), add(emit, value, 1)
    return emit(SqrtOp(emit(MulOp(*factors))))


def _half_exponentials(emit: Emitter, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return exp(x) / 2 and exp(-x) / 2, which overflow no earlier than sinh and cosh."""
    root = emit(ExpOp(mul(emit, value, 0.5)))
    half = mul(emit, root, 0.5)
    below = emit(DivOp(emit.number(0.5, element_type(value)), root))
    return emit(MulOp(half, root)), emit(DivOp(below, root))


@register_op("aten.sinh")
def sinh(emit: Emitter, self: SSAValue) -> SSAValue:
    """(exp(x) - exp(-x)) / 2"""
    value = to_float(emit, self)
    large = emit(SubOp(*_half_exponentials(emit, value)))
    less_one = expm1(emit, value)
    small = add(emit, less_one, div(emit, less_one, add(emit, less_one, 1)))
    is_large = compared(emit, emit(AbsOp(value)), 1.0, "gt")
    return emit(WhereOp(is_large, large, mul(emit, small, 0.5)))


@register_op("aten.cosh")
def cosh(emit: Emitter, self: SSAValue) -> SSAValue:
    """(exp(x) + exp(-x)) / 2"""
    return emit(AddOp(*_half_exponentials(emit, to_float(emit, self))))


def _of_size(emit: Emitter, value: SSAValue, function: Callable[[SSAValue], SSAValue]) -> SSAValue:
    """Return an odd function from what it is of |x|."""
    size = function(emit(AbsOp(value)))
    return emit(WhereOp(compared(emit, value, 0.0, "lt"), emit(NegOp(size)), size))


def _doubled_beyond(emit: Emitter, value: SSAValue, otherwise: SSAValue) -> SSAValue:
    """Return log(2 * x) where x is so large that its square may overflow."""
    doubled = add(emit, emit(LogOp(value)), log(2))
    far = 100.0 if element_type(value) == f16 else 1e9
    return emit(WhereOp(compared(emit, value, far, "gt"), doubled, otherwise))


@register_op("aten.asinh", "aten.arcsinh")
def asinh(emit: Emitter, self: SSAValue) -> SSAValue:
    """log(x + sqrt(x * x + 1)), of |x| and with the sign of x"""

    def positive(value: SSAValue) -> SSAValue:
        square = emit(MulOp(value, value))
        root = add(emit, emit(SqrtOp(add(emit, square, 1))), 1)
        small = emit(Log1pOp(add(emit, value, emit(DivOp(square, root)))))
        return _doubled_beyond(emit, value, small)

    return _of_size(emit, to_float(emit, self), positive)


@register_op("aten.acosh", "aten.arccosh")
def acosh(emit: Emitter, self: SSAValue) -> SSAValue:
    """log(x + sqrt(x * x - 1)); NaN below 1"""
    value = to_float(emit, self)
    above = add(emit, value, -1)
    roots = emit(SqrtOp(above)), emit(SqrtOp(add(emit, above, 2)))
    small = emit(Log1pOp(add(emit, above, emit(MulOp(*roots)))))
    return _doubled_beyond(emit, value, small)


@register_op("aten.atanh", "aten.arctanh")
def atanh(emit: Emitter, self: SSAValue) -> SSAValue:
    """log((1 + x) / (1 - x)) / 2, of |x| and with the sign of x; NaN beyond 1"""

    def positive(value: SSAValue) -> SSAValue:
        ratio = div(emit, mul(emit, value, 2), rsub(emit, value, 1))
        return mul(emit, emit(Log1pOp(ratio)), 0.5)

    return _of_size(emit, to_float(emit, self), positive)
