"""Functions of four bits of words: sixteen values in a register, permuted by the words, or floats
whose last bits are those of the word.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith, llvm, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    StringAttr,
    VectorType,
    f32,
    i32,
)
from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.four_bits import NUMBERS, Lookup, lookup_of
from gawee_dialect.passes.loops.convert_to_llvm import arith as plain_arith
from gawee_dialect.passes.loops.convert_to_llvm import math as plain_math
from gawee_dialect.passes.loops.convert_to_llvm.conversion import FunctionConversion, Rule
from gawee_dialect.upstream.arith import ON_VECTORS

LANES = NUMBERS
"""Of the register: an index has the lowest bits of its lane, whatever is above."""
VECTOR = VectorType(f32, [LANES])
WORDS = VectorType(i32, [LANES])
HALF = 16
"""Bits of half a word. What is in the upper one is moved to the lower one, once for all of it."""
IN_MANTISSA = (12, 28)
"""Of the numbers of a word, by their first bit, those that no permutation makes.

Zen 5, products of one row with 4096 x 4096 in Q4_0: these two 3.5 % faster, all six that are not at
the end of a half as fast as none.
"""
MANTISSA = 23
"""Bits of an f32 behind its exponent: 2^23 + n has n in the last ones."""
PERMUTATION = "llvm.x86.avx512.permvar.sf.512"
"""Takes each lane from a vector, by the lowest bits of the lanes of another one."""


def _looked_up(to: FunctionConversion, found: Lookup) -> SSAValue:
    """Insert what makes numbers of four bits of words.

    A permutation takes the lowest bits of a lane as its index. There are more units for what makes
    the last bits of an f32 of bits that count by ones, less what its exponent stands for: some of
    the eight numbers of a word are computed so.
    """
    words, place = to.value(found.words), found.first_bit
    if place >= HALF:
        words, place = to.compute(llvm.LShrOp(words, to.integer(HALF, WORDS))), place - HALF
    first = float(found.table[0])
    if found.first_bit in IN_MANTISSA and np.array_equal(found.table, first + np.arange(LANES)):
        ones = 2.0 ** (MANTISSA - place)
        exponent = int(np.float32(ones).view(np.int32))
        masked = to.compute(llvm.AndOp(words, to.integer((LANES - 1) << place, WORDS)))
        bits = to.compute(llvm.OrOp(masked, to.integer(exponent, WORDS)))
        whole = to.compute(llvm.BitcastOp(bits, VECTOR))
        return to.compute(llvm.FSubOp(whole, _numbers(to, [ones - first] * LANES)))
    if place:
        words = to.compute(llvm.LShrOp(words, to.integer(place, WORDS)))
    operands = [_numbers(to, found.table.tolist()), words]
    return to.compute(llvm.CallIntrinsicOp(StringAttr(PERMUTATION), operands, [VECTOR]))


def _numbers(to: FunctionConversion, values: Sequence[float]) -> SSAValue:
    return to.constant(DenseIntOrFPElementsAttr.from_list(VECTOR, values), VECTOR)


def _or_lookup(plain: Rule) -> Rule:
    """Convert an op as a rule does, but to a lookup where it is the last one of it.

    The ones before it have no reader then, and LLVM drops them.
    """

    def convert(op: Operation, to: FunctionConversion) -> None:
        (result,) = op.results
        found = None
        if to.processor is not None and to.processor.looks_up and result.type == VECTOR:
            readers = (each.operation.results for each in result.uses)
            is_last = not any(lookup_of(each) for results in readers for each in results)
            found = lookup_of(result) if is_last else None
        if found is None:
            plain.convert(op, to)
            return
        to.define(result, _looked_up(to, found))

    return Rule(plain.source, convert)


_SOURCES = (ON_VECTORS[arith.SIToFPOp], arith.AddfOp, arith.SubfOp, arith.MulfOp, math.FmaOp)
RULES = tuple(
    _or_lookup(each) for each in (*plain_arith.RULES, *plain_math.RULES) if each.source in _SOURCES
)
