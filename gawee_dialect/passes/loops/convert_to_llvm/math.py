"""Elementary functions: LLVM's intrinsic where there is one, else the function of C's libm."""

from collections.abc import Callable

from xdsl.dialects import arith, llvm, math, vector
from xdsl.dialects.builtin import Float64Type, IntegerAttr, VectorType, f32
from xdsl.dialects.llvm import FastMathAttr
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.arith import (
    fast_math,
    float_binary,
    narrowed,
    widened,
)
from gawee_dialect.passes.loops.convert_to_llvm.conversion import FunctionConversion, rule
from gawee_dialect.passes.loops.convert_to_llvm.instructions import float_op
from gawee_dialect.upstream import llvm as ours
from gawee_dialect.upstream import llvm_vector

LARGEST_PRODUCT = 16
"""Integer powers up to which products take the place of a call."""

Unary = Callable[[SSAValue, FastMathAttr], Operation]


def unary(
    make: Unary,
) -> Callable[[math.FloatingPointLikeUnaryMathOperation, FunctionConversion], None]:
    """Convert a function of one float to the intrinsic that `make` makes."""

    def convert(op: math.FloatingPointLikeUnaryMathOperation, to: FunctionConversion) -> None:
        made = to.compute(make(widened(op.operand, to), fast_math(op.fastmath, to)))
        to.define(op.result, narrowed(made, op.result.type, to))

    return convert


def libm(
    name: str,
) -> Callable[[math.FloatingPointLikeUnaryMathOperation, FunctionConversion], None]:
    """Convert a function of one float to a call; f16 is computed as f32, which libm has.

    libm has no vectors: every lane is a call.
    """

    def convert(op: math.FloatingPointLikeUnaryMathOperation, to: FunctionConversion) -> None:
        argument = widened(op.operand, to)
        if not isa(argument.type, VectorType[Attribute]):
            made = _libm_call(name, argument, to)
            to.define(op.result, narrowed(made, op.result.type, to))
            return
        result = to.compute(llvm.UndefOp(argument.type))
        for lane in range(argument.type.get_shape()[0]):
            position = to.integer(lane)
            element = to.compute(llvm_vector.ExtractElementOp(argument, position))
            value = _libm_call(name, element, to)
            result = to.compute(llvm.InsertElementOp(result, value, position))
        to.define(op.result, narrowed(result, op.result.type, to))

    return convert


def _libm_call(name: str, argument: SSAValue, to: FunctionConversion) -> SSAValue:
    own = argument.type
    type = own if isinstance(own, Float64Type) else f32
    if own != type:
        argument = to.compute(llvm.FPExtOp(argument, type))
    symbol = name if isinstance(type, Float64Type) else f"{name}f"
    to.libm[symbol] = llvm.LLVMFunctionType([type], type)
    result = to.compute(llvm.CallOp(symbol, argument, return_type=type))
    return result if own == type else to.compute(llvm.FPTruncOp(result, own))


def convert_reciprocal_root(op: math.RsqrtOp, to: FunctionConversion) -> None:
    """math.rsqrt %x  ->  1 / llvm.intr.sqrt(%x)"""
    flags = fast_math(op.fastmath, to)
    root = to.compute(llvm.FSqrtOp(widened(op.operand, to), flags))
    one = to.number(1.0, root.type)
    made = to.compute(llvm.FDivOp(one, root, flags))
    to.define(op.result, narrowed(made, op.result.type, to))


def convert_fma(op: math.FmaOp, to: FunctionConversion) -> None:
    """math.fma  ->  llvm.intr.fma"""
    operands = [widened(operand, to) for operand in op.operands]
    made = to.compute(float_op(llvm.FMAOp, operands, fast_math(op.fastmath, to)))
    to.define(op.result, narrowed(made, op.result.type, to))


