"""Cycles of the products of Winograd's algorithm: what is computed, and what is waited for.

A step multiplies the weights of one input channel with that channel of a register tile. It takes as
long as its multiply-adds, its loads or an accumulator's latency; and what it loads from beyond the
first cache adds most of the time that this takes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gawee_dialect.dialect.winograd import Winograd
from gawee_dialect.passes.assign_schedules.cost_model import (
    LATENCY,
    LOADS_PER_CYCLE,
    TILE_OVERHEAD,
)
from gawee_dialect.passes.assign_schedules.kernel_accesses import BYTES
from gawee_dialect.target.description import Memory, Processor

EXPOSED = 0.55
"""The part of the time to load from beyond the first cache that nothing hides.

Zen 5, 256 channels at 14x14: steps of 2 to 6 rows and 4 vectors, which are 4.2 cycles away in the
second cache, take 3.0 to 4.8 cycles more than their multiply-adds; steps of 4 to 8 rows and 2
vectors 0.8 to 1.9 cycles more of 2.1.
"""
PREFETCHED = 0.75
"""The part of main memory's rate that prefetches reach.

Zen 5, 512 channels at 7x7: 16.8 MB of weights take 615 to 630 us, 27 GB/s of 41.
"""
TIGHT = 1.15
"""What conflicts add where accumulators are just enough to hide their latency.

Zen 5, 256 channels at 14x14: steps of 4 rows and 2 vectors take 4.6 to 4.8 cycles, not 4.
"""
LOAD_WEIGHT = 0.05
"""What a cycle of loads adds where others hide it: tiles that load less are faster for the rest."""
KEPT = 7 / 8
"""What weights and inputs may take of the first cache to stay there for the next register tile."""


@dataclass(frozen=True)
class Products:
    """The products of one panel of weights and one point of the transforms."""

    plan: Winograd
    channels: int
    processor: Processor
    weights: Memory
    """Where weights come from when a block or a panel begins."""
    inputs: Memory
    """Where transformed inputs come from."""

    def cycles(self, count: int) -> float:
        """Return the cycles for so many tiles."""
        tiles = list(self._register_tiles(count))
        if not tiles:
            return 0
        again = 0.0 if self._stay(count) else self._waited(self._row, self.processor.memories[1])
        total = self.channels * (self._first() - again)
        # All steps fetch as much of what comes next.
        ahead = self._row / sum(many for many, _ in tiles) if self.plan.prefetch else 0
        for many, rows in tiles:
            step = self._step(rows) + again + self._waited(rows * BYTES, self.inputs)
            step = max(step, ahead / (PREFETCHED * self.processor.bytes_a_cycle(self.weights)))
            total += many * (self.channels * step + TILE_OVERHEAD + rows * self._vectors)
        return total

    def _register_tiles(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield (how many, of how many rows)."""
        whole, rest = divmod(count, self.plan.rows)
        yield from (
            (many, rows) for many, rows in ((whole, self.plan.rows), (1, rest)) if many and rows
        )

    @property
    def _vectors(self) -> int:
        return self.plan.panel // self.plan.product_lanes

    @property
    def _row(self) -> int:
        """Bytes of the weights of one step."""
        return self.plan.panel * BYTES

    def _step(self, rows: int) -> float:
        """Return the cycles of a step whose operands are in the first cache."""
        units = self.processor.multiply_adds_of(self.plan.product_lanes)
        loading = (rows + self._vectors) / LOADS_PER_CYCLE
        return max(rows * self._vectors / units, loading, TIGHT * LATENCY) + LOAD_WEIGHT * loading

    def _stay(self, count: int) -> bool:
        """Whether the panel stays in the first cache from one register tile to the next."""
        near = (self._row + min(self.plan.rows, count) * BYTES) * self.channels
        return near <= KEPT * (self.processor.memories[0].size or 0)

    def _first(self) -> float:
        """Return what the first register tile waits for the weights of a step."""
        second = self.processor.memories[min(1, len(self.processor.memories) - 1)]
        return self._waited(self._row, second if self.plan.prefetch else self.weights)

    def _waited(self, size: float, memory: Memory) -> float:
        near = memory is self.processor.memories[0]
        return 0 if near else EXPOSED * size / self.processor.bytes_a_cycle(memory)
