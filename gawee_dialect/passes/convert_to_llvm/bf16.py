"""bf16 as its 16 bits, which are the upper half of an f32: arithmetic is done in f32.

LLVM has a type for it, whose conversions are calls of a library where the processor has none.
"""

from xdsl.dialects import llvm
from xdsl.dialects.builtin import BFloat16Type, FloatAttr, IntegerAttr, bf16, f32, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.llvm_vector import FCmpOp, SelectOp
from gawee_dialect.passes.convert_to_llvm.conversion import (
    FunctionConversion,
    in_lanes,
    lane_type,
)

UNORDERED = IntegerAttr(14, i64)
"""The comparison that holds where an operand is NaN."""

QUIET = 0x40
"""The bit of a bf16 that tells a quiet NaN from a signalling one, or from an infinity."""


def is_bf16(type: Attribute) -> bool:
    """Whether a type is bf16, or a vector of it."""
    return isinstance(lane_type(type), BFloat16Type)


def bits_of_constant(value: FloatAttr) -> int:
    """Return the bits of a bf16 constant, as a signed number."""
    return int.from_bytes(bf16.pack([value.value.data]), "little", signed=True)


def widened(old: SSAValue, to: FunctionConversion) -> SSAValue:
    """Return the converted value of `old`: the f32 that is equal to it where it is a bf16."""
    value = to.value(old)
    if not is_bf16(old.type):
        return value
    word = in_lanes(i32, value.type)
    upper = llvm.ShlOp(to.compute(llvm.ZExtOp(value, word)), to.integer(16, word))
    return to.compute(llvm.BitcastOp(to.compute(upper), in_lanes(f32, word)))


def narrowed(value: SSAValue, type: Attribute, to: FunctionConversion) -> SSAValue:
    """Round an f32 to the nearest bf16 where `type` is that, ties to even; else return it."""
    if not is_bf16(type):
        return value
    word, half = in_lanes(i32, value.type), in_lanes(i16, value.type)
    bits = to.compute(llvm.BitcastOp(value, word))
    sixteen = to.integer(16, word)
    upper = to.compute(llvm.LShrOp(bits, sixteen))
    odd = to.compute(llvm.AndOp(upper, to.integer(1, word)))
    nearly_half = to.compute(llvm.AddOp(odd, to.integer(0x7FFF, word)))
    rounded = to.compute(llvm.LShrOp(to.compute(llvm.AddOp(bits, nearly_half)), sixteen))
    quiet = to.compute(llvm.OrOp(upper, to.integer(QUIET, word)))
    is_nan = to.compute(FCmpOp(value, value, UNORDERED))
    chosen = to.compute(SelectOp(is_nan, quiet, rounded))
    return to.compute(llvm.TruncOp(chosen, half))
