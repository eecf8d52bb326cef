"""Products that are an op each, and one equation: with weights of 4-bit numbers, and with keys.

A word is four bytes, and has eight numbers: those of the lower halves of its bytes are neighbours,
and so are those of the upper ones. The highest bit of a word is its sign: where it is turned, the
highest four bits are a number less 8.
"""

from typing import ClassVar

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.equation import DefinedOp
from gawee_dialect.dialect.types import AnyTensor

HALVES, BYTES = 2, 4
SIGN = -(1 << 31)


def number(word: str, half: int, byte: int, less: int) -> str:
    """Return the expression of a number of a word, in f32, less another."""
    first, added = 4 * (HALVES * byte + half), -less
    bits = f"bit_and({word}, {15 << first})"
    if first == 28:
        bits, added = f"bit_and(bit_xor({word}, {SIGN}), {-1 << first})", 8 - less
    return f"(float({bits}) * {0.5**first!r} + ({added}))"


def terms(x: str, half: int, distance: int, less: int) -> str:
    """Return the products of the numbers of a half of words with neighbours from x on."""
    places = ((byte, f"x[r, {x} + {half * distance + byte}]") for byte in range(BYTES))
    return " + ".join(f"{each} * {number('q[n,b,w]', half, byte, less)}" for byte, each in places)


@irdl_op_definition
class Q40ProductOp(DefinedOp):
    """x (rows, in) times words (out, blocks, 4) of numbers from -8 on, with a scale for each block.

    Numbers of the lower halves of bytes are the first 16 of a block.
    """

    name = "llm.q4_0_product"

    EQUATION: ClassVar = "inputs x, q, s; y[r,n] = sum(b,w) float(s[n,b]) * ({} + {})".format(
        *(terms("b*32 + w*4", half, 16, 8) for half in range(HALVES))
    )

    x = operand_def(TensorType)
    words = operand_def(TensorType)
    scales = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, words: SSAValue, scales: SSAValue):
        self.define([x, words, scales])

    @classmethod
    def result_type(cls, x: AnyTensor, words: AnyTensor, scales: AnyTensor) -> AnyTensor:
        """Return the type of (rows, out)."""
        return TensorType(f32, [x.get_shape()[0], words.get_shape()[0]])


@irdl_op_definition
class ScoresOp(DefinedOp):
    """Queries (heads, rows, width) times keys (groups, heads, width, 16) in groups of 16.

    Keys lie side by side in groups of 16, so that a vector of them is read as it lies.
    """

    name = "llm.scores"

    EQUATION: ClassVar = "y[h,r,g,l] = sum(d) q[h,r,d] * k[g,h,d,l]"

    queries = operand_def(TensorType)
    keys = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, queries: SSAValue, keys: SSAValue):
        self.define([queries, keys])

    @classmethod
    def result_type(cls, queries: AnyTensor, keys: AnyTensor) -> AnyTensor:
        """Return the type of scores."""
        groups, _, _, lanes = keys.get_shape()
        return TensorType(f32, [*queries.get_shape()[:2], groups, lanes])


@irdl_op_definition
class MixedOp(DefinedOp):
    """Shares (heads, rows, groups, 16) times values (groups, heads, 16, width), over tokens."""

    name = "llm.mixed"

    EQUATION: ClassVar = "y[h,r,d] = sum(g,l) p[h,r,g,l] * v[g,h,l,d]"

    shares = operand_def(TensorType)
    values = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, shares: SSAValue, values: SSAValue):
        self.define([shares, values])

    @classmethod
    def result_type(cls, shares: AnyTensor, values: AnyTensor) -> AnyTensor:
        """Return the type of (heads, rows, width)."""
        return TensorType(f32, [*shares.get_shape()[:2], values.get_shape()[3]])
