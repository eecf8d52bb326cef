"""What the next iteration of a loop reads, fetched a little at each step of this one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder

from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of
from gawee_dialect.dialect.kernels.schedule import Prefetch, Schedule
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.passes.buffers.lower_kernels_to_loops.linear_index import (
    Counters,
    IndexBuilder,
    LinearIndex,
)
from gawee_dialect.upstream.memref import PrefetchOp

LINE = 64
"""Bytes of a cache line, on all processors of `target`."""
SECOND_CACHE = 2
"""The locality of what is to wait in the second cache for a whole iteration."""


def build_prefetch(
    builder: Builder, op: KernelOp, counters: Counters, first: Sequence[LinearIndex]
) -> None:
    """Insert what the step of the reductions at point `first` fetches, if the schedule says so.

    All steps of an iteration fetch as much: together the run of memory that the next one reads.
    """
    schedule = None if op.schedule is None else op.schedule.data
    if schedule is not None and schedule.prefetch is not None:
        _Iteration(op, schedule, schedule.prefetch).build(builder, counters, first)


@dataclass
class _Iteration:
    """One iteration of the loop that is prefetched along."""

    op: KernelOp
    schedule: Schedule
    prefetch: Prefetch

    def __post_init__(self) -> None:
        loops = self.schedule.loops
        at = next(i for i, loop in enumerate(loops) if loop.dim == self.prefetch.dim)
        self.sizes = list(self.op.sizes)
        for loop in loops[: at + 1]:
            self.sizes[loop.dim] = min(loop.step, self.sizes[loop.dim])
        self.step = loops[at].step
        self.inner = {loop.dim: loop.step for loop in loops[at + 1 :]}
        """The loops inside: by dimension, how far a step of the innermost one goes."""

    def build(self, builder: Builder, counters: Counters, first: Sequence[LinearIndex]) -> None:
        """Insert the prefetches of one step."""
        buffer = self.op.inputs[self.prefetch.input]
        indices = IndexBuilder(builder, counters)
        start = self._start_of_next(indices, first)
        if not start:
            return  # a scalar, which stays in a register
        *leading, last = start
        number, steps = self._number(first)
        share = -(-self._length() // steps)
        line = LINE // element_bytes(element_of(buffer))
        for offset in range(0, share, line):
            place = (*leading, last + number.scaled(share) + LinearIndex(offset))
            at = [indices.value(index) for index in place]
            builder.insert(PrefetchOp(buffer, at, locality=SECOND_CACHE))

    def _length(self) -> int:
        """Return how many elements of the input an iteration reads."""
        return prod(self.sizes[dim] for dim in used_dims(self.op.maps[self.prefetch.input]))

    def _number(self, first: Sequence[LinearIndex]) -> tuple[LinearIndex, int]:
        """Return the number of a step within the iteration, and how many steps there are."""
        number, steps = LinearIndex(), 1
        for dim, step in reversed(self.inner.items()):
            number += first[dim].parts(step)[0].scaled(steps)
            steps *= -(-self.sizes[dim] // step)
        return number, steps

    def _start_of_next(
        self, indices: IndexBuilder, first: Sequence[LinearIndex]
    ) -> list[LinearIndex]:
        """Return where the part of the input begins that the next iteration reads."""
        dims = [LinearIndex() if dim in self.inner else at for dim, at in enumerate(first)]
        dims[self.prefetch.dim] += LinearIndex(self.step)
        found = [indices.evaluate(e, dims) for e in self.op.maps[self.prefetch.input].results]
        return [index for index in found if index is not None]
