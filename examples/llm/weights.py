"""Weights of a graph as they are stored: matrices of floats, or of blocks of small integers.

A block has 32 numbers along a row, and one scale. In `q8_0` each number is a byte. In `q4_0` it is
4 bits less 8: a byte has two that are 16 apart, and a word of four bytes eight. What widens them is
arithmetic on weights alone, which the compiler makes part of the product that reads them. Of the
blocks of 256 in `q4_k` and `q6_k`, scales are multiplied out when they are read: `q4_k` is as
`q4_0`, with an offset for each block, and `q6_k` as `q8_0`, in blocks of 16.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from products import Q40ProductOp
from xdsl.dialects.builtin import TensorType, bf16, f16, f32, i8, i32
from xdsl.ir import Attribute, SSAValue

from gawee_dialect import GaweeError
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, BitwiseXorOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import Emitter, EntryFunction
from gawee_dialect.parameters.store import ParameterStore

VALUES, SCALES, OFFSETS = ".values", ".scales", ".offsets"
"""What the names of the parts of such a weight end with; only `q4_k` has offsets."""


@dataclass(frozen=True)
class Stored:
    """What the numbers of a block are stored as, and its scale."""

    element: str
    count: int
    scale: str
    block: int
    has_offsets: bool = False

    @property
    def parts(self) -> Sequence[str]:
        """What the names of its arrays end with."""
        return (VALUES, SCALES, OFFSETS) if self.has_offsets else (VALUES, SCALES)


STORED: Mapping[str, Stored] = {
    "q8_0": Stored("int8", 32, "float16", 32),
    "q4_0": Stored("int32", 4, "float16", 32),
    "q4_k": Stored("int32", 4, "float32", 32, has_offsets=True),
    "q6_k": Stored("int8", 16, "float32", 16),
}
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
    rounds: bool
    """Whether what it multiplies is rounded to bf16 too, where it is of bf16."""

    def rows(self, indices: SSAValue) -> SSAValue:
        """Return some rows, in f32."""
        return self.emit.cast(self.emit(GatherOp(self.value, indices)), f32)

    def product(self, x: SSAValue, first: int, size: int, bias: SSAValue | None) -> SSAValue:
        """Multiply by `size` rows from the `first` one on."""
        emit, (rows, columns), weight = self.emit, tensor_shape(self.value), self.value
        if size < rows:
            weight = emit(SliceOp(weight, offsets=[first, 0], sizes=[size, columns]))
        if self.rounds and element_type(weight) == bf16:
            x = emit.cast(emit.cast(x, bf16), f32)
        return emit(MatMulOp(x, emit.cast(weight, f32), bias))


@dataclass(frozen=True)
class Blocks:
    """A weight of blocks: numbers (out, blocks, elements of a block) and scales (out, blocks)."""

    emit: Emitter
    stored: Stored
    values: SSAValue
    scales: SSAValue
    offsets: SSAValue | None
    """What is added to the numbers of each block."""

    def rows(self, indices: SSAValue) -> SSAValue:
        """Return some rows, in f32."""
        emit = self.emit
        values = emit(GatherOp(self.values, indices))
        count, blocks, size = tensor_shape(values)
        if self.stored.element == "int8":
            wide = emit.cast(values, f32)
        else:
            wide = emit.reshape(values, (count, blocks, 1, size, 1))
            wide = self._widened(wide, FIRST_BITS[:, None])
        ones = [1] * (len(tensor_shape(wide)) - 2)

        def of_blocks(part: SSAValue) -> SSAValue:
            return emit.cast(
                emit.reshape(emit(GatherOp(part, indices)), (count, blocks, *ones)), f32
            )

        wide = emit(MulOp(wide, of_blocks(self.scales)))
        if self.offsets is not None:
            wide = emit(AddOp(wide, of_blocks(self.offsets)))
        return emit.reshape(wide, (count, blocks * self.stored.block))

    def product(self, x: SSAValue, first: int, size: int, bias: SSAValue | None) -> SSAValue:
        """Multiply by `size` rows from the `first` one on."""
        emit, (rows, columns) = self.emit, tensor_shape(x)
        blocks = columns // self.stored.block
        values, scales = (self._some(each, first, size) for each in (self.values, self.scales))
        by_block = emit.reshape(x, (rows, blocks, self.stored.block))
        if self.stored.element == "int8":
            scales = emit.cast(emit.reshape(scales, (size, blocks, 1)), f32)
            by_block = emit.reshape(by_block, (rows, 1, *tensor_shape(by_block)[1:]))
            terms = emit(MulOp(by_block, emit(MulOp(emit.cast(values, f32), scales))))
            made = emit(ReduceSumOp(terms, axes=[2, 3]))
        else:
            made = emit(Q40ProductOp(x, values, scales))
        if self.offsets is not None:
            offsets = self._some(self.offsets, first, size)
            sums = emit(ReduceSumOp(by_block, axes=[2]))
            made = emit(AddOp(made, emit(MatMulOp(sums, offsets, None))))
        return made if bias is None else emit(AddOp(made, bias))

    def _some(self, part: SSAValue, first: int, size: int) -> SSAValue:
        rows, *others = tensor_shape(part)
        if size == rows:
            return part
        offsets, sizes = [first, *(0 for _ in others)], [size, *others]
        return self.emit(SliceOp(part, offsets=offsets, sizes=sizes))

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
    function: EntryFunction, name: str, dtype: str, shape: tuple[int, int], *, rounds: bool = False
) -> Matrix | Blocks:
    """Add a weight (out, in) to the arguments of a function, as it is stored.

    With `rounds`, what a weight of bf16 multiplies is rounded to bf16.
    """
    rows, columns = shape

    def argument(name: str, element: Attribute, *shape: int) -> SSAValue:
        return function.add_argument(ArgumentKind.PARAMETER, name, TensorType(element, shape))

    if dtype not in STORED:
        return Matrix(function.emit, argument(name, FLOATS[dtype], rows, columns), rounds)
    stored = STORED[dtype]
    blocks, element = columns // stored.block, i8 if stored.element == "int8" else i32
    values = argument(name + VALUES, element, rows, blocks, stored.count)
    scales = argument(name + SCALES, FLOATS[stored.scale], rows, blocks)
    offsets = argument(name + OFFSETS, f32, rows, blocks) if stored.has_offsets else None
    return Blocks(function.emit, stored, values, scales, offsets)


def stored_dtype(weights: ParameterStore, name: str) -> str:
    """Return how a weight is stored: `float32`, `q8_0`, ...; raises GaweeError for another way."""
    if name + VALUES in weights:
        values, scales = (weights.describe(name + part) for part in (VALUES, SCALES))
        found = values.dtype, values.shape[2], scales.dtype
        known = {(each.element, each.count, each.scale): dtype for dtype, each in STORED.items()}
        return known[found]
    if name not in weights:
        raise GaweeError(f"expected weights to have '{name}', got none")
    dtype = weights.describe(name).dtype
    if dtype not in FLOATS:
        raise GaweeError(f"expected weight '{name}' of floats, got {dtype}")
    return dtype
