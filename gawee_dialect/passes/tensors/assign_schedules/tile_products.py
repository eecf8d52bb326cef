"""Products in registers of tiles, where a processor has them and they take fewer cycles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, prod

from xdsl.dialects.builtin import i8

from gawee_dialect.analysis.tile_product import TileProduct, tile_product
from gawee_dialect.dialect.kernels.schedule import TILE_ROWS, Loop, Schedule
from gawee_dialect.passes.tensors.assign_schedules.cost_model import (
    TILE_OVERHEAD,
    Tile,
    finish_cycles,
    is_packed,
    kernel_cycles,
)
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import (
    BYTES,
    KernelAccesses,
    Operand,
)
from gawee_dialect.passes.tensors.assign_schedules.loop_order import PARALLEL_CYCLES, schedule_of
from gawee_dialect.target.description import Processor

LANES = 16
"""Sums in a row of a tile."""
LATENCY = 52
"""Cycles from a product of tiles to the next with the same sums."""
LOADED_ROWS = 2
"""Rows of tiles that are loaded in a cycle."""
SHAPES = ((2, 2), (2, 1), (1, 2), (3, 1), (1, 3), (4, 1), (1, 4), (1, 1))
"""Tiles of sums across and down, of which the registers hold both factors too."""


@dataclass(frozen=True)
class _Product:
    """A kernel whose products are multiplied in tiles."""

    kernel: KernelAccesses
    processor: Processor
    down: Operand
    across: Operand
    rows: int
    """The dimension that rows of tiles are along."""
    depth: Loop
    """The reduction of which a product takes neighbours, and how many."""
    vector: Loop

    def cycles(self, points: Mapping[int, int]) -> float:
        """Return about how many cycles the kernel takes in register tiles of so many points."""
        sizes, dims = self.kernel.sizes, list(points)
        others = prod(sizes[dim] for dim in range(self.kernel.num_parallel) if dim not in points)
        return others * sum(
            count * self._tile_cycles(dict(zip(dims, extents, strict=True)))
            for count, extents in _parts([(sizes[dim], points[dim]) for dim in dims])
        )

    def _tile_cycles(self, points: Mapping[int, int]) -> float:
        kernel, lanes = self.kernel, self.vector.step
        columns = ceil(points[self.vector.dim] / lanes)
        others = prod(n for dim, n in points.items() if dim not in (self.vector.dim, self.rows))
        whole, rest = divmod(points[self.rows], TILE_ROWS)
        rows, count = others * points[self.rows], others * (whole + bool(rest))
        deep = min(self.depth.step, kernel.sizes[self.depth.dim])
        multiplying = max(rows * columns, LATENCY)
        loading = (rows + columns * min(deep, TILE_ROWS)) / LOADED_ROWS
        steps = prod(kernel.sizes[dim] for dim in kernel.reductions if dim != self.depth.dim)
        steps *= ceil(kernel.sizes[self.depth.dim] / deep)
        tile = Tile(self.vector.dim, lanes, points)
        stored = count * columns * TILE_ROWS + rows * columns
        return (
            steps * (max(multiplying, loading) + 0.05 * loading)
            + stored
            + finish_cycles(kernel, tile)
            + 4 * TILE_OVERHEAD
        )


def _parts(sizes: list[tuple[int, int]]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield how often there are tiles of which extents: whole ones, and rests."""
    if not sizes:
        yield 1, ()
        return
    (size, points), *others = sizes
    whole, rest = divmod(size, points)
    for count, extents in _parts(others):
        if whole:
            yield whole * count, (points, *extents)
        if rest:
            yield count, (rest, *extents)


def schedule_of_tiles(
    kernel: KernelAccesses, vectors: Schedule, tile: Tile, processor: Processor
) -> Schedule | None:
    """Return a schedule of products of tiles; None where vectors take as long, or none fit.

    `vectors` is the best schedule without them, of a register tile.
    """
    vector, product = vectors.vector, tile_product(kernel.op)
    if vector is None or vector.step != LANES or product is None or kernel.runs_once:
        return None
    if not (processor.byte_tiles if product.element == i8 else processor.bf16_tiles):
        return None
    found: list[tuple[float, _Product, Mapping[int, int]]] = []
    for each in _products(kernel, vector, product, processor):
        found += ((each.cycles(points), each, points) for points in _points(each))
    if not found:
        return None
    cycles, best, points = min(found, key=lambda each: each[0])
    if cycles >= kernel_cycles(kernel, tile, processor):
        return None
    return _schedule(best, points, cycles)


def _products(
    kernel: KernelAccesses, vector: Loop, product: TileProduct, processor: Processor
) -> Iterator[_Product]:
    """Yield the ways to see a kernel as a product of tiles: which rows, which neighbours."""
    first, second = (kernel.inputs[each] for each in product.inputs)
    for down, across in ((first, second), (second, first)):
        if vector.dim in down.dims or not is_packed(across, kernel, vector):
            continue
        for dim in kernel.reductions:
            size, block = kernel.sizes[dim], down.block_of(dim)
            deep = min(product.most, size if block == 1 else block)
            if deep < 2 or dim not in across.dims or size % product.in_word:
                continue
            if down.step(dim, deep) != 1 or deep % product.in_word:
                continue
            for rows in range(kernel.num_parallel):
                is_row = rows in down.dims and rows not in across.dims
                if is_row and down.step(rows, min(kernel.sizes[rows], TILE_ROWS)) is not None:
                    yield _Product(kernel, processor, down, across, rows, Loop(dim, deep), vector)


def _points(product: _Product) -> Iterator[Mapping[int, int]]:
    """Yield how many points a register tile has along its dimensions."""
    sizes, lanes = product.kernel.sizes, product.vector.step
    for across, down in SHAPES:
        size = sizes[product.rows]
        points = {product.vector.dim: min(across * lanes, sizes[product.vector.dim])}
        if (across - 1) * lanes >= sizes[product.vector.dim]:
            continue
        if (down - 1) * TILE_ROWS < size:
            yield {**points, product.rows: min(down * TILE_ROWS, size)}
        if down == 1 or size > TILE_ROWS:
            continue
        for other in range(product.kernel.num_parallel):
            free = other not in (product.rows, product.vector.dim) and other in product.down.dims
            if free and sizes[other] >= down and other not in product.across.dims:
                yield {**points, product.rows: size, other: down}


def _schedule(product: _Product, points: Mapping[int, int], cycles: float) -> Schedule:
    kernel, depth = product.kernel, product.depth
    tile = Tile(product.vector.dim, product.vector.step, points)
    schedule = schedule_of(kernel, tile, product.processor)
    loops = [each for each in schedule.loops if each != Loop(depth.dim)]
    if depth not in loops and depth.step < kernel.sizes[depth.dim]:
        loops.append(depth)
    return replace(
        schedule,
        loops=tuple(loops),
        parallel=schedule.parallel if cycles >= PARALLEL_CYCLES else 0,
        prefetch=None,
        tiles=Loop(product.rows, TILE_ROWS),
    )