def convert_integer_power(op: math.FPowIOp, to: FunctionConversion) -> None:
    """math.fpowi %x, 3  ->  x * (x * x), of larger or unknown exponents llvm.intr.pow"""
    base, flags = widened(op.lhs, to), fast_math(op.fastmath, to)
    exponent = _constant_of(op.rhs)
    if exponent is not None and 1 <= exponent <= LARGEST_PRODUCT:
        power = _product(base, exponent, flags, to)
    else:
        number = to.compute(llvm.SIToFPOp(to.value(op.rhs), base.type))
        power = to.compute(llvm.FPowOp(base, number, flags))
    to.define(op.result, narrowed(power, op.result.type, to))


def _product(
    base: SSAValue, exponent: int, flags: FastMathAttr, to: FunctionConversion
) -> SSAValue:
    if exponent == 1:
        return base
    half = _product(base, exponent // 2, flags, to)
    square = to.compute(llvm.FMulOp(half, half, flags))
    return to.compute(llvm.FMulOp(base, square, flags)) if exponent % 2 else square


def _constant_of(value: SSAValue) -> int | None:
    """Return the integer that a value is, or that all lanes of it are; None where none is known."""
    if isinstance(value.owner, vector.BroadcastOp):
        value = value.owner.source
    if not isinstance(value.owner, arith.ConstantOp):
        return None
    constant = value.owner.value
    return constant.value.data if isa(constant, IntegerAttr) else None


def convert_absolute_integer(op: math.AbsIOp, to: FunctionConversion) -> None:
    """math.absi %x  ->  llvm.intr.smax(%x, 0 - %x)"""
    value = to.value(op.operand)
    negated = to.compute(llvm.SubOp(to.integer(0, value.type), value))
    to.define(op.result, to.compute(ours.SMaxOp(value, negated)))


def _absolute(value: SSAValue, flags: FastMathAttr) -> Operation:
    return llvm.FAbsOp(value, value.type, flags)


RULES = (
    rule(math.AbsFOp, unary(_absolute)),
    rule(math.AbsIOp, convert_absolute_integer),
    rule(math.AcosOp, unary(ours.AcosOp)),
    rule(math.AcoshOp, libm("acosh")),
    rule(math.AsinOp, unary(ours.AsinOp)),
    rule(math.AsinhOp, libm("asinh")),
    rule(math.AtanOp, unary(ours.AtanOp)),
    rule(math.AtanhOp, libm("atanh")),
    rule(math.Atan2Op, float_binary(ours.Atan2Op)),
    rule(math.CbrtOp, libm("cbrt")),
    rule(math.CeilOp, unary(llvm.FCeilOp)),
    rule(math.CopySignOp, float_binary(llvm.FCopySignOp)),
    rule(math.CosOp, unary(llvm.FCosOp)),
    rule(math.CoshOp, unary(ours.CoshOp)),
    rule(math.ErfOp, libm("erf")),
    rule(math.ExpOp, unary(llvm.FExpOp)),
    rule(math.Exp2Op, unary(llvm.FExp2Op)),
    rule(math.ExpM1Op, libm("expm1")),
    rule(math.FloorOp, unary(llvm.FFloorOp)),
    rule(math.FmaOp, convert_fma),
    rule(math.FPowIOp, convert_integer_power),
    rule(math.LogOp, unary(llvm.FLogOp)),
    rule(math.Log10Op, unary(ours.Log10Op)),
    rule(math.Log1pOp, libm("log1p")),
    rule(math.Log2Op, unary(llvm.FLog2Op)),
    rule(math.PowFOp, float_binary(llvm.FPowOp)),
    rule(math.RoundOp, unary(ours.RoundOp)),
    rule(math.RoundEvenOp, unary(ours.RoundEvenOp)),
    rule(math.RsqrtOp, convert_reciprocal_root),
    rule(math.SinOp, unary(llvm.FSinOp)),
    rule(math.SinhOp, unary(ours.SinhOp)),
    rule(math.SqrtOp, unary(llvm.FSqrtOp)),
    rule(math.TanOp, unary(ours.TanOp)),
    rule(math.TanhOp, unary(ours.TanhOp)),
    rule(math.TruncOp, unary(ours.FTruncOp)),
)
