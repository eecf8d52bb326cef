"""Sums of the products of small integers that lie side by side in words of 32 bits.

They are spelled out in arithmetic on words, `(a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16)`
for pairs, so that all that knows `arith` knows what they are; `convert-to-llvm` makes of them the
instruction that a processor has for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    UnrealizedConversionCastOp,
    VectorType,
    i8,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.kernels.integer_words import WORD, PackedProduct
from gawee_dialect.dialect.types import is_byte
from gawee_dialect.hints import isa
from gawee_dialect.upstream import arith as arith_on_vectors


@dataclass(frozen=True)
class WordProduct:
    """A packed product: its kind and its words."""

    kind: PackedProduct
    first: SSAValue
    second: SSAValue


def _shift(kind: PackedProduct, side: int) -> type[arith.ShRSIOp | arith.ShRUIOp]:
    """Return the shift that takes an integer out of the first word, or the second."""
    return arith.ShRUIOp if side == 0 and kind is PackedProduct.BYTES else arith.ShRSIOp


def insert_product(builder: Builder, product: WordProduct) -> SSAValue:
    """Insert the sum of the products of the integers in two words of type i32."""
    kind = product.kind

    def number(value: int) -> SSAValue:
        return builder.insert(arith.ConstantOp(IntegerAttr(value, i32))).result

    def integer(side: int, word: SSAValue, part: int) -> SSAValue:
        above = WORD - kind.bits * (part + 1)
        moved = builder.insert(arith.ShLIOp(word, number(above))).result if above else word
        return builder.insert(_shift(kind, side)(moved, number(WORD - kind.bits))).result

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
    if not isinstance(owner, _shift(kind, side)) or _number(owner.rhs) != WORD - kind.bits:
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


# Words that are joined of bytes where they are read.


def insert_word(builder: Builder, kind: PackedProduct, parts: Sequence[SSAValue]) -> SSAValue:
    """Insert the word of some integers, bytes or of type i32, the lowest first."""

    def number(value: int) -> SSAValue:
        return builder.insert(arith.ConstantOp(IntegerAttr(value, i32))).result

    word: SSAValue | None = None
    for at, part in enumerate(parts):
        if is_byte(part.type):
            if part.type != i8:
                part = builder.insert(UnrealizedConversionCastOp.get([part], [i8])).results[0]
            part = builder.insert(arith.ExtUIOp(part, i32)).result
        elif at < len(parts) - 1:
            part = builder.insert(arith.AndIOp(part, number((1 << kind.bits) - 1))).result
        if at:
            part = builder.insert(arith.ShLIOp(part, number(at * kind.bits))).result
        word = part if word is None else builder.insert(arith.OrIOp(word, part)).result
    assert word is not None
    return word


def joined_bytes(word: SSAValue) -> Sequence[SSAValue] | None:
    """Return the four bytes that a word is joined of, of scalars or of vectors, the lowest first.

    They are as they are stored. None of any other value.
    """
    found = _bytes_by_place(word)
    places = range(PackedProduct.BYTES.value)
    return [found[each] for each in places] if list(found) == list(places) else None


def _bytes_by_place(word: SSAValue) -> dict[int, SSAValue]:
    if isinstance(word.owner, arith.OrIOp):
        return _bytes_by_place(word.owner.lhs) | _bytes_by_place(word.owner.rhs)
    place, bits = 0, PackedProduct.BYTES.bits
    if isinstance(word.owner, arith.ShLIOp):
        place, word = _number(word.owner.rhs) or 0, word.owner.lhs
    if not isinstance(word.owner, arith.ExtUIOp | arith_on_vectors.ExtUIOp) or place % bits:
        return {}
    byte = word.owner.operands[0]
    if isinstance(byte.owner, UnrealizedConversionCastOp):
        byte = byte.owner.inputs[0]
    type = byte.type.element_type if isa(byte.type, VectorType[Attribute]) else byte.type
    return {place // bits: byte} if is_byte(type) else {}


def as_stored(word: SSAValue) -> SSAValue:
    """Return what a word of a product is in memory: itself, or the lowest byte that it is joined
    of, whose highest bit may be another one."""
    plain = word.owner.lhs if isinstance(word.owner, arith.XOrIOp) else word
    found = joined_bytes(plain)
    return word if found is None else found[0]
