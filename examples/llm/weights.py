"""Weights of a graph as they are stored: matrices of floats, or of blocks of small integers.

A block has 32 numbers along a row, and one scale. In `q8_0` each number is a byte. In `q4_0` it is
4 bits less 8: a byte has two that are 16 apart, and a word of four bytes eight. What widens them is
arithmetic on weights alone, which the compiler makes part of the product that reads them.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from products import Q40ProductOp
from xdsl.dialects.builtin import TensorType, bf16, f16, f32, i8, i32
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp, BitwiseXorOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.graph.gather import GatherOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.entry_function import EntryFunction

BLOCK = 32
"""Numbers that have one scale."""
VALUES, SCALES = ".values", ".scales"
"""What the names of the two parts of such a weight end with."""
STORED: Mapping[str, tuple[str, int]] = {"q8_0": ("int8", 32), "q4_0": ("int32", 4)}
"""What a block's numbers are stored as: the element type, and how many elements."""
BYTES = {dtype: np.dtype(element).itemsize * count for dtype, (element, count) in STORED.items()}
"""Of the numbers of a block."""
FLOATS: Mapping[str, Attribute] = {"float32": f32, "float16": f16, "bfloat16": bf16}
"""Element types of weights that are matrices or rows."""
FIRST_BITS = np.array([[4 * (2 * byte + half) for byte in range(4)] for half in range(2)])
"""Of the eight numbers of a word: those of the lower halves of its bytes, then of the upper ones.
Numbers of one half are neighbours."""
SIGN = -(1 << 31)


@dataclass(frozen=True)
class Matrix:
    """A weight (out, in) of floats."""

    emit: Emitter
    value: SSAValue

    def rows(self, indices: SSAValue) -> SSAValue:
        """Return some rows, in f32."""
        return self.emit.cast(self.emit(GatherOp(self.value, indices)), f32)

    def product(self, x: SSAValue, first: int, size: int, bias: SSAValue | None) -> SSAValue:
        """Multiply by `size` rows from the `first` one on."""
        emit, (rows, columns) = self.emit, tensor_shape(self.value)
        wide = emit.cast(self.value, f32)
        if size < rows:
            wide = emit(SliceOp(wide, offsets=[first, 0], sizes=[size, columns]))
        return emit(MatMulOp(x, wide, bias))


@dataclass(frozen=True)
class Blocks:
    """A weight of blocks: numbers (out, blocks, elements of a block) and scales (out, blocks)."""

    emit: Emitter
    values: SSAValue
    scales: SSAValue

    def rows(self, indices: SSAValue) -> SSAValue:
        """Return some rows, in f32."""
        emit = self.emit
        values, scales = (emit(GatherOp(each, indices)) for each in (self.values, self.scales))
        count, blocks, size = tensor_shape(values)
        if size == BLOCK:
            wide, ones = emit.cast(values, f32), (1,)
        else:
            values = emit.reshape(values, (count, blocks, 1, size, 1))
            wide, ones = self._widened(values, FIRST_BITS[:, None]), (1, 1, 1)
        scales = emit.cast(emit.reshape(scales, (count, blocks, *ones)), f32)
        return emit.reshape(emit(MulOp(wide, scales)), (count, blocks * BLOCK))

    def product(self, x: SSAValue, first: int, size: int, bias: SSAValue | None) -> SSAValue:
        """Multiply by `size` rows from the `first` one on."""
        emit, (rows, blocks, count) = self.emit, tensor_shape(self.values)
        values, scales = self.values, self.scales
        if size < rows:
            values = emit(SliceOp(values, offsets=[first, 0, 0], sizes=[size, blocks, count]))
            scales = emit(SliceOp(scales, offsets=[first, 0], sizes=[size, blocks]))
        if count == BLOCK:
            scales = emit.cast(emit.reshape(scales, (size, blocks, 1)), f32)
            x = emit.reshape(x, (tensor_shape(x)[0], 1, blocks, BLOCK))
            terms = emit(MulOp(x, emit(MulOp(emit.cast(values, f32), scales))))
            made = emit(ReduceSumOp(terms, axes=[2, 3]))
        else:
            made = emit(Q40ProductOp(x, values, scales))
        return made if bias is None else emit(AddOp(made, bias))

    def _widened(self, words: SSAValue, first_bits: NDArray[np.int64]) -> SSAValue:
        """Return the four bits of words from each of `first_bits` on, less 8.

        The highest bit of a word is its sign: where it is turned, the highest four bits of the
        word are a number less 8.
        """
        emit, is_signed = self.emit, first_bits == 28
        if np.any(is_signed):
            words = emit(BitwiseXorOp(words, emit.number(SIGN, i32)))
        masks = (np.int64(15) << first_bits).astype(np.uint32).view(np.int32)
        wide = emit.cast(emit(BitwiseAndOp(words, self._constant(masks, i32))), f32)
        wide = emit(MulOp(wide, self._constant(0.5**first_bits, f32)))
        return emit(AddOp(wide, self._constant(np.where(is_signed, 0.0, -8.0), f32)))

    def _constant(self, values: NDArray[np.generic], element: Attribute) -> SSAValue:
        emit = self.emit
        return emit.array(values, element) if values.ndim else emit.number(values.item(), element)


def weight_of(
    function: EntryFunction, name: str, dtype: str, rows: int, columns: int
) -> Matrix | Blocks:
    """Add a weight (out, in) to the arguments of a function, as it is stored."""

    def argument(name: str, element: Attribute, *shape: int) -> SSAValue:
        return function.add_argument(ArgumentKind.PARAMETER, name, TensorType(element, shape))

    if dtype not in STORED:
        return Matrix(function.emit, argument(name, FLOATS[dtype], rows, columns))
    blocks, (element, count) = columns // BLOCK, STORED[dtype]
    values = argument(name + VALUES, i8 if element == "int8" else i32, rows, blocks, count)
    return Blocks(function.emit, values, argument(name + SCALES, f16, rows, blocks))
