"""Functions of four bits of a word: what each of the sixteen numbers in them becomes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType, i32
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.upstream.arith import ON_VECTORS

BITS, NUMBERS, WORD = 4, 16, 32
"""Of what is looked up: its bits, how many numbers they hold, the bits of the word around it."""


@dataclass(frozen=True)
class Lookup:
    """The bits of words, from the lowest of the four on, and what each number in them becomes."""

    words: SSAValue
    first_bit: int
    table: NDArray[np.float32]


def lookup_of(value: SSAValue) -> Lookup | None:
    """Return how f32 are functions of four bits: masked, converted, then with constants multiplied
    and added, none of which rounds; None for any other value."""
    op = value.owner
    if isinstance(op, arith.SIToFPOp | ON_VECTORS[arith.SIToFPOp]):
        return _converted(op.operands[0])
    if not isinstance(op, arith.AddfOp | arith.SubfOp | arith.MulfOp | math.FmaOp):
        return None
    numbers = [_number(each) for each in op.operands]
    if numbers.count(None) != 1:
        return None
    found = lookup_of(op.operands[numbers.index(None)])
    if found is None:
        return None
    operands = [found.table.astype(np.float64) if each is None else each for each in numbers]
    match op:
        case arith.AddfOp():
            made = operands[0] + operands[1]
        case arith.SubfOp():
            made = operands[0] - operands[1]
        case arith.MulfOp():
            made = operands[0] * operands[1]
        case _:
            made = operands[0] * operands[1] + operands[2]
    rounded = np.asarray(made, np.float32)
    return Lookup(found.words, found.first_bit, rounded) if np.all(rounded == made) else None


def _converted(words: SSAValue) -> Lookup | None:
    masked = words.owner
    if not _are_words(words) or not isinstance(masked, arith.AndIOp):
        return None
    mask, words, turned = _number(masked.rhs), masked.lhs, 0
    if isinstance(words.owner, arith.XOrIOp):
        bits = _number(words.owner.rhs)
        if bits is not None:
            words, turned = words.owner.lhs, int(bits)
    for first_bit in range(0, WORD, BITS):
        numbers = (np.arange(NUMBERS, dtype=np.uint32) << first_bit).view(np.int32)
        if mask == numbers[-1]:
            order = np.arange(NUMBERS) ^ (turned >> first_bit & NUMBERS - 1)
            return Lookup(words, first_bit, numbers[order].astype(np.float32))
    return None


def _are_words(value: SSAValue) -> bool:
    type = value.type
    return (type.element_type if isa(type, VectorType[Attribute]) else type) == i32


def _number(value: SSAValue) -> float | None:
    """Return the constant that a scalar or each lane is."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        owner = owner.source.owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    return owner.value.value.data if isinstance(owner.value, IntegerAttr | FloatAttr) else None
