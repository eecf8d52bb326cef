"""Arithmetic on scalars and vectors: one llvm op each, or the few that spell it out."""

from collections.abc import Callable
from functools import cache

from xdsl.dialects import arith, llvm, math
from xdsl.dialects.arith import IntegerOverflowFlag
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    UnrealizedConversionCastOp,
    VectorType,
    bf16,
    f32,
    i16,
    i32,
    i64,
)
from xdsl.dialects.llvm import FastMathAttr, OverflowAttr, OverflowFlag
from xdsl.dialects.utils import FastMathAttrBase, FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.linear_form import LinearForm
from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Combine,
    Declined,
    FloatType,
    FunctionConversion,
    Rule,
    ScalarType,
    converted_type,
    in_lanes,
    lane_type,
    rule,
)
from gawee_dialect.passes.loops.convert_to_llvm.instructions import float_op
from gawee_dialect.upstream import llvm as ours
from gawee_dialect.upstream import llvm_vector
from gawee_dialect.upstream.arith import ON_VECTORS, RemFOp
from gawee_dialect.upstream.llvm_vector import FCmpOp, SelectOp

# bf16 as its 16 bits, which are the upper half of an f32: arithmetic is done in f32.
#
# LLVM has a type for it, whose conversions are calls of a library where the processor has none.

UNORDERED = IntegerAttr(14, i64)
"""The comparison that holds where an operand is NaN."""

QUIET = 0x40
"""The bit of a bf16 that distinguishes a quiet NaN from a signalling one, or an infinity."""


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


NE, SLT, SGE = 1, 2, 5
"""Integer comparisons, numbered as arith and llvm both do."""

IntegerBinary = Callable[[SSAValue, SSAValue], Operation]
BinaryOfFloats = arith.FloatingPointLikeBinaryOperation | math.FloatingPointLikeBinaryMathOperation
Cast = Callable[[SSAValue, Attribute], Operation]


def fast_math(own: FastMathAttrBase, to: FunctionConversion) -> FastMathAttr:
    """Return the flags of a float op: those it carries, and those of the pass's option."""
    return _all_flags(own.data, to.fast_math.data)


@cache
def _all_flags(own: frozenset[FastMathFlag], more: frozenset[FastMathFlag]) -> FastMathAttr:
    return FastMathAttr(own | more)


def convert_constant(op: arith.ConstantOp, to: FunctionConversion) -> None:
    """arith.constant  ->  llvm.mlir.constant, index as i64"""
    value = op.value
    if type(value) is IntegerAttr and type(value.type) is IndexType:  # what most are
        to.define_late(op.results[0], None, LinearForm(value.value.data))
        return
    converted = converted_type(op.result.type)
    if isa(value, IntegerAttr) and isa(converted, IntegerType):
        to.define(op.result, to.integer(value.value.data, converted))
    elif isa(value, FloatAttr) and is_bf16(op.result.type):
        to.define(op.result, to.integer(bits_of_constant(value), converted))
    elif isa(value, FloatAttr):
        to.define(op.result, to.constant(value, converted))
    elif isa(value, DenseIntOrFPElementsAttr) and isa(converted, VectorType[ScalarType]):
        to.define(
            op.result, to.constant(DenseIntOrFPElementsAttr(converted, value.data), converted)
        )
    else:
        raise Declined(
            "unsupported constant; supported: integers, indices, floats and vectors of them"
        )


def integer_binary(
    make: IntegerBinary,
) -> Callable[[arith.SignlessIntegerBinaryOperation, FunctionConversion], None]:
    """Convert an integer op to the one llvm op that `make` makes of its operands."""

    def convert(op: arith.SignlessIntegerBinaryOperation, to: FunctionConversion) -> None:
        to.define(op.result, to.compute(make(to.value(op.lhs), to.value(op.rhs))))

    return convert


@cache
def _flags(flags: tuple[IntegerOverflowFlag, ...]) -> IntegerAttr[IntegerType]:
    """Return overflow flags as llvm ops hold them."""
    named = OverflowAttr(tuple(OverflowFlag(flag.value) for flag in flags))
    return IntegerAttr(named.to_int(), 32)


