"""How many cycles a register tile takes: an explicit model, and the search for the best tile.

One step of a reduction takes as long as the slowest of three things:

1. multiply-adds: one a cycle and unit for each vector of the tile;
2. loads: a vector or a broadcast scalar for each operand and each of the tile's points that it
   distinguishes, two a cycle; an operand that is not contiguous costs two cycles a lane;
3. latency: each accumulator can take part in a multiply-add every fourth cycle only.

A tile that leaves no register for operands spills, which the model counts as four times the work.
Sizes that don't divide are counted as they will be run: as a smaller tile at the end.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, log2, prod

from gawee_dialect.analysis.combiners import combiner_of
from gawee_dialect.dialect.schedule import Loop
from gawee_dialect.passes.assign_schedules.kernel_accesses import KernelAccesses, Operand
from gawee_dialect.target.description import Processor

LATENCY = 4
"""Cycles from one multiply-add of an accumulator to its next."""
LOADS_PER_CYCLE = 2
LANE_BY_LANE = 2
SPILL = 4
OFTEN = 16
"""How often an element has to be read for a copy of its operand to pay."""
LOAD_WEIGHT = 0.01
TILE_OVERHEAD = 10
"""Cycles to get into a tile and out of it."""
SCRATCH_REGISTERS = 2
UNROLLED = 24
"""Instructions of a tile that only copies or computes each element by itself."""
POINTS = (*range(2, 17), 20, 24, 28)
"""Points of a tile to try along a dimension that the vector is not along."""
MOST_VECTORS = 8
CHAINS = (2, 4, 8)
"""Vectors of one row that are accumulated side by side."""
LONG_ROW = 512
"""Elements of a row from which rows side by side are too many streams for the prefetcher."""


@dataclass(frozen=True)
class Tile:
    """A register tile: the vector's dimension and lanes, and how many points along dimensions."""

    vector_dim: int | None
    lanes: int
    points: Mapping[int, int]
    """Points of the tile along each parallel dimension; dimensions left out have one."""

    chains: int = 1
    """Vectors with an accumulator of their own where they are along a reduction."""

    @property
    def vector(self) -> Loop | None:
        """The vector as a schedule says it."""
        return None if self.vector_dim is None else Loop(self.vector_dim, self.lanes)

    def vectors(self, dim: int) -> int:
        """Return how many vectors, or scalars, the tile has along a dimension."""
        count = self.points.get(dim, 1)
        return ceil(count / self.lanes) if dim == self.vector_dim else count


def is_packed(operand: Operand, kernel: KernelAccesses, vector: Loop | None) -> bool:
    """Whether an operand is copied into the order in which a schedule reads it.

    Weights are, since that is done once; others where their lanes are apart and read often.
    """
    sizes = kernel.sizes
    if not (operand.in_accumulate and len(operand.dims) > 1 and operand.visits_each_once(sizes)):
        return False
    if operand.is_parameter:
        return True
    if vector is None or vector.dim not in operand.dims or vector.dim in kernel.reductions:
        return False
    apart = operand.step(vector.dim, min(vector.step, sizes[vector.dim])) not in (0, 1)
    return apart and prod(sizes) >= OFTEN * prod(sizes[dim] for dim in operand.dims)


def packing_cycles(kernel: KernelAccesses, tile: Tile) -> float:
    """Return the cycles of copying operands that are no weights."""
    return sum(
        LANE_BY_LANE * operand.elements
        for operand in kernel.inputs
        if not operand.is_parameter and is_packed(operand, kernel, tile.vector)
    )


def load_cycles(operand: Operand, kernel: KernelAccesses, tile: Tile) -> float:
    """Return the cycles that loading an operand for one step of a tile takes."""
    count = prod(tile.vectors(dim) for dim in tile.points if dim in operand.dims)
    if is_packed(operand, kernel, tile.vector) or not lanes_apart(operand, tile):
        return count / LOADS_PER_CYCLE
    if is_turned(operand, kernel, tile):
        return count * (1 / LOADS_PER_CYCLE + log2(tile.lanes))
    return count * LANE_BY_LANE * tile.lanes


