"""The instructions that join small integers in words, and add up their products."""

from collections.abc import Sequence

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    StringAttr,
    VectorType,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.kernels.integer_words import PackedProduct
from gawee_dialect.dialect.kernels.packed_products import (
    WORD,
    WordProduct,
    joined_bytes,
    word_product,
)
from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.arith import integer_binary, with_overflow
from gawee_dialect.passes.loops.convert_to_llvm.conversion import FunctionConversion, rule
from gawee_dialect.passes.loops.convert_to_llvm.vector import broadcast, lanes_of

WIDTHS = (128, 256, 512)
"""Bits of the vectors that there is an instruction for."""


_ADD = with_overflow(llvm.AddOp)


def convert_add(op: arith.AddiOp, to: FunctionConversion) -> None:
    """arith.addi  ->  llvm.add; of vectors and a packed product, the instruction that adds it up"""
    is_vector = isinstance(op.result.type, VectorType)
    product = word_product(op.rhs) if is_vector else None
    added = None if product is None else _added(to, to.value(op.lhs), product)
    if added is None:
        _ADD(op, to)
    else:
        to.define(op.result, added)


def _added(to: FunctionConversion, total: SSAValue, product: WordProduct) -> SSAValue | None:
    """Insert a number and a packed product, as one instruction adds them; None where it is none.

    Pairs are extended, multiplied and added, which is what LLVM knows `vpmaddwd` by, and `sdot`;
    four bytes are `vpdpbusd` on processors that have it.
    """
    assert isa(total.type, VectorType[Attribute])
    (lanes,) = total.type.get_shape()
    words = [to.value(each) for each in (product.first, product.second)]
    words = [each if each.type == total.type else broadcast(to, each, total.type) for each in words]
    if product.kind is PackedProduct.PAIRS:
        return to.compute(llvm.AddOp(total, _pairs(to, lanes, words)))
    bits = lanes * WORD
    if to.processor is None or bits > to.processor.byte_products or bits not in WIDTHS:
        return None
    name = f"llvm.x86.avx512.vpdpbusd.{bits}"
    return to.compute(llvm.CallIntrinsicOp(StringAttr(name), [total, *words], [total.type]))


def _pairs(to: FunctionConversion, lanes: int, words: list[SSAValue]) -> SSAValue:
    def wide(word: SSAValue) -> SSAValue:
        narrow = to.compute(llvm.BitcastOp(word, VectorType(i16, [2 * lanes])))
        return to.compute(llvm.SExtOp(narrow, VectorType(i32, [2 * lanes])))

    first, second = map(wide, words)
    products = to.compute(llvm.MulOp(first, second))
    type: VectorType[IntegerType] = VectorType(i32, [lanes])
    halves = [DenseArrayBase.from_list(i32, range(first, 2 * lanes, 2)) for first in (0, 1)]
    parts = [to.compute(llvm.ShuffleVectorOp(products, products, each, type)) for each in halves]
    even, odd = parts
    return to.compute(llvm.AddOp(even, odd))


_OR = integer_binary(llvm.OrOp)


def convert_or(op: arith.OrIOp, to: FunctionConversion) -> None:
    """arith.ori  ->  llvm.or; of vectors of bytes that are joined to words, a permutation of them

    LLVM loads bytes side by side at once then.
    """
    bytes = joined_bytes(op.result) if isinstance(op.result.type, VectorType) else None
    widest = 0 if to.processor is None else to.processor.byte_products
    if bytes is None or len(bytes) * i8.width.data * lanes_of(to.value(bytes[0])) > widest:
        _OR(op, to)
    else:
        to.define(op.result, _joined(to, [to.value(each) for each in bytes]))


def _joined(to: FunctionConversion, bytes: Sequence[SSAValue]) -> SSAValue:
    """Insert the words of the bytes of four vectors, the lowest first."""
    count, lanes = len(bytes), lanes_of(bytes[0])

    def shuffled(first: SSAValue, second: SSAValue, picks: Sequence[int]) -> SSAValue:
        mask = DenseArrayBase.from_list(i32, picks)
        type = VectorType(i8, [len(picks)])
        return to.compute(llvm.ShuffleVectorOp(first, second, mask, type))

    a, b, c, d = bytes
    low, high = (shuffled(*pair, range(2 * lanes)) for pair in ((a, b), (c, d)))
    order = [part * lanes + lane for lane in range(lanes) for part in range(count)]
    return to.compute(llvm.BitcastOp(shuffled(low, high, order), VectorType(i32, [lanes])))


RULES = (rule(arith.AddiOp, convert_add), rule(arith.OrIOp, convert_or))
