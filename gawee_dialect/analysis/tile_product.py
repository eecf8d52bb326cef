"""What a kernel sums, where registers of tiles multiply it."""

from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, bf16, f32, f64, i8, i32
from xdsl.ir import Attribute

from gawee_dialect.analysis.kernel_kind import combiner_of, multiplied_inputs
from gawee_dialect.analysis.long_sums import total_type
from gawee_dialect.dialect.kernels.integer_words import PackedProduct
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of
from gawee_dialect.dialect.kernels.packed_products import word_product
from gawee_dialect.dialect.open_size import greatest
from gawee_dialect.target.description import Processor
from gawee_dialect.upstream.amx import ROW_BYTES, WORD_BYTES

WORDS = ROW_BYTES // WORD_BYTES
"""Words of four bytes in a row of a tile, at most."""


@dataclass(frozen=True)
class TileProduct:
    """What tiles are multiplied to: by the number of each factor, and what its elements are."""

    inputs: tuple[int, int]
    element: Attribute
    """i8, of which an element of a factor has four, or bf16."""

    @property
    def numbers(self) -> int:
        """How many numbers an element of a factor has."""
        return 4 if self.element == i8 else 1

    @property
    def in_word(self) -> int:
        """How many elements of a factor one sum takes at once."""
        return 1 if self.element == i8 else 2

    @property
    def most(self) -> int:
        """The most elements of a factor that a product takes."""
        return WORDS * self.in_word


def tile_product(op: KernelOp) -> TileProduct | None:
    """Return the product that a kernel adds up, if there is an instruction for tiles of it.

    yield addi(accumulator, packed product of four bytes), or of products of bf16, from zero on
    """
    indices = multiplied_inputs(op)
    if indices is None or _sums_in_f64(op):
        return None
    arguments = op.accumulate.block.args
    add = op.yielded(op.accumulate).owner
    assert isinstance(add, arith.AddiOp | arith.AddfOp)
    term = add.lhs if add.rhs is arguments[-1] else add.rhs
    if op.initial == IntegerAttr(0, i32):
        words = word_product(term)
        if words is None or words.kind is not PackedProduct.BYTES:
            return None
        is_plain = (words.first, words.second) == tuple(arguments[each] for each in indices)
        return TileProduct(indices, i8) if is_plain else None
    widened = all(element_of(op.inputs[each]) == bf16 for each in indices)
    return TileProduct(indices, bf16) if widened and op.initial == FloatAttr(0.0, f32) else None


def is_of_tiles(op: KernelOp, processor: Processor) -> bool:
    """Whether a processor has an instruction for tiles of what a kernel multiplies."""
    product = tile_product(op)
    if product is None:
        return False
    return processor.byte_tiles if product.element == i8 else processor.bf16_tiles


def points_together(size: int, rows: int, apart: int, further: int | None) -> int:
    """Return how many points along another dimension a tile of so many rows has; 1 for no more.

    Of each it has all `size` points along a dimension, which lie `apart`; the next point along the
    other one lies `further` on.
    """
    if further is None or apart <= 0 or further % apart or further // apart < size:
        return 1
    return max(1, (rows - size) // (further // apart) + 1)


def _sums_in_f64(op: KernelOp) -> bool:
    """Whether a sum is so long that blocks of it are added up in f64."""
    terms = greatest(prod(op.sizes[op.num_parallel :]))
    return total_type(combiner_of(op), op.accumulator_type, terms) == f64
