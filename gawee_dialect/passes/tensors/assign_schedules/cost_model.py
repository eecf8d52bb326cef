"""How many cycles a register tile takes: an explicit model.

One step of a reduction takes as long as the slowest of three things:

1. multiply-adds: one a cycle and unit for each vector of the tile;
2. loads: a vector or a broadcast scalar for each operand and each of the tile's points that it
   distinguishes; an operand that is not contiguous costs some cycles a lane;
3. latency: how soon an accumulator can take part in its next multiply-add.

What is read from the second cache adds a part of the time that it takes. What instructions cost is
the processor's (`target/costs.py`).

A tile that leaves no register for operands spills, which the model counts as four times the work.
Sizes that don't divide are counted as they will be run: as a smaller tile at the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import ceil, inf, log2, prod

from gawee_dialect.dialect.kernels.schedule import Loop
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import (
    BYTES,
    KernelAccesses,
    Operand,
)
from gawee_dialect.target.description import Processor

LATE = 0.4
"""Cycles by which an accumulator is late where nothing else is waited for.

Zen 5: tiles of eight accumulators, two of which start in a cycle, reach 91 % of what twelve do.
"""
HIDES = 2
"""Cycles of other work in a step, beyond a multiply-add's latency, that hide all of this.

Zen 5, code with AVX2, products of 128 rows: tiles of ten accumulators, with one cycle of such work,
take 3 to 5 % longer than those of twelve, with two.
"""
SPILL = 4
"""How many times longer the steps of a tile take that leaves no register for operands."""
OFTEN = 16
"""How often an element has to be read for a copy of its operand, some four readings, to pay."""
LOAD_WEIGHT = 0.01
"""What a cycle of loads adds where others hide it."""
FAR_WEIGHT = 0.05
"""The part of the time to fetch from the second cache that computing does not hide.

Zen 5, products of 120 x 256 x 192: register tiles of 4 vectors by 6 and by 4 rows, whose 64 KB of
weights exceed the first cache, take 1.5 and 2.5 % longer than those of 2 by 8, whose 32 KB do not.
"""
TILE_OVERHEAD = 10
"""Cycles to get into a tile and out of it."""


@dataclass(frozen=True)
class Tile:
    """A register tile: the vector's dimension and lanes, and how many points along dimensions."""

    vector_dim: int | None
    lanes: int
    points: Mapping[int, int]
    """Points of the tile along each parallel dimension; dimensions left out have one."""

    chains: int = 1
    """Vectors with an accumulator of their own where they are along a reduction."""

    @cached_property
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
    known = operand.packed.get(vector)
    if known is None:
        known = operand.packed[vector] = _is_packed(operand, kernel, vector)
    return known


def _is_packed(operand: Operand, kernel: KernelAccesses, vector: Loop | None) -> bool:
    sizes = kernel.sizes
    if not (operand.in_accumulate and len(operand.dims) > 1 and operand.visits_each_once(sizes)):
        return False
    if operand.is_parameter:
        return True
    if vector is None or vector.dim not in operand.dims or vector.dim in kernel.reductions:
        return False
    lanes = min(vector.step, sizes[vector.dim])
    apart = operand.step(vector.dim, lanes) not in (0, 1)
    apart = apart and not operand.is_in_halves(vector.dim, vector.step)
    return apart and prod(sizes) >= OFTEN * prod(sizes[dim] for dim in operand.dims)


