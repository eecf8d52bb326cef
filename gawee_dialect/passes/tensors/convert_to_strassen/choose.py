"""Whether seven products of quarters, and their sums, take fewer cycles than one product."""

from xdsl.dialects.builtin import FloatAttr, TensorType, f32

from gawee_dialect.passes.tensors.assign_schedules.cost_model import kernel_cycles
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import BYTES, KernelAccesses
from gawee_dialect.passes.tensors.assign_schedules.tiles import best_tile
from gawee_dialect.passes.tensors.convert_to_strassen.product import (
    FIRST,
    SECOND,
    TERM,
    Product,
    Sizes,
    multiply_add,
)
from gawee_dialect.passes.tensors.form_kernels.drafts import Output, argument, kernel, region
from gawee_dialect.target.description import Processor

PRODUCTS = 7
"""How many products of quarters take the place of one product."""
PASSES = 12
"""How many quarters of the matrix its sums read and write, 8 and 4.

As many quarters of the output are read and written more than by one product.
"""
SMALLEST_GAIN = 1.04
"""What the model has to promise: it knows little of how sums and products overlap.

Emerald Rapids, AVX-512: 256 x 256 x 1024 (rows, terms, columns), for which it says 1.07, take 5 to
8 % less time, 512 x 256 x 256 (1.03) 3 % more, 250 x 256 x 252 (1.035) 4 to 7 % more.
"""
WIDEST = 256
"""The most bits of a vector. With 512 multiply-adds take half as long, and sums as long as before.

Emerald Rapids, an encoder of width 256: 7 to 9 % less time with AVX2; with AVX-512 0 to 4 %, for
which code that takes twice as long to compile is too much.
"""
FEWEST = 64
"""The fewest rows, columns and terms.

Weights are 7/4 as large: with few rows, products wait for those that no cache holds. With few
columns or terms, they are not what takes time.
"""


def gain(product: Product, processor: Processor) -> float:
    """Return how many times as long one product takes by the model, on one core."""
    whole, quarter = (
        _product_cycles(product, sizes, processor) for sizes in (product.sizes, product.halves)
    )
    return whole / (PRODUCTS * quarter + _sum_cycles(product.halves, processor))


def _sum_cycles(halves: Sizes, processor: Processor) -> float:
    """Return the cycles to read and write quarters again.

    The matrix is near where the second cache holds it; what is added to a product, and the sum,
    are where it holds all that the product reads and writes but the weights.
    """
    matrix, output = (BYTES * halves.rows * each for each in (halves.terms, halves.columns))
    of_matrix = PASSES * matrix / _rate(4 * matrix, processor)
    return of_matrix + PASSES * output / _rate(matrix + 3 * output, processor)


def _rate(size: int, processor: Processor) -> float:
    """Return how many bytes a cycle are read or written of so many.

    What the second cache does not hold is fetched before it is written, and written back.
    """
    if size <= processor.second_cache:
        return processor.bytes_a_cycle(processor.memories[1])
    return processor.bytes_a_cycle(processor.memory_for(size)) / processor.moved_by_writes


def _product_cycles(product: Product, sizes: Sizes, processor: Processor) -> float:
    """Return the cycles of a product of these sizes, a part of the one that is asked about."""
    points = {product.row: FIRST, product.column: SECOND, product.op.num_parallel: TERM}
    op = product.op
    reads = [
        (op.inputs[index], product.at(op.maps[index], points, sizes))
        for index in (product.matrix, product.weights)
    ]
    shape = product.on_axes(sizes.rows, sizes.columns, 1)
    draft = kernel(
        reads,
        Output(TensorType(f32, shape), product.at(op.maps[-1], points, sizes)),
        bounds=sizes,
        finish=region(reads, f32, argument(-1)),
        reductions=1,
        initial=FloatAttr(0.0, f32),
        accumulate=region(reads, f32, multiply_add),
    )
    accesses = KernelAccesses.of(draft, [False, True])
    cycles = kernel_cycles(accesses, best_tile(accesses, processor), processor)
    draft.erase()
    return cycles
