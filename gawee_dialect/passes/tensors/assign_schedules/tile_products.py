"""Products in registers of tiles, where a processor has them and they take fewer cycles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, gcd, prod

from xdsl.dialects.builtin import i8

from gawee_dialect.analysis.tile_product import WORDS, TileProduct, tile_product
from gawee_dialect.dialect.kernels.schedule import TILE_ROWS, Loop, Schedule
from gawee_dialect.passes.tensors.assign_schedules.cost_model import (
    LOAD_WEIGHT,
    TILE_OVERHEAD,
    Tile,
    fetching_cycles,
    finish_cycles,
    is_packed,
    kernel_cycles,
)
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses, Operand
from gawee_dialect.passes.tensors.assign_schedules.loop_order import PARALLEL_CYCLES, schedule_of
from gawee_dialect.target.description import Processor

PRODUCT = 16
"""Cycles of a product of tiles, of however few rows; two tiles are loaded meanwhile.

Emerald Rapids, all from the first cache: of 16 rows 16 cycles, of 14 rows 15, of 8 and fewer 13.
It makes no difference how many tiles of sums there are.
"""
LOADED_AGAIN = 4
"""Cycles to store a row of sums and to load it as a vector.

Emerald Rapids, 784 x 192 sums of 32 bytes: 34 us, in vectors 28; of 64 bytes: 34 us and 46.
"""
LATENCY_OF_VECTORS = 5
"""Cycles from a product of words to the next with the same sums."""
FEWEST_ROWS = 4
"""Rows of tiles, where 16 would leave a rest."""
SHAPES = ((2, 2), (2, 1), (1, 2), (3, 1), (1, 3), (4, 1), (1, 4), (1, 1))
"""Tiles of sums across and down, of which the registers hold both factors too."""


@dataclass(frozen=True)
class _Product:
    """A kernel whose products are multiplied in tiles."""

    kernel: KernelAccesses
    processor: Processor
    down: Operand
    across: Operand
    rows: Loop
    """The dimension that rows of tiles are along, and how many rows a tile has."""
    depth: Loop
    """The reduction of which a product takes neighbours, and how many."""
    vector: Loop

    @property
    def apart(self) -> int:
        """The elements from one row of a tile to the next."""
        return self.down.step(*self.rows) or 0

    def cycles(self, points: Mapping[int, int]) -> float:
        """Return about how many cycles the kernel takes in register tiles of so many points."""
        sizes, dims = self.kernel.sizes, list(points)
        others = prod(sizes[dim] for dim in range(self.kernel.num_parallel) if dim not in points)
        return others * sum(
            count * self._tile_cycles(dict(zip(dims, extents, strict=True)))
            for count, extents in _parts([(sizes[dim], points[dim]) for dim in dims])
        )

    def _tile_cycles(self, points: Mapping[int, int]) -> float:
        """Return the cycles of a register tile: of whole tiles, and of the rest in vectors."""
        lanes, height = points[self.vector.dim], self.rows.step
        if lanes % self.vector.step:
            return self._vector_cycles(points)
        rest = points[self.rows.dim] % height
        whole = points[self.rows.dim] - rest
        total = self._vector_cycles({**points, self.rows.dim: rest}) if rest else 0.0
        return total + (self._product_cycles({**points, self.rows.dim: whole}) if whole else 0)

    def _vector_cycles(self, points: Mapping[int, int]) -> float:
        kernel, vectors = self.kernel, ceil(points[self.vector.dim] / self.vector.step)
        rows = prod(n for dim, n in points.items() if dim != self.vector.dim)
        tile = Tile(self.vector.dim, self.vector.step, {**points, self.rows.dim: 1})
        step = max(vectors * rows / self.processor.multiply_adds, LATENCY_OF_VECTORS)
        steps = prod(kernel.sizes[dim] for dim in kernel.reductions)
        return TILE_OVERHEAD + steps * step + rows * finish_cycles(kernel, tile)

    def _product_cycles(self, points: Mapping[int, int]) -> float:
        kernel, deep = self.kernel, self.depth.step
        columns = points[self.vector.dim] // self.vector.step
        rows = prod(n for dim, n in points.items() if dim != self.vector.dim)
        down = rows // self.rows.step
        steps = prod(kernel.sizes[dim] for dim in kernel.reductions) // deep
        tile = Tile(self.vector.dim, self.vector.step, points)
        multiplying = down * columns * PRODUCT
        loading = (down + columns) * PRODUCT / 2
        fetching = deep * fetching_cycles(kernel, tile, self.processor)
        storing = down * columns * PRODUCT + rows * columns * LOADED_AGAIN
        step = max(multiplying, loading, fetching) + LOAD_WEIGHT * (loading + fetching)
        return steps * step + storing + finish_cycles(kernel, tile) + 4 * TILE_OVERHEAD


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
    if vector is None or vector.step != WORDS or product is None or kernel.runs_once:
        return None
    if not (processor.byte_tiles if product.element == i8 else processor.bf16_tiles):
        return None
    found: list[tuple[float, _Product, Mapping[int, int]]] = []
    for each in _products(kernel, vector, product, processor):
        found += ((each.cycles(points), each, points) for points in _points(each))
    if not found:
        return None
    # Of tiles that are equally fast, the one whose rows are near one another.
    cycles, best, points = min(found, key=lambda each: (each[0], each[1].apart))
    # Steps of pairs are half of those that the model counts.
    if cycles >= kernel_cycles(kernel, tile, processor) / (1 + kernel.in_pairs):
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
            block = gcd(kernel.sizes[dim], _run(down, dim, kernel.sizes[dim]))
            deep = max(n for n in range(1, product.most + 1) if block % n == 0)
            if deep < 2 or dim not in across.dims or deep % product.in_word:
                continue
            if down.step(dim, deep) != 1:
                continue
            for rows in _rows(kernel, down, across):
                yield _Product(kernel, processor, down, across, rows, Loop(dim, deep), vector)


def _run(operand: Operand, dim: int, size: int) -> int:
    block = operand.block_of(dim)
    return size if block == 1 else block


def _rows(kernel: KernelAccesses, down: Operand, across: Operand) -> Iterator[Loop]:
    """Yield along which dimensions rows of tiles may be, and how many rows a tile may have."""
    for dim in range(kernel.num_parallel):
        size = kernel.sizes[dim]
        if dim not in down.dims or dim in across.dims:
            continue
        for count in range(FEWEST_ROWS, TILE_ROWS + 1):
            fits = size % count == 0 or (count == TILE_ROWS and size > TILE_ROWS)
            if fits and down.step(dim, count) is not None:
                yield Loop(dim, count)


def _points(product: _Product) -> Iterator[Mapping[int, int]]:
    """Yield how many points a register tile has along its dimensions."""
    sizes, lanes, (rows, height) = product.kernel.sizes, product.vector.step, product.rows
    columns = sizes[product.vector.dim]
    for across, down in SHAPES:
        if across * lanes > columns:
            continue
        points = {product.vector.dim: across * lanes}
        if down * height <= sizes[rows]:
            yield {**points, rows: down * height}
        if down == 1 or sizes[rows] > height:
            continue
        for other in range(product.kernel.num_parallel):
            free = other not in (rows, product.vector.dim) and other in product.down.dims
            if free and sizes[other] >= down and other not in product.across.dims:
                yield {**points, rows: height, other: down}


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
        tiles=product.rows,
    )
