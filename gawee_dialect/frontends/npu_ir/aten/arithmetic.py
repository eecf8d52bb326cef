"""Arithmetic on two tensors, with PyTorch's promotion of mixed element types."""

import numpy as np
from xdsl.dialects.builtin import IntegerType, i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import (
    Atan2Op,
    FloorDivOp,
    FmodOp,
    MaximumOp,
    MinimumOp,
    PowOp,
    ReciprocalOp,
    RemainderOp,
    RoundOp,
)
from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp, BitwiseOrOp
from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.elementary import RsqrtOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.gather import GatherOp
from gawee_dialect.dialect.types import element_type, is_float, is_unsigned, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.pointwise import in_signed, trunc
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.promotion import (
    as_element,
    common_element,
    promoted,
    promoted_to_float,
)
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Number, Operand


def scaled(emit: Emitter, value: SSAValue, factor: Number) -> SSAValue:
    """Return a tensor times a number, in its own element type."""
    if factor == 1:
        return value
    return in_signed(emit, MulOp, value, emit.number(factor, element_type(value)))


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
    lhs, rhs = promoted(emit, self, other)
    if element_type(lhs) == i1:
        return emit(BitwiseAndOp(lhs, rhs))
    return in_signed(emit, MulOp, lhs, rhs)


@register_op("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide")
def div(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """self / other; integers become float32"""
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


@register_op("aten.atan2", "aten.arctan2")
def atan2(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The angle of the point (other, self)"""
    return emit(Atan2Op(*promoted_to_float(emit, self, other)))


@register_op("aten.pow.Tensor_Scalar")
def pow_number(emit: Emitter, self: SSAValue, exponent: Number) -> SSAValue:
    """self to the power of a number; small powers are products, as in PyTorch"""
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
