"""What the next iteration of a loop reads, fetched a little at each step of this one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.dialect.affine_range import used_dims, value_range
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of, shape_of
from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule
from gawee_dialect.dialect.open_size import OpenSize, is_open
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    Counters,
    IndexBuilder,
    LinearIndex,
)
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index
from gawee_dialect.upstream.arith import arithmetic
from gawee_dialect.upstream.memref import PrefetchOp

LINE = 64
"""Bytes of a cache line, on all processors of `target`."""
SECOND_CACHE = 2
"""The locality of what is to wait in the second cache for a whole iteration."""
FEW = 2
"""How many times fewer rows than a schedule says are too few for a step to have time to fetch."""
LONG = 32
"""Ops of a body for which a step of one row has time: those of words of eight numbers.

Zen 5, one row with 65536 x 2048 in Q4_0: at 98 % of the rate at which memory is read, 87 % without.
"""


def build_prefetch(
    builder: Builder,
    op: KernelOp,
    counters: Counters,
    first: Sequence[LinearIndex],
    extent: Sequence[int],
) -> None:
    """Insert what the step of the reductions at point `first` fetches, if the schedule says so.

    All steps of an iteration fetch as much: together the run of memory that the next one reads. Of
    an input that lies in blocks, the steps of a block fetch what the next one reads of this block.
    Where rows are so few that they are less than half a tile (`extent`), a step takes no longer
    than to load what it reads: then nothing is fetched, unless a point takes many ops.
    """
    schedule = None if op.schedule is None else op.schedule.data
    if schedule is None or schedule.prefetch is None:
        return
    inner = [loop for loop in schedule.loops if isinstance(op.sizes[loop.dim], OpenSize)]
    is_few = any(FEW * extent[loop.dim] < loop.step for loop in inner)
    is_long = len(op.accumulate.block.ops) >= LONG
    if is_long or not is_few:
        fetches_all = is_long and any(extent[loop.dim] < loop.step for loop in inner)
        _Iteration(op, schedule, schedule.prefetch, extent, fetches_all).build(
            builder, counters, first
        )


@dataclass
class _Iteration:
    """One iteration of the loop that is prefetched along."""

    op: KernelOp
    schedule: Schedule
    prefetch: Prefetch
    extent: Sequence[int]
    fetches_all: bool
    """Whether each iteration over rows fetches all of the run: of few rows there are hardly two."""

    def __post_init__(self) -> None:
        loops = self.schedule.loops
        at = next(i for i, loop in enumerate(loops) if loop.dim == self.prefetch.dim)
        inside = _run_begins(self.op, self.schedule, self.prefetch)
        self.sizes = _sizes_inside(self.op, loops[:inside])
        self.is_whole = inside == at + 1
        self.step = loops[at].step if self.is_whole else self.extent[self.prefetch.dim]
        self.inner = {loop.dim: loop.step for loop in loops[inside:]}
        """The loops over a run: by dimension, how far a step of the innermost one goes."""

    def build(self, builder: Builder, counters: Counters, first: Sequence[LinearIndex]) -> None:
        """Insert the prefetches of one step."""
        buffer = self.op.inputs[self.prefetch.input]
        indices = IndexBuilder(builder, counters)
        start = self._start_of_next(indices, first)
        if not start:
            return  # a scalar, which stays in a register
        *leading, last = start
        line = LINE // element_bytes(element_of(buffer))
        number, steps = self._number(indices, first, -(-self._length() // line))
        share = -(-self._length() // steps)
        for offset in range(0, share, line):
            place = (*leading, last + number.scaled(share) + LinearIndex(offset))
            at = [indices.value(index) for index in place]
            builder.insert(PrefetchOp(buffer, at, locality=SECOND_CACHE))

    def _length(self) -> int:
        """Return how many elements of the input an iteration reads, or are between those."""
        map = self.op.maps[self.prefetch.input]
        if self.is_whole:
            return prod(self.sizes[dim] for dim in used_dims(map))
        return prod(_lengths(map, self.sizes))

    def _number(
        self, indices: IndexBuilder, first: Sequence[LinearIndex], lines: int
    ) -> tuple[LinearIndex, int]:
        """Return the number of a step within the iteration, and how many steps there are.

        Of a loop whose end is open the first iterations fetch a line each, until all are, but
        for few rows, each iteration over which fetches all.
        """
        number, steps = LinearIndex(), 1
        for dim, step in reversed(self.inner.items()):
            size = self.sizes[dim]
            if isinstance(size, OpenSize) and self.fetches_all:
                continue
            if isinstance(size, OpenSize):
                count = -(-lines // steps)
                place = _place(indices, first[dim], step, count)
            else:
                count = -(-size // step)
                place = first[dim].parts(size)[1].parts(step)[0]
            number += place.scaled(steps)
            steps *= count
        return number, steps

    def _start_of_next(
        self, indices: IndexBuilder, first: Sequence[LinearIndex]
    ) -> list[LinearIndex]:
        """Return where the part of the input begins that the next iteration reads."""
        dims = [self._start(dim, at) if dim in self.inner else at for dim, at in enumerate(first)]
        dims[self.prefetch.dim] += LinearIndex(self.step)
        found = [indices.evaluate(e, dims) for e in self.op.maps[self.prefetch.input].results]
        return [index for index in found if index is not None]

    def _start(self, dim: int, at: LinearIndex) -> LinearIndex:
        """Return where the loops over a run that are along a dimension begin."""
        size = self.sizes[dim]
        return LinearIndex() if isinstance(size, OpenSize) else at.parts(size)[0].scaled(size)


def _run_begins(op: KernelOp, schedule: Schedule, prefetch: Prefetch) -> int:
    """Return from which loop on what the next iteration reads of an input is one run of memory.

    That are all that are inside of the one that is prefetched along, where there is none.
    """
    loops = schedule.loops
    inside = next(i for i, loop in enumerate(loops) if loop.dim == prefetch.dim) + 1
    shape, map = shape_of(op.inputs[prefetch.input]), op.maps[prefetch.input]
    if is_open(op.sizes) or is_open(shape):
        return inside
    for number in range(inside, len(loops)):
        sizes = _sizes_inside(op, loops[:number])
        if _is_run(map, shape, sizes):
            return number
    return inside


def _sizes_inside(op: KernelOp, loops: Sequence[Loop]) -> list[int]:
    """Return how many points there are along each dimension inside of some loops."""
    sizes = list(op.sizes)
    for loop in loops:
        sizes[loop.dim] = min(loop.step, sizes[loop.dim])
    return sizes


def _lengths(map: AffineMap, sizes: Sequence[int]) -> list[int]:
    """Return from which element of each axis to which the points of a box lead."""
    ranges = (value_range(expr, sizes) for expr in map.results)
    return [most - least + 1 for least, most in ranges]


def _is_run(map: AffineMap, shape: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether points of a box read elements side by side: whole axes behind the first of many."""
    lengths = _lengths(map, sizes)
    first = next((axis for axis, length in enumerate(lengths) if length > 1), len(lengths))
    return lengths[first + 1 :] == list(shape[first + 1 :])


def _place(indices: IndexBuilder, first: LinearIndex, step: int, count: int) -> LinearIndex:
    """Return the number of the iteration that begins at a point, of `count` at most the last."""
    place = indices.evaluate(AffineExpr.dimension(0) // step, [first])
    assert place is not None
    last = constant_index(indices.builder, count - 1)
    bounded = arithmetic(indices.builder, arith.MinUIOp, indices.value(place), last)
    indices.counters.trip_counts[bounded] = count
    return LinearIndex(terms={bounded: 1})