def with_overflow(
    make: type[llvm.ArithmeticBinOpOverflow],
) -> Callable[[arith.SignlessIntegerBinaryOperationWithOverflow, FunctionConversion], None]:
    """Convert an integer op that may wrap; it keeps its overflow flags."""

    def convert(
        op: arith.SignlessIntegerBinaryOperationWithOverflow, to: FunctionConversion
    ) -> None:
        combine = _wrapping(make, _flags(tuple(op.overflow_flags.data)))
        if type(op.result.type) is IndexType:
            to.define_late(op.result, combine, _sum(op, to))
        else:
            to.define(op.result, to.compute(combine(to.value(op.lhs), to.value(op.rhs))))

    return convert


@cache
def _wrapping(make: type[llvm.ArithmeticBinOpOverflow], flags: IntegerAttr[IntegerType]) -> Combine:
    """Return what makes an integer op with overflow flags."""

    def combine(lhs: SSAValue, rhs: SSAValue) -> Operation:
        properties = {"overflowFlags": flags}
        return make.create(operands=(lhs, rhs), result_types=(lhs.type,), properties=properties)

    return combine


def _sum(op: Operation, to: FunctionConversion) -> LinearForm[SSAValue] | None:
    """Return what an index is a sum of; None where it is no sum."""
    lhs, rhs = (to.index(operand) for operand in op.operands)
    if isinstance(op, arith.AddiOp):
        return lhs + rhs
    if isinstance(op, arith.SubiOp):
        return lhs + rhs.scaled(-1)
    if not isinstance(op, arith.MuliOp) or not (lhs.is_constant or rhs.is_constant):
        return None
    return rhs.scaled(lhs.constant) if lhs.is_constant else lhs.scaled(rhs.constant)


def divided(
    kind: type[Operation],
) -> Callable[[arith.SignlessIntegerBinaryOperation, FunctionConversion], None]:
    """Convert a division without signs; that of an index by a number is made where it is used."""

    def make(lhs: SSAValue, rhs: SSAValue) -> Operation:
        return kind.create(operands=(lhs, rhs), result_types=(lhs.type,))

    at_once = integer_binary(make)

    def convert(op: arith.SignlessIntegerBinaryOperation, to: FunctionConversion) -> None:
        divisor = to.index(op.rhs)
        if type(op.result.type) is IndexType and divisor.is_constant and divisor.constant > 1:
            to.define_late(op.result, make)
            to.mark_not_negative(op.result)
        else:
            at_once(op, to)

    return convert


def float_binary(
    made: type[Operation],
) -> Callable[[BinaryOfFloats, FunctionConversion], None]:
    """Convert a float op to the one llvm op of a class, which has its operands and flags."""

    def convert(op: BinaryOfFloats, to: FunctionConversion) -> None:
        operands = widened(op.lhs, to), widened(op.rhs, to)
        result = to.compute(float_op(made, operands, fast_math(op.fastmath, to)))
        to.define(op.result, narrowed(result, op.result.type, to))

    return convert


def cast(make: Cast) -> Callable[[Operation, FunctionConversion], None]:
    """Convert a cast to the llvm op that `make` makes of its operand and the result type."""

    def convert(op: Operation, to: FunctionConversion) -> None:
        result = op.results[0]
        made = make(to.value(op.operands[0]), converted_type(result.type))
        to.define(result, to.compute(made))

    return convert


def float_cast(make: Cast) -> Callable[[Operation, FunctionConversion], None]:
    """Convert a cast between floats and integers to the llvm op that `make` makes."""

    def convert(op: Operation, to: FunctionConversion) -> None:
        result, operand = op.results[0], widened(op.operands[0], to)
        type = converted_type(result.type)
        wide = in_lanes(f32, type) if is_bf16(result.type) else type
        to.define(result, narrowed(to.compute(make(operand, wide)), result.type, to))

    return convert


def convert_negate(op: arith.NegfOp, to: FunctionConversion) -> None:
    """arith.negf  ->  llvm.fneg"""
    flags = fast_math(op.fastmath, to)
    made = to.compute(llvm.FNegOp(widened(op.operand, to), flags))
    to.define(op.result, narrowed(made, op.result.type, to))


def predicate_of(op: Operation) -> IntegerAttr[IntegerType]:
    """Return the predicate of a comparison."""
    predicate = op.properties["predicate"]
    assert isa(predicate, IntegerAttr)
    return IntegerAttr(predicate.value.data, i64)


def convert_compare_integers(op: Operation, to: FunctionConversion) -> None:
    """arith.cmpi  ->  llvm.icmp, whose predicates have the same numbers"""
    lhs, rhs = to.all_values(op.operands)
    to.define(op.results[0], to.compute(llvm.ICmpOp(lhs, rhs, predicate_of(op))))


