"""The blocks of a long sum: which loops over reductions run inside one, which around all."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import f64

from gawee_dialect.analysis.kernel_kind import combiner_of, multiplied_inputs
from gawee_dialect.analysis.long_sums import PRODUCTS_IN_BLOCK, TERMS_IN_BLOCK, total_type
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Loop
from gawee_dialect.dialect.open_size import OpenSize, greatest


def sums_in_blocks(op: KernelOp) -> bool:
    """Whether a kernel adds up sums of blocks, in f64."""
    terms = greatest(prod(op.sizes[op.num_parallel :]))
    return total_type(combiner_of(op), op.accumulator_type, terms) == f64


def steps_in_block(op: KernelOp) -> int:
    """Return how many steps of the innermost loop over a reduction a block has at most."""
    factors = multiplied_inputs(op)
    squares = factors is not None and factors[0] == factors[1]
    return TERMS_IN_BLOCK if factors is None or squares else PRODUCTS_IN_BLOCK


def blocks_of(
    loops: Sequence[Loop], sizes: Sequence[int], most: int
) -> tuple[Sequence[Loop], Sequence[Loop]]:
    """Split loops over reductions: those around blocks of up to `most` steps, and those inside.

    The loop that is too long is split in two: d4  ->  d4 by 64 around d4. One whose end is open
    is too long.
    """
    extents, counts = list(sizes), list[int]()
    for loop in loops:
        extent = extents[loop.dim]
        is_known = not isinstance(extent, OpenSize)
        counts.append(-(-extent // loop.step) if is_known else most + 1)
        extents[loop.dim] = loop.step
    steps, first = 1, len(loops)
    while first and steps * counts[first - 1] <= most:
        first -= 1
        steps *= counts[first]
    outside, inside = list(loops[:first]), list(loops[first:])
    if outside and most // steps > 1:
        loop = outside.pop()
        outside.append(Loop(loop.dim, loop.step * (most // steps)))
        inside.insert(0, loop)
    return outside, inside