def lanes_apart(operand: Operand, tile: Tile) -> bool:
    """Whether a vector of an operand is made of elements that don't lie side by side."""
    if tile.vector_dim is None or tile.lanes == 1 or tile.vector_dim not in operand.dims:
        return False
    return operand.step(tile.vector_dim, tile.lanes) not in (0, 1)


def is_turned(operand: Operand, kernel: KernelAccesses, tile: Tile) -> bool:
    """Whether squares of an input whose lanes are apart are turned in registers."""
    if kernel.accumulate_ops or operand is kernel.output or not lanes_apart(operand, tile):
        return False
    return any(
        points == tile.lanes and operand.step(dim, tile.lanes) == 1
        for dim, points in tile.points.items()
        if dim != tile.vector_dim
    )


def step_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return the cycles of one step of the reduction for all points of a tile."""
    accumulators = prod(tile.vectors(dim) for dim in tile.points) * tile.chains
    computing = accumulators * kernel.accumulate_ops / processor.multiply_adds_of(tile.lanes)
    inputs = [operand for operand in kernel.inputs if operand.in_accumulate]
    loading = tile.chains * sum(load_cycles(operand, kernel, tile) for operand in inputs)
    # Of tiles that are equally fast, the one that loads less is more likely to be so.
    cycles = max(computing, loading, LATENCY) + LOAD_WEIGHT * loading
    held = max((_held(operand, tile) for operand in inputs), default=0)
    if accumulators + held + SCRATCH_REGISTERS > processor.vector_registers:
        cycles *= SPILL
    return cycles


def _held(operand: Operand, tile: Tile) -> int:
    """Return how many vectors of an operand are in registers during a step."""
    if tile.vector_dim not in operand.dims:
        return 0
    return prod(tile.vectors(dim) for dim in tile.points if dim in operand.dims)


def finish_cycles(kernel: KernelAccesses, tile: Tile) -> float:
    """Return the cycles to finish and store all points of a tile."""
    points = prod(tile.vectors(dim) for dim in tile.points)
    inputs = [operand for operand in kernel.inputs if operand.in_finish]
    loading = sum(load_cycles(operand, kernel, tile) for operand in inputs)
    storing = load_cycles(kernel.output, kernel, tile) * LOADS_PER_CYCLE
    combining = points * (tile.chains - 1) * kernel.accumulate_ops
    return max(points * kernel.finish_ops, loading) + storing + combining


def kernel_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return the cycles of a whole kernel on one core, its data being in the nearest cache."""
    sizes = kernel.sizes
    steps = prod(sizes[dim] for dim in kernel.reductions)
    reduced_lanes = tile.vector_dim in kernel.reductions
    if reduced_lanes and tile.vector_dim is not None:
        vectors = ceil(sizes[tile.vector_dim] / tile.lanes)
        steps = steps // sizes[tile.vector_dim] * ceil(vectors / tile.chains)
    dims = list(tile.points)
    others = prod(sizes[dim] for dim in range(kernel.num_parallel) if dim not in tile.points)
    total = 0.0
    copying = packing_cycles(kernel, tile)
    for parts in product(*(_parts(sizes[dim], tile.points[dim]) for dim in dims)):
        rest = Tile(
            tile.vector_dim,
            tile.lanes,
            {dim: points for dim, (_, points) in zip(dims, parts, strict=True)},
            tile.chains,
        )
        cycles = TILE_OVERHEAD + finish_cycles(kernel, rest)
        if kernel.accumulate_ops:
            cycles += steps * step_cycles(kernel, rest, processor)
            cycles += TILE_OVERHEAD * reduced_lanes
        total += cycles * prod(count for count, _ in parts)
    return total * others + copying


def _parts(size: int, points: int) -> list[tuple[int, int]]:
    """Return (how often, how many points) of the whole tiles and of the last one."""
    whole, rest = divmod(size, points)
    return [part for part in ((whole, points), (1, rest)) if part[0] and part[1]]


