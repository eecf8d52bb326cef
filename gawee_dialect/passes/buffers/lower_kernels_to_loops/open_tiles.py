"""Loops over a dimension whose size is open: whole tiles, then smaller ones, then points.

    n points by 6  ->  for n / 6: a tile of 6; for n mod 6: a tile of 1

What is inside of a tile has constants of its own: bounds that are known at run time there take
twice as long.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.open_size import OpenSize, SizeName, UnknownSize, greatest
from gawee_dialect.passes.buffers.lower_kernels_to_loops.linear_index import (
    Counters,
    IndexBuilder,
    LinearIndex,
    size_index,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_loop import rolled_loop
from gawee_dialect.passes.buffers.lower_kernels_to_loops.quick_ops import arithmetic, end_iteration
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index

BuildTile = Callable[[Builder, LinearIndex, int], None]
"""Builds a tile from its first point on, of so many points."""


class _Points(NamedTuple):
    """Some last points of a dimension."""

    number: SSAValue
    first: LinearIndex
    most: int
    """How many there are at most."""
    size: int | None = None
    """The form of `number`, where it has one."""


@dataclass(frozen=True)
class OpenLoop:
    """A loop over an open dimension in tiles of some sizes, the greatest first, the last one 1."""

    counters: Counters
    name: str
    steps: Sequence[int]

    def build(self, builder: Builder, size: OpenSize, tile: BuildTile) -> None:
        """Insert the loops over all tiles of a dimension."""
        self._build(builder, self.steps, self._all(builder, size), tile)

    def build_one(
        self, builder: Builder, size: OpenSize, index: LinearIndex, tile: BuildTile
    ) -> None:
        """Insert the tile of a number; the last one may be some smaller tiles."""
        step, *smaller = self.steps
        tiles, rest = self._split(builder, self._all(builder, size), step)
        if rest is None:
            tile(builder, index.scaled(step), step)
            return
        number = IndexBuilder(builder, self.counters).value(index)
        is_whole = builder.insert(arith.CmpiOp(number, tiles, "ult")).result
        blocks = Block(), Block()
        builder.insert(scf.IfOp(is_whole, (), Region(blocks[0]), Region(blocks[1])))
        first, last = (Builder(InsertPoint.at_end(block)) for block in blocks)
        tile(first, index.scaled(step), step)
        end_iteration(first)
        self._build(last, smaller, rest, tile)
        end_iteration(last)

    def _all(self, builder: Builder, size: OpenSize) -> _Points:
        value = size_index(builder, self.counters, size)
        return _Points(value, LinearIndex(), greatest(size), size)

    def _build(
        self, builder: Builder, steps: Sequence[int], points: _Points, tile: BuildTile
    ) -> None:
        for step in steps:
            if points.most < step:
                continue
            tiles, rest = self._split(builder, points, step)
            most = points.most // step
            inner, counter = rolled_loop(builder, self.counters, tiles, most, self.name)
            tile(inner, points.first + LinearIndex(terms={counter: step}), step)
            end_iteration(inner)
            if rest is None:
                return
            points = rest

    def _split(
        self, builder: Builder, points: _Points, step: int
    ) -> tuple[SSAValue, _Points | None]:
        """Return how many tiles of `step` points there are, and the points left, if any."""
        if step == 1:
            return points.number, None
        by = constant_index(builder, step)
        tiles = arithmetic(builder, arith.DivUIOp, points.number, by)
        if points.size is not None and _divides(step, points.size):
            return tiles, None
        left = arithmetic(builder, arith.RemUIOp, points.number, by)
        self.counters.trip_counts[tiles] = points.most // step + 1
        first = points.first + LinearIndex(terms={tiles: step})
        return tiles, _Points(left, first, min(step - 1, points.most))


def _divides(step: int, size: int) -> bool:
    try:
        return size % step == 0
    except UnknownSize:
        return False


def number_of_tiles(builder: Builder, counters: Counters, size: OpenSize, step: int) -> int:
    """Return how many tiles an open dimension has, the last one of fewer points, as a name."""
    if step == 1:
        return size
    points = size_index(builder, counters, size)
    more = constant_index(builder, step - 1)
    last = arithmetic(builder, arith.AddiOp, points, more)
    tiles = arithmetic(builder, arith.DivUIOp, last, constant_index(builder, step))
    name = SizeName(f"tiles of {step} in {size}", 0, -(-greatest(size) // step))
    counters.names = {**counters.names, name: tiles}
    return OpenSize.named(name)
