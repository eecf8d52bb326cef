"""Sums of the products of small integers that lie side by side in words of 32 bits.

They are spelled out in arithmetic on words, `(a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16)`
for pairs, so that all that knows `arith` knows what they are; `convert-to-llvm` makes of them the
instruction that a processor has for it.
"""

from dataclasses import dataclass
from enum import Enum

from xdsl.builder import Builder
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, i32
from xdsl.ir import SSAValue

WORD = 32
"""Bits of a word."""


class PackedProduct(Enum):
    """How many integers lie in a word: two with signs, or four bytes, those of the first without."""

    PAIRS = 2
    BYTES = 4

    @property
    def bits(self) -> int:
        """How wide each of the integers is."""
        return WORD // self.value

    def shift(self, side: int) -> type[arith.ShRSIOp | arith.ShRUIOp]:
        """Return the shift that takes an integer out of the first word, or the second."""
        return arith.ShRUIOp if side == 0 and self is PackedProduct.BYTES else arith.ShRSIOp


@dataclass(frozen=True)
class WordProduct:
    """A packed product: its kind and its words."""

    kind: PackedProduct
    first: SSAValue
    second: SSAValue


def insert_product(builder: Builder, product: WordProduct) -> SSAValue:
    """Insert the sum of the products of the integers in two words of type i32."""
    kind = product.kind

    def number(value: int) -> SSAValue:
        return builder.insert(arith.ConstantOp(IntegerAttr(value, i32))).result

    def integer(side: int, word: SSAValue, part: int) -> SSAValue:
        above = WORD - kind.bits * (part + 1)
        moved = builder.insert(arith.ShLIOp(word, number(above))).result if above else word
        return builder.insert(kind.shift(side)(moved, number(WORD - kind.bits))).result

    def term(part: int) -> SSAValue:
        factors = integer(0, product.first, part), integer(1, product.second, part)
        return builder.insert(arith.MuliOp(*factors)).result

    total = term(0)
    for part in range(1, kind.value):
        total = builder.insert(arith.AddiOp(total, term(part))).result
    return total


def word_product(value: SSAValue) -> WordProduct | None:
    """Return which packed product a value is, of scalars or of vectors; None where it is none.

    A word that is the same in every lane may be taken apart before it is broadcast.
    """
    factors: list[tuple[SSAValue, SSAValue]] = []
    while isinstance(value.owner, arith.AddiOp) and len(factors) < max(_KINDS):
        factors.insert(0, _factors(value.owner.rhs))
        value = value.owner.lhs
    factors.insert(0, _factors(value))
    kind = _KINDS.get(len(factors))
    if kind is None:
        return None
    words = [
        {_word(kind, side, part, pair[side]) for part, pair in enumerate(factors)}
        for side in (0, 1)
    ]
    (first, *others), (second, *more) = words
    if others or more or first is None or second is None:
        return None
    return WordProduct(kind, first, second)


_KINDS = {kind.value: kind for kind in PackedProduct}


def _factors(value: SSAValue) -> tuple[SSAValue, SSAValue]:
    owner = value.owner
    return (owner.lhs, owner.rhs) if isinstance(owner, arith.MuliOp) else (value, value)


def _word(kind: PackedProduct, side: int, part: int, value: SSAValue) -> SSAValue | None:
    """Return the word whose integer a value is; None where it is not that of a part."""
    owner = _unspread(value).owner
    if not isinstance(owner, kind.shift(side)) or _number(owner.rhs) != WORD - kind.bits:
        return None
    above, word = WORD - kind.bits * (part + 1), owner.lhs
    if not above:
        return _unspread(word)
    moved = word.owner
    if not isinstance(moved, arith.ShLIOp) or _number(moved.rhs) != above:
        return None
    return _unspread(moved.lhs)


def _unspread(value: SSAValue) -> SSAValue:
    """Return the scalar that a vector has in every lane; others as they are."""
    return value.owner.source if isinstance(value.owner, vector.BroadcastOp) else value


def _number(value: SSAValue) -> int | None:
    owner = _unspread(value).owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    if isinstance(owner.value, DenseIntOrFPElementsAttr):
        return None
    return owner.value.value.data if isinstance(owner.value, IntegerAttr) else None
