"""The instruction that adds up products of two bf16 in each lane.

It adds the product of the upper halves of words, then that of the lower ones, and rounds each sum
to the nearest f32. Numbers below 2^-126 count as zero: that alone is otherwise than the ops say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, llvm, math, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    IntegerType,
    StringAttr,
    VectorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm import lookups
from gawee_dialect.passes.loops.convert_to_llvm.conversion import FunctionConversion, rule
from gawee_dialect.passes.loops.convert_to_llvm.vector import broadcast, lanes_of

WIDTHS = (128, 256, 512)
"""Bits of the vectors that there is an instruction for."""
PAIR, WORD = 2, 32
"""Numbers of a word, and its bits."""

(_FMA,) = (each for each in lookups.RULES if each.source is math.FmaOp)


@dataclass(frozen=True)
class Part:
    """The first or the second of two numbers that a vector has for each lane, or for all."""

    pairs: SSAValue
    number: int


def convert_fma(op: math.FmaOp, to: FunctionConversion) -> None:
    """math.fma(%a0, %b0, math.fma(%a1, %b1, %sum)) of pairs of bf16  ->  one instruction"""
    made = _added(op, to)
    if made is None:
        _FMA.convert(op, to)
    else:
        to.define(op.result, made)


def _added(op: math.FmaOp, to: FunctionConversion) -> SSAValue | None:
    type, inner = op.result.type, op.c.owner
    if to.processor is None or not isa(type, VectorType[Attribute]) or type.element_type != f32:
        return None
    bits = type.get_shape()[0] * WORD
    if bits > to.processor.bf16_products or bits not in WIDTHS or not isinstance(inner, math.FmaOp):
        return None
    factors: list[SSAValue] = []
    for first, second in ((op.a, inner.a), (op.b, inner.b)):
        parts = _part(first), _part(second)
        if parts[0] is None or parts[1] is None or parts[0].pairs is not parts[1].pairs:
            return None
        if (parts[0].number, parts[1].number) != (0, 1):
            return None
        factors.append(parts[0].pairs)
    # LLVM's words, in which it took pairs before it had a type for bf16, are what it still reads.
    words = [_words(to, each, bits // WORD) for each in factors]
    name = StringAttr(f"llvm.x86.avx512bf16.dpbf16ps.{bits}")
    return to.compute(llvm.CallIntrinsicOp(name, [to.value(inner.c), *words], [type]))


def _part(value: SSAValue) -> Part | None:
    """Return which part of pairs of bf16 a vector of f32 is; None of any other value."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        owner = owner.source.owner
    if not isinstance(owner, arith.ExtFOp):
        return None
    source = owner.input.owner
    match source:
        case vector.ExtractOp():
            places: Sequence[int] = source.static_position.get_values()
            pairs, picked = source.vector, [places[-1]]
        case vector.ShuffleOp() if source.v1 is source.v2:
            assert isa(source.mask, DenseArrayBase[IntegerType])
            pairs, picked = source.v1, list(source.mask.get_values())
        case _:
            return None
    type = pairs.type
    if not isa(type, VectorType[Attribute]) or not isinstance(type.element_type, BFloat16Type):
        return None
    numbers = range(type.get_shape()[0])
    return next((Part(pairs, at) for at in (0, 1) if picked == list(numbers[at::2])), None)


def _words(to: FunctionConversion, pairs: SSAValue, lanes: int) -> SSAValue:
    """Insert the words of pairs, the same in every lane where there is one."""
    value, type = to.value(pairs), VectorType(i32, [lanes])
    if lanes_of(value) == PAIR:
        return broadcast(to, to.compute(llvm.BitcastOp(value, i32)), type)
    return to.compute(llvm.BitcastOp(value, type))


RULES = (rule(math.FmaOp, convert_fma),)
