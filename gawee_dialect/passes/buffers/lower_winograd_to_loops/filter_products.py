"""Products of a panel of 3x3 filters, which are transformed in registers while they are read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import math, memref, scf, vector
from xdsl.ir import SSAValue

from gawee_dialect.dialect.kernels.winograd import KERNEL
from gawee_dialect.passes.buffers.lower_kernels_to_loops.linear_index import (
    IndexBuilder,
    LinearIndex,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_loop import allocate, loops, open_loop
from gawee_dialect.passes.buffers.lower_kernels_to_loops.prefetch import LINE, SECOND_CACHE
from gawee_dialect.passes.buffers.lower_kernels_to_loops.quick_ops import load_element
from gawee_dialect.passes.buffers.lower_winograd_to_loops.linear_transform import apply_matrix
from gawee_dialect.passes.buffers.lower_winograd_to_loops.tile_loops import TileLoops
from gawee_dialect.upstream.memref import PrefetchOp
from gawee_dialect.upstream.vector import zeros

BYTES = 4
"""Of a weight."""

Inside = Callable[[Builder, Sequence[LinearIndex]], None]
"""Builds what is inside of loops, of their counters."""


@dataclass
class FilterProducts:
    """Builds the products of all tiles with one panel of filters.

    Rows of points follow one another. Each goes over all channels: it makes its row of G g G^T of
    nine vectors, and multiplies it with the inputs of all tiles. The accumulators of a row fill the
    registers; the filters are read as often as there are rows, all but once from the second cache.
    """

    tiles: TileLoops
    panel: LinearIndex
    inputs: SSAValue
    """The transformed inputs: points, tiles, channels."""
    products: SSAValue
    """What is computed: points, tiles, channels of the panel."""

    def __post_init__(self) -> None:
        self.op = self.tiles.op
        self.matrix = self.tiles.transforms.weight
        images, _, _, _, self.channels = self.op.sizes
        down, across = self.op.tiles
        self.count = images * down * across
        self.points = self.tiles.points

    def build(self, builder: Builder) -> None:
        """Insert the loops over channels, one for each row of points."""
        shape = (self.points, self.count)
        sums = allocate(builder, self.op, self.tiles.vector, shape, "sums")
        for row in range(self.points):
            self._start(builder, sums)
            inner, channel = open_loop(
                builder, self.tiles.counters, self.channels, "channel", unroll=False
            )
            at = LinearIndex(terms={channel: 1})
            if self.op.prefetch is not None:
                self._prefetch(inner, row, at)
            for column, weight in enumerate(self._transformed(inner, row, at)):
                self._multiply(inner, sums, (row, column), at, weight)
            inner.insert(scf.YieldOp())
            self._store(builder, sums, row)

    def _start(self, builder: Builder, sums: SSAValue) -> None:
        value = builder.insert(zeros(self.tiles.vector)).result

        def store(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            inner.insert(memref.StoreOp.get(value, sums, self._values(inner, indices)))

        self._each(builder, (self.points, self.count), store)

    def _transformed(self, builder: Builder, row: int, channel: LinearIndex) -> list[SSAValue]:
        """Return a row of G g G^T."""
        columns: list[SSAValue] = []
        used = [down for down in range(KERNEL) if self.matrix[row][down]]
        factors = tuple(self.matrix[row][down] for down in used)
        for column in range(KERNEL):
            values = [self._filter(builder, channel, down, column) for down in used]
            columns += apply_matrix(builder, (factors,), values)
        return apply_matrix(builder, self.matrix, columns)

    def _filter(self, builder: Builder, channel: LinearIndex, down: int, across: int) -> SSAValue:
        places = (self.panel, channel, LinearIndex(down), LinearIndex(across), LinearIndex())
        at = self._values(builder, places)
        return builder.insert(vector.LoadOp(self.op.weights, at, self.tiles.vector)).result

    def _multiply(
        self,
        builder: Builder,
        sums: SSAValue,
        point: tuple[int, int],
        channel: LinearIndex,
        weight: SSAValue,
    ) -> None:
        row, column = point

        def add(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            (tile,) = indices
            number = LinearIndex(row * self.points + column)
            at = self._values(inner, (number, tile, channel))
            scalar = load_element(inner, self.inputs, at)
            value = inner.insert(vector.BroadcastOp(scalar, self.tiles.vector)).vector
            slot = self._values(inner, (LinearIndex(column), tile))
            before = load_element(inner, sums, slot)
            after = inner.insert(math.FmaOp(value, weight, before)).result
            inner.insert(memref.StoreOp.get(after, sums, slot))

        self._each(builder, (self.count,), add)

    def _store(self, builder: Builder, sums: SSAValue, row: int) -> None:
        def store(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            column, tile = indices
            value = load_element(inner, sums, self._values(inner, indices))
            point = LinearIndex(row * self.points) + column
            at = self._values(inner, (point, tile, LinearIndex()))
            inner.insert(vector.StoreOp(value, self.products, at))

        self._each(builder, (self.points, self.count), store)

    def _prefetch(self, builder: Builder, row: int, channel: LinearIndex) -> None:
        """Fetch a part of the next panel, as long as that of any other step of any row."""
        length = KERNEL**2 * self.tiles.lanes
        share = -(-length // self.points)
        first = channel.scaled(share) + LinearIndex(row * self.channels * share)
        for offset in range(0, share, LINE // BYTES):
            zeros = [LinearIndex()] * 3
            places = (self.panel + LinearIndex(1), *zeros, first + LinearIndex(offset))
            at = self._values(builder, places)
            builder.insert(PrefetchOp(self.op.weights, at, locality=SECOND_CACHE))

    def _values(self, builder: Builder, places: Sequence[LinearIndex]) -> list[SSAValue]:
        indices = IndexBuilder(builder, self.tiles.counters)
        return [indices.value(place) for place in places]

    def _each(self, builder: Builder, counts: Sequence[int], inside: Inside) -> None:
        names = ("column", "tile")[-len(counts) :]
        loops(builder, self.tiles.counters, counts, names, inside, unroll=True)
