"""Weights of a graph as they are stored: matrices of floats, or of blocks of small integers.

A block has 32 numbers along a row, and one scale. In `q8_0` each number is 8 bits. In `q4_0` it is
4 bits less 8, and a byte has two numbers that are 16 apart. What widens them is arithmetic on
weights alone, which the compiler makes part of the product that reads them.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import TensorType, bf16, f16, f32, i8, i32
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.gather import GatherOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.entry_function import EntryFunction

BLOCK = 32
"""Numbers that have one scale."""
BYTES: Mapping[str, int] = {"q8_0": 32, "q4_0": 16}
"""Of the numbers of a block."""
VALUES, SCALES = ".values", ".scales"
"""What the names of the two parts of such a weight end with."""
FLOATS: Mapping[str, Attribute] = {"float32": f32, "float16": f16, "bfloat16": bf16}
"""Element types of weights that are matrices or rows."""


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
    """A weight of blocks: bytes (out, blocks, bytes of a block) and scales (out, blocks)."""

    emit: Emitter
    values: SSAValue
    scales: SSAValue

    def rows(self, indices: SSAValue) -> SSAValue:
        """Return some rows, in f32."""
        emit = self.emit
        parts = (emit(GatherOp(each, indices)) for each in (self.values, self.scales))
        wide = self._widened(*parts)
        count, blocks = tensor_shape(wide)[:2]
        return emit.reshape(wide, (count, blocks * BLOCK))

    def product(self, x: SSAValue, first: int, size: int, bias: SSAValue | None) -> SSAValue:
        """Multiply by `size` rows from the `first` one on."""
        emit, (rows, blocks, count) = self.emit, tensor_shape(self.values)
        values, scales = self.values, self.scales
        if size < rows:
            values = emit(SliceOp(values, offsets=[first, 0, 0], sizes=[size, blocks, count]))
            scales = emit(SliceOp(scales, offsets=[first, 0], sizes=[size, blocks]))
        wide = self._widened(values, scales)
        inner = tensor_shape(wide)[1:]
        x = emit.reshape(x, (tensor_shape(x)[0], 1, *inner))
        axes = range(2, 2 + len(inner))
        made = emit(ReduceSumOp(emit(MulOp(x, wide)), axes=list(axes)))
        return made if bias is None else emit(AddOp(made, bias))

    def _widened(self, values: SSAValue, scales: SSAValue) -> SSAValue:
        """Return floats: (out, blocks, 32), or (out, blocks, 2, 16) of numbers of 4 bits."""
        emit, (rows, blocks, count) = self.emit, tensor_shape(values)
        if count == BLOCK:
            wide, ones = emit.cast(values, f32), (1,)
        else:
            halves = emit.array(np.array([[15], [240]]), i32)
            pairs = emit.cast(emit.reshape(values, (rows, blocks, 1, count)), i32)
            wide = emit.cast(emit(BitwiseAndOp(pairs, halves)), f32)
            wide = emit(MulOp(wide, emit.array(np.array([[1], [1 / 16]]), f32)))
            wide, ones = emit(SubOp(wide, emit.number(8, f32))), (1, 1)
        scales = emit.cast(emit.reshape(scales, (rows, blocks, *ones)), f32)
        return emit(MulOp(wide, scales))


def weight_of(
    function: EntryFunction, name: str, dtype: str, rows: int, columns: int
) -> Matrix | Blocks:
    """Add a weight (out, in) to the arguments of a function, as it is stored."""

    def argument(name: str, element: Attribute, *shape: int) -> SSAValue:
        return function.add_argument(ArgumentKind.PARAMETER, name, TensorType(element, shape))

    if dtype not in BYTES:
        return Matrix(function.emit, argument(name, FLOATS[dtype], rows, columns))
    blocks = columns // BLOCK
    values = argument(name + VALUES, i8, rows, blocks, BYTES[dtype])
    return Blocks(function.emit, values, argument(name + SCALES, f16, rows, blocks))