def lane_counts(processor: Processor) -> Iterator[int]:
    """Yield numbers of lanes from a whole register down to a quarter of one."""
    lanes = processor.lanes
    while lanes >= max(2, processor.lanes // 4):
        yield lanes
        lanes //= 2


def candidates(kernel: KernelAccesses, processor: Processor) -> Iterator[Tile]:
    """Yield the tiles to choose from: along the vector and one other dimension.

    What runs once gets one vector at a time: larger tiles take longer to compile than they save.
    """
    sizes, parallel = kernel.sizes, range(kernel.num_parallel)
    yield Tile(None, 1, {})
    for dim in range(len(sizes)):
        lanes = next((n for n in lane_counts(processor) if _fits(kernel, dim, n)), None)
        if lanes is None:
            continue
        several = dim in parallel and not kernel.runs_once
        if dim not in parallel:
            yield from chained(kernel, Tile(dim, lanes, {}))
        for vectors in range(1, MOST_VECTORS + 1 if several else 2):
            if vectors > 1 and lanes * (vectors - 1) >= sizes[dim]:
                break
            along = {dim: min(lanes * vectors, sizes[dim])} if dim in parallel else {}
            tile = Tile(dim, lanes, along)
            if vectors > 1 and not kernel.accumulate_ops and _instructions(kernel, tile) > UNROLLED:
                break
            yield tile
            if vectors == 1 and several and not kernel.accumulate_ops:
                yield from squares(kernel, tile)
            yield from _rows_of(kernel, tile, processor.vector_registers // vectors)


def _rows_of(kernel: KernelAccesses, tile: Tile, most: int) -> Iterator[Tile]:
    """Yield a tile of one row with up to `most` of them, along each other dimension."""
    sizes, dim = kernel.op.sizes, tile.vector_dim
    if not kernel.accumulate_ops or kernel.runs_once or dim is None:
        return  # where nothing is used twice, a wider tile only makes longer code
    for other, points in product(range(kernel.op.num_parallel), POINTS):
        if other == dim or points > min(most, sizes[other]) or _are_streams(kernel, dim, other):
            continue
        yield replace(tile, points={**tile.points, other: points})


def chained(kernel: KernelAccesses, tile: Tile) -> Iterator[Tile]:
    """Yield tiles that reduce several vectors at a time."""
    if tile.vector_dim is None or kernel.runs_once:
        return
    for chains in CHAINS:
        if tile.lanes * chains <= kernel.op.sizes[tile.vector_dim]:
            yield replace(tile, chains=chains)


def _are_streams(kernel: KernelAccesses, dim: int, other: int) -> bool:
    """Whether points along a dimension are long rows to reduce, which share no operand."""
    if dim < kernel.op.num_parallel or kernel.op.sizes[dim] < LONG_ROW:
        return False
    return all(other in each.dims for each in kernel.inputs if each.in_accumulate)


def squares(kernel: KernelAccesses, tile: Tile) -> Iterator[Tile]:
    """Yield tiles of as many points along another dimension as a vector has lanes.

    That is one along which an input is side by side that is not along the vector's.
    """
    dim, lanes, sizes = tile.vector_dim, tile.lanes, kernel.sizes
    if dim is None or sizes[dim] < lanes:
        return
    for other in range(kernel.num_parallel):
        if other == dim or sizes[other] < lanes:
            continue
        square = Tile(dim, lanes, {dim: lanes, other: lanes})
        if any(is_turned(operand, kernel, square) for operand in kernel.inputs):
            yield square


def _instructions(kernel: KernelAccesses, tile: Tile) -> float:
    """Return about how many instructions a tile without reductions is unrolled to."""
    operands = (*kernel.inputs, kernel.output)
    return LOADS_PER_CYCLE * sum(load_cycles(operand, kernel, tile) for operand in operands)


def _fits(kernel: KernelAccesses, dim: int, lanes: int) -> bool:
    """Whether lanes along a dimension are side by side where it matters."""
    size = kernel.sizes[dim]
    if size * 2 <= lanes:
        return False
    together = min(lanes, size)
    if dim < kernel.num_parallel:
        return kernel.output.step(dim, together) == 1
    inputs = [each for each in kernel.inputs if each.in_accumulate and dim in each.dims]
    contiguous = all(each.step(dim, together) == 1 for each in inputs)
    return contiguous and combiner_of(kernel.op) is not None


def best_tile(kernel: KernelAccesses, processor: Processor) -> Tile:
    """Return the tile that takes the fewest cycles; of equals the one along the last dimension."""

    def rank(tile: Tile) -> tuple[float, int]:
        return kernel_cycles(kernel, tile, processor), -max(tile.points, default=0)

    return min(candidates(kernel, processor), key=rank)