def convert_compare_floats(op: Operation, to: FunctionConversion) -> None:
    """arith.cmpf  ->  llvm.fcmp, whose predicates have the same numbers"""
    lhs, rhs = (widened(operand, to) for operand in op.operands)
    to.define(op.results[0], to.compute(llvm_vector.FCmpOp(lhs, rhs, predicate_of(op))))


def convert_select(op: Operation, to: FunctionConversion) -> None:
    """arith.select  ->  llvm.select"""
    condition, lhs, rhs = to.all_values(op.operands)
    to.define(op.results[0], to.compute(llvm_vector.SelectOp(condition, lhs, rhs)))


def convert_index_cast(op: Operation, to: FunctionConversion) -> None:
    """arith.index_cast  ->  llvm.sext, llvm.trunc or nothing, by width"""
    source, type = to.value(op.operands[0]), converted_type(op.results[0].type)
    old_lane, new_lane = lane_type(source.type), lane_type(type)
    if not isa(old_lane, IntegerType) or not isa(new_lane, IntegerType):
        raise Declined(
            f"expected integers or index, got '{op.operands[0].type}' to '{op.results[0].type}'"
        )
    if old_lane.width.data < new_lane.width.data:
        source = to.compute(llvm.SExtOp(source, type))
    elif old_lane.width.data > new_lane.width.data:
        source = to.compute(llvm.TruncOp(source, type))
    to.define(op.results[0], source)


def convert_sign_cast(op: UnrealizedConversionCastOp, to: FunctionConversion) -> None:
    """a cast between signed, unsigned and signless integers of one width  ->  nothing"""
    sources = [to.value(operand) for operand in op.inputs]
    types = [converted_type(result.type) for result in op.outputs]
    if [source.type for source in sources] != types:
        raise Declined(f"expected a cast that keeps the bits, got one to '{op.outputs[0].type}'")
    for result, source in zip(op.outputs, sources, strict=True):
        to.define(result, source)


def _round_quotient(
    op: arith.FloorDivSIOp | arith.CeilDivSIOp, to: FunctionConversion, *, up: bool
) -> None:
    # The quotient is rounded towards zero: correct it by one where the exact value lies beyond.
    lhs, rhs = to.value(op.lhs), to.value(op.rhs)
    type = lhs.type
    zero = to.integer(0, type)
    quotient = to.compute(llvm.SDivOp(lhs, rhs))
    remainder = to.compute(llvm.SRemOp(lhs, rhs))
    inexact = to.compute(llvm.ICmpOp(remainder, zero, IntegerAttr(NE, i64)))
    sign = to.compute(llvm.XOrOp(lhs, rhs))
    wanted_sign = IntegerAttr(SGE if up else SLT, i64)
    beyond = to.compute(llvm.ICmpOp(sign, zero, wanted_sign))
    correct = to.compute(llvm.AndOp(inexact, beyond))
    corrected = to.compute(llvm.AddOp(quotient, to.integer(1 if up else -1, type)))
    to.define(op.result, to.compute(llvm_vector.SelectOp(correct, corrected, quotient)))


def convert_floor_divide(op: arith.FloorDivSIOp, to: FunctionConversion) -> None:
    """arith.floordivsi  ->  a quotient, less one where it is inexact and the signs differ"""
    _round_quotient(op, to, up=False)


def convert_ceil_divide(op: arith.CeilDivSIOp, to: FunctionConversion) -> None:
    """arith.ceildivsi  ->  a quotient, plus one where it is inexact and the signs agree"""
    _round_quotient(op, to, up=True)


def convert_ceil_divide_unsigned(op: arith.CeilDivUIOp, to: FunctionConversion) -> None:
    """arith.ceildivui  ->  a quotient, plus one where it is inexact"""
    lhs, rhs = to.value(op.lhs), to.value(op.rhs)
    remainder = to.compute(llvm.URemOp(lhs, rhs))
    zero = to.integer(0, lhs.type)
    inexact = to.compute(llvm.ICmpOp(remainder, zero, IntegerAttr(NE, i64)))
    correction = to.compute(llvm.ZExtOp(inexact, lhs.type))
    quotient = to.compute(llvm.UDivOp(lhs, rhs))
    to.define(op.result, to.compute(llvm.AddOp(quotient, correction)))