def packing_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return the cycles of copying operands that are no weights."""
    return sum(
        processor.lane_cycles * operand.elements
        for operand in kernel.inputs
        if not operand.is_parameter and is_packed(operand, kernel, tile.vector)
    )


def load_cycles(
    operand: Operand, kernel: KernelAccesses, tile: Tile, processor: Processor
) -> float:
    """Return the cycles that loading an operand for one step of a tile takes."""
    count = prod(tile.vectors(dim) for dim in tile.points if dim in operand.dims)
    if is_packed(operand, kernel, tile.vector) or not lanes_apart(operand, tile):
        return count * (1 + processor.convert * operand.is_widened) / processor.loads
    if tile.vector_dim is not None and operand.is_in_halves(tile.vector_dim, tile.lanes):
        return count * (2 + processor.shuffle) / processor.loads
    if is_turned(operand, kernel, tile):
        return count * (1 / processor.loads + log2(tile.lanes))
    return count * processor.lane_cycles * tile.lanes


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


def step_cycles(
    kernel: KernelAccesses, tile: Tile, processor: Processor, most: float = inf
) -> float:
    """Return the cycles of one step of the reduction for all points of a tile.

    Where they are more than `most`, it is any number above that.
    """
    accumulators = _accumulators(tile)
    computing = computing_cycles(kernel, tile, processor)
    loading = loading_cycles(kernel, tile, processor)
    latency = processor.multiply_add_latency
    # Of tiles that are equally fast, the one that loads less is more likely to be so.
    busy = max(computing, loading, latency)
    late = LATE * max(0, 1 - (busy - latency) / HIDES)
    cycles = busy + late + LOAD_WEIGHT * loading
    inputs = (operand for operand in kernel.inputs if operand.in_accumulate)
    held = max((_held(operand, tile) for operand in inputs), default=0)
    spills = accumulators + held + processor.scratch_registers > processor.vector_registers
    longer = SPILL if spills else 1
    if cycles * longer <= most:  # what is fetched takes longest to find out
        cycles += FAR_WEIGHT * fetching_cycles(kernel, tile, processor)
    return cycles * longer


def computing_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return the cycles of the multiply-adds of one step."""
    return _accumulators(tile) * kernel.accumulate_ops / processor.multiply_adds_of(tile.lanes)


def loading_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return the cycles of the loads of one step."""
    inputs = (operand for operand in kernel.inputs if operand.in_accumulate)
    return tile.chains * sum(load_cycles(each, kernel, tile, processor) for each in inputs)


def fetching_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return the cycles of fetching what one step reads from the second cache.

    The operand that a tile reads most of is there for the next tile, if the first cache holds it
    beside what both tiles read of the others.
    """
    first, second, *_ = (*processor.memories[:2], processor.main_memory)
    if first.size is None:
        return 0
    steps = prod(kernel.sizes[dim] for dim in kernel.reductions)
    read = [
        _tile_bytes(each, kernel, tile, processor) for each in kernel.inputs if each.in_accumulate
    ]
    if not steps or 2 * sum(read) - max(read, default=0) <= first.size:
        return 0
    return sum(read) / steps / processor.bytes_a_cycle(second)


def _tile_bytes(operand: Operand, kernel: KernelAccesses, tile: Tile, processor: Processor) -> int:
    """Return what a tile reads of an operand in all steps.

    Each step fetches lines of rows that lie whole ways apart, if they take all of their places.
    """
    extents = tuple(
        size if dim in kernel.reductions else tile.points.get(dim, 1) if dim in operand.dims else 1
        for dim, size in enumerate(kernel.sizes)
    )
    if is_packed(operand, kernel, tile.vector):
        return BYTES * prod(extents[dim] for dim in operand.dims)
    size, way = BYTES * operand.region(extents), processor.way
    cache = processor.memories[0].size or 0
    for dim, points in tile.points.items():
        apart = BYTES * (operand.step(dim, points) or 0) if dim in operand.dims else 0
        if apart and apart % way == 0 and points * way >= cache:
            return size * processor.line // BYTES
    return size


def _accumulators(tile: Tile) -> int:
    return prod(tile.vectors(dim) for dim in tile.points) * tile.chains


def _held(operand: Operand, tile: Tile) -> int:
    """Return how many vectors of an operand are in registers during a step."""
    if tile.vector_dim not in operand.dims:
        return 0
    return prod(tile.vectors(dim) for dim in tile.points if dim in operand.dims)


