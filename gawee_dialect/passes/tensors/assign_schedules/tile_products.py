"""Products in registers of tiles, where a processor has them and they take fewer cycles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, gcd, prod

from gawee_dialect.analysis.tile_product import (
    WORDS,
    TileProduct,
    is_of_tiles,
    points_together,
    tile_product,
)
from gawee_dialect.dialect.kernels.schedule import TILE_ROWS, Loop, Prefetch, Schedule
from gawee_dialect.passes.tensors.assign_schedules.cost_model import (
    LOAD_WEIGHT,
    TILE_OVERHEAD,
    Tile,
    fetching_cycles,
    finish_cycles,
    is_packed,
    kernel_cycles,
)
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import (
    BYTES,
    KernelAccesses,
    Operand,
)
from gawee_dialect.passes.tensors.assign_schedules.loop_order import is_worth_a_team, schedule_of
from gawee_dialect.target.description import Processor

FEWEST_ROWS = 4
"""Rows of tiles, at least."""
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
    """The dimension that rows of tiles are along, and how many rows a tile has at most."""
    depth: Loop
    """The reduction of which a product takes neighbours, and how many."""
    vector: Loop
    other: Loop | None = None
    """The dimension of which a tile has several points, where rows are more than those of its own,
    and how many."""

    @property
    def apart(self) -> int:
        """The elements from one row of a tile to the next."""
        return self.down.step(self.rows.dim, self.points[self.rows.dim]) or 0

    @property
    def points(self) -> Mapping[int, int]:
        """How many points a tile has along its dimensions."""
        own = {self.rows.dim: min(self.rows.step, self.kernel.sizes[self.rows.dim])}
        return own if self.other is None else {**own, self.other.dim: self.other.step}

    def cycles(self, points: Mapping[int, int]) -> float:
        """Return about how many cycles the kernel takes in register tiles of so many points."""
        sizes, dims = self.kernel.sizes, list(points)
        others = prod(sizes[dim] for dim in range(self.kernel.num_parallel) if dim not in points)
        return others * sum(
            count * self._tile_cycles(dict(zip(dims, extents, strict=True)))
            for count, extents in _parts([(sizes[dim], points[dim]) for dim in dims])
        )

    def _tile_cycles(self, points: Mapping[int, int]) -> float:
        """Return the cycles of a register tile; lanes that are left are computed in vectors."""
        if points[self.vector.dim] % self.vector.step:
            return self._vector_cycles(points)
        return self._product_cycles(points)

    def _vector_cycles(self, points: Mapping[int, int]) -> float:
        kernel, vectors = self.kernel, ceil(points[self.vector.dim] / self.vector.step)
        rows = prod(n for dim, n in points.items() if dim != self.vector.dim)
        tile = Tile(self.vector.dim, self.vector.step, {**points, self.rows.dim: 1})
        step = max(vectors * rows / self.processor.multiply_adds, self.processor.word_latency)
        steps = prod(kernel.sizes[dim] for dim in kernel.reductions)
        return TILE_OVERHEAD + steps * step + rows * finish_cycles(kernel, tile, self.processor)

    def _product_cycles(self, points: Mapping[int, int]) -> float:
        kernel, deep, own, processor = self.kernel, self.depth.step, self.points, self.processor
        columns = points[self.vector.dim] // self.vector.step
        rows = prod(n for dim, n in points.items() if dim != self.vector.dim)
        down = prod(
            ceil(n / own.get(dim, 1)) for dim, n in points.items() if dim != self.vector.dim
        )
        steps = prod(kernel.sizes[dim] for dim in kernel.reductions) // deep
        tile = Tile(self.vector.dim, self.vector.step, points)
        whole, short = processor.tile_cycles, processor.short_tile_cycles
        product = short + (whole - short) * max(0.0, 2 * self.rows.step / TILE_ROWS - 1)
        multiplying = down * columns * product
        loading = (down + columns) * whole / 2
        fetching = deep * fetching_cycles(kernel, tile, processor)
        storing = down * columns * whole + rows * columns * processor.tile_row_cycles
        step = max(multiplying, loading, fetching) + LOAD_WEIGHT * (loading + fetching)
        around = self._far_cycles(points) + 4 * TILE_OVERHEAD
        return steps * step + storing + finish_cycles(kernel, tile, processor) + around

    def _far_cycles(self, points: Mapping[int, int]) -> float:
        """Return the cycles of fetching rows that are whole lines apart, where no cache holds all.

        No processor sees which of them are next.
        """
        processor, apart = self.processor, BYTES * self.apart
        first = processor.memories[0].size
        if first is None or apart <= processor.line or BYTES * self.down.elements <= first:
            return 0
        sizes = enumerate(self.kernel.sizes)
        extents = [n if dim in self.kernel.reductions else points.get(dim, 1) for dim, n in sizes]
        return BYTES * self.down.region(tuple(extents)) / processor.apart_rate


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
    if not is_of_tiles(kernel.op, processor):
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
            for rows, other in _rows(kernel, down, across):
                depth = Loop(dim, deep)
                yield _Product(kernel, processor, down, across, rows, depth, vector, other)


def _run(operand: Operand, dim: int, size: int) -> int:
    block = operand.block_of(dim)
    return size if block == 1 else block


def _rows(
    kernel: KernelAccesses, down: Operand, across: Operand
) -> Iterator[tuple[Loop, Loop | None]]:
    """Yield along which dimensions rows of tiles may be, and how many rows a tile may have.

    Beside that of which other dimension a tile has several points, and how many.
    """
    free = [d for d in range(kernel.num_parallel) if d in down.dims and d not in across.dims]
    for dim in free:
        size = kernel.sizes[dim]
        for count in range(FEWEST_ROWS, min(size, TILE_ROWS) + 1):
            fits = size % count == 0 or count == TILE_ROWS
            if fits and down.step(dim, count) is not None:
                yield Loop(dim, count), None
        apart = down.step(dim, size) if 1 < size < TILE_ROWS else None
        for other in free if apart else ():
            further = down.step(other, kernel.sizes[other]) if other != dim else None
            together = points_together(size, TILE_ROWS, apart or 0, further)
            if together > 1:
                yield Loop(dim, TILE_ROWS), Loop(other, min(together, kernel.sizes[other]))


def _points(product: _Product) -> Iterator[Mapping[int, int]]:
    """Yield how many points a register tile has along its dimensions."""
    sizes, lanes, own = product.kernel.sizes, product.vector.step, product.points
    columns, rows = sizes[product.vector.dim], product.rows.dim
    for across, down in SHAPES:
        if across * lanes > columns:
            continue
        points = {product.vector.dim: across * lanes, **own}
        along = rows if product.other is None else product.other.dim
        if (down - 1) * own[along] < sizes[along]:
            yield {**points, along: min(down * own[along], sizes[along])}
        if down == 1 or product.other is not None or sizes[rows] > own[rows]:
            continue
        for other in range(product.kernel.num_parallel):
            free = other not in (rows, product.vector.dim) and other in product.down.dims
            if free and sizes[other] >= down and other not in product.across.dims:
                yield {**points, other: down}


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
        parallel=schedule.parallel if is_worth_a_team(cycles, product.processor) else 0,
        prefetch=_prefetched(product, loops),
        tiles=product.rows,
    )


def _prefetched(product: _Product, loops: Sequence[Loop]) -> Prefetch | None:
    """Return the weights of which each step fetches a part of what the next iteration reads.

    Emerald Rapids, 512 filters of 3x3x512 on 7x7 pixels: 117 to 129 us, without 272 to 287.
    """
    kernel, across = product.kernel, product.across
    parallel = [loop for loop in loops if loop.dim < kernel.num_parallel]
    if not parallel or not across.is_parameter:
        return None
    (dim, step), *inner = parallel
    if dim not in across.dims or dim in {loop.dim for loop in inner}:
        return None
    part = BYTES * step * prod(kernel.sizes[each] for each in across.dims if each != dim)
    if step >= kernel.sizes[dim] or 2 * part > product.processor.second_cache:
        return None
    return Prefetch(kernel.inputs.index(across), dim)