def _bits(type: Attribute) -> int:
    lane = lane_type(type)
    assert isinstance(lane, FloatType)
    return lane.bitwidth


def convert_float_width(op: arith.ExtFOp | arith.TruncFOp, to: FunctionConversion) -> None:
    """arith.extf, arith.truncf  ->  llvm.fpext, llvm.fptrunc"""
    source, type = widened(op.input, to), converted_type(op.result.type)
    if is_bf16(op.result.type):
        type = in_lanes(f32, type)
    if source.type != type:
        make = llvm.FPExtOp if _bits(source.type) < _bits(type) else llvm.FPTruncOp
        source = to.compute(make(source, type))
    to.define(op.result, narrowed(source, op.result.type, to))


OWN_RULES = (
    rule(arith.ConstantOp, convert_constant),
    rule(arith.AddiOp, with_overflow(llvm.AddOp)),
    rule(arith.SubiOp, with_overflow(llvm.SubOp)),
    rule(arith.MuliOp, with_overflow(llvm.MulOp)),
    rule(arith.ShLIOp, with_overflow(llvm.ShlOp)),
    rule(arith.ShRSIOp, integer_binary(llvm.AShrOp)),
    rule(arith.ShRUIOp, integer_binary(llvm.LShrOp)),
    rule(arith.DivSIOp, integer_binary(llvm.SDivOp)),
    rule(arith.DivUIOp, divided(llvm.UDivOp)),
    rule(arith.RemSIOp, integer_binary(llvm.SRemOp)),
    rule(arith.RemUIOp, divided(llvm.URemOp)),
    rule(arith.FloorDivSIOp, convert_floor_divide),
    rule(arith.CeilDivSIOp, convert_ceil_divide),
    rule(arith.CeilDivUIOp, convert_ceil_divide_unsigned),
    rule(arith.AndIOp, integer_binary(llvm.AndOp)),
    rule(arith.OrIOp, integer_binary(llvm.OrOp)),
    rule(arith.XOrIOp, integer_binary(llvm.XOrOp)),
    rule(arith.MaxSIOp, integer_binary(ours.SMaxOp)),
    rule(arith.MinSIOp, integer_binary(ours.SMinOp)),
    rule(arith.MaxUIOp, integer_binary(ours.UMaxOp)),
    rule(arith.MinUIOp, integer_binary(ours.UMinOp)),
    rule(arith.AddfOp, float_binary(llvm.FAddOp)),
    rule(arith.SubfOp, float_binary(llvm.FSubOp)),
    rule(arith.MulfOp, float_binary(llvm.FMulOp)),
    rule(arith.DivfOp, float_binary(llvm.FDivOp)),
    rule(RemFOp, float_binary(llvm.FRemOp)),
    rule(arith.MaximumfOp, float_binary(ours.MaximumOp)),
    rule(arith.MinimumfOp, float_binary(ours.MinimumOp)),
    rule(arith.MaxnumfOp, float_binary(llvm.VectorFMaxOp)),
    rule(arith.MinnumfOp, float_binary(llvm.VectorFMinOp)),
    rule(arith.NegfOp, convert_negate),
    Rule(arith.CmpiOp, convert_compare_integers),
    Rule(arith.CmpfOp, convert_compare_floats),
    Rule(arith.SelectOp, convert_select),
    rule(arith.ExtFOp, convert_float_width),
    rule(arith.TruncFOp, convert_float_width),
    Rule(arith.ExtSIOp, cast(llvm.SExtOp)),
    Rule(arith.ExtUIOp, cast(llvm.ZExtOp)),
    Rule(arith.TruncIOp, cast(llvm.TruncOp)),
    Rule(arith.SIToFPOp, float_cast(llvm.SIToFPOp)),
    Rule(arith.UIToFPOp, float_cast(ours.UIToFPOp)),
    Rule(arith.FPToSIOp, float_cast(ours.FPToSIOp)),
    Rule(arith.FPToUIOp, float_cast(ours.FPToUIOp)),
    rule(arith.BitcastOp, cast(llvm.BitcastOp)),
    Rule(arith.IndexCastOp, convert_index_cast),
    rule(UnrealizedConversionCastOp, convert_sign_cast),
)

RULES = (
    *OWN_RULES,
    *(
        Rule(ON_VECTORS[each.source], each.convert)
        for each in OWN_RULES
        if each.source in ON_VECTORS
    ),
)
"""The rules of xDSL's ops, and of those of ours that have the same names."""