def finish_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return the cycles to finish and store all points of a tile."""
    points = prod(tile.vectors(dim) for dim in tile.points)
    inputs = [operand for operand in kernel.inputs if operand.in_finish]
    loading = sum(load_cycles(operand, kernel, tile, processor) for operand in inputs)
    storing = load_cycles(kernel.output, kernel, tile, processor) * processor.loads
    combining = points * (tile.chains - 1) * kernel.accumulate_ops
    return max(points * kernel.finish_ops, loading) + storing + combining


def kernel_cycles(
    kernel: KernelAccesses, tile: Tile, processor: Processor, most: float = inf
) -> float:
    """Return the cycles of a whole kernel on one core, its data being in the nearest cache.

    Where they are more than `most`, it is any number above that.
    """
    sizes = kernel.sizes
    steps = prod(sizes[dim] for dim in kernel.reductions)
    reduced_lanes = tile.vector_dim in kernel.reductions
    if reduced_lanes and tile.vector_dim is not None:
        vectors = ceil(sizes[tile.vector_dim] / tile.lanes)
        steps = steps // sizes[tile.vector_dim] * ceil(vectors / tile.chains)
    dims = list(tile.points)
    others = prod(sizes[dim] for dim in range(kernel.num_parallel) if dim not in tile.points)
    total = 0.0
    copying = packing_cycles(kernel, tile, processor)
    for parts in product(*(_parts(sizes[dim], tile, dim) for dim in dims)):
        rest = Tile(
            tile.vector_dim,
            tile.lanes,
            {dim: points for dim, (_, points) in zip(dims, parts, strict=True)},
            tile.chains,
        )
        count, reducing = prod(count for count, _ in parts), 0.0
        if kernel.accumulate_ops:
            left = (most / others - total) / (steps * count) if others and steps else inf
            step = step_cycles(kernel, rest, processor, left)
            if step > left:
                return inf
            reducing = steps * step
        cycles = TILE_OVERHEAD + finish_cycles(kernel, rest, processor)
        if kernel.accumulate_ops:
            cycles += reducing
            cycles += TILE_OVERHEAD * reduced_lanes
        total += cycles * count
        if total * others > most:
            return total * others
    computing, reading = total * others, _reading_cycles(kernel, tile, processor)
    # Of tiles that wait for memory alike, the one that computes less is more likely to wait less.
    return max(computing, reading) + LOAD_WEIGHT * computing + copying


def _reading_cycles(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return how long it takes to read what is reduced, where each element is read once.

    Rows that don't end where a cache line does are read in as many pieces as tiles cut them into,
    and every piece ends in lines that the next one fetches again.
    """
    inputs = [operand for operand in kernel.inputs if operand.in_accumulate]
    dim, sizes = tile.vector_dim, kernel.sizes
    if dim is None or dim in kernel.reductions or len(inputs) != 1:
        return 0
    (operand,) = inputs
    if len(operand.dims) < len(sizes) or operand.step(dim, tile.lanes) != 1:
        return 0
    row, line = sizes[dim] * BYTES, processor.line
    if row % line:
        row = sum(count * (part * BYTES + line) for count, part in _parts(sizes[dim], tile, dim))
    home = processor.memory_for(operand.elements * BYTES)
    return row * prod(sizes) / sizes[dim] / processor.bytes_a_cycle(home)


def _parts(size: int, tile: Tile, dim: int) -> list[tuple[int, int]]:
    """Return (how often, how many points) of the whole tiles and of the last one.

    Lanes that fill a part of a vector are a tile of their own.
    """
    points = tile.points[dim]
    lanes = tile.lanes if dim == tile.vector_dim else 1
    whole, rest = divmod(size, points)
    parts = [
        (count, part)
        for count, extent in ((whole, points), (1, rest))
        for part in (extent // lanes * lanes, extent % lanes)
    ]
    return [part for part in parts if all(part)]
