"""The instruction that makes the nearest integers of floats."""

from xdsl.dialects import arith, llvm, math
from xdsl.dialects.builtin import Float32Type, StringAttr, VectorType, i16, i32
from xdsl.ir import Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.arith import float_cast
from gawee_dialect.passes.loops.convert_to_llvm.conversion import FunctionConversion, Rule
from gawee_dialect.passes.loops.convert_to_llvm.vector import lanes_of
from gawee_dialect.target.description import X86_64
from gawee_dialect.upstream import llvm as ours
from gawee_dialect.upstream.arith import ON_VECTORS

INSTRUCTIONS = {
    4: "llvm.x86.sse2.cvtps2dq",
    8: "llvm.x86.avx.cvt.ps2dq.256",
    16: "llvm.x86.avx512.mask.cvtps2dq.512",
}
"""By the number of lanes."""
CURRENT_ROUNDING, EVERY_LANE = 4, -1

_TO_INTEGERS = float_cast(ours.FPToSIOp)


def convert_to_integers(op: Operation, to: FunctionConversion) -> None:
    """arith.fptosi  ->  llvm.fptosi; of vectors that are rounded to even, one instruction for both

    What integers do not hold is undefined in either.
    """
    rounded = op.operands[0].owner
    made = _nearest(rounded, to) if isinstance(rounded, math.RoundEvenOp) else None
    if made is None or op.results[0].type != made.type:
        _TO_INTEGERS(op, to)
    else:
        to.define(op.results[0], made)


def _nearest(op: math.RoundEvenOp, to: FunctionConversion) -> SSAValue | None:
    if to.processor is None or to.processor.triple != X86_64:
        return None
    value = to.value(op.operand)
    if op.operand.type != value.type or not isa(value.type, VectorType[Float32Type]):
        return None
    lanes = lanes_of(value)
    if lanes not in INSTRUCTIONS or lanes > to.processor.lanes:
        return None
    type = VectorType(i32, [lanes])
    operands = [value]
    if lanes == max(INSTRUCTIONS):
        mask = to.integer(EVERY_LANE, i16)
        operands += [to.integer(0, type), mask, to.integer(CURRENT_ROUNDING, i32)]
    return to.compute(llvm.CallIntrinsicOp(StringAttr(INSTRUCTIONS[lanes]), operands, [type]))


RULES = (Rule(ON_VECTORS[arith.FPToSIOp], convert_to_integers),)
