"""Bits moved to the left and to the right."""

import numpy as np
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.arithmetic import FloorDivOp, MaximumOp, MinimumOp
from gawee_dialect.dialect.comparison import WhereOp
from gawee_dialect.dialect.elementwise import MulOp
from gawee_dialect.dialect.gather import GatherOp
from gawee_dialect.dialect.types import element_type, is_unsigned
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.pointwise import in_signed
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.promotion import promoted
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Operand


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
