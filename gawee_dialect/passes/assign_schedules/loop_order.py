"""From a register tile to a schedule: which loops run around it, in which order."""

from collections.abc import Sequence
from math import ceil, prod

from gawee_dialect.dialect.schedule import Loop, Schedule
from gawee_dialect.passes.assign_schedules.cost_model import Tile, kernel_cycles, lanes_apart
from gawee_dialect.passes.assign_schedules.kernel_accesses import BYTES, KernelAccesses, Operand
from gawee_dialect.target.description import Processor

PARALLEL_CYCLES = 20_000
"""What a kernel has to take on one core for threads to be worth their start, some 0.5 us."""


def schedule_of(kernel: KernelAccesses, tile: Tile, processor: Processor) -> Schedule:
    """Return the schedule that runs a kernel in register tiles."""
    outer = _parallel_loops(kernel, tile, processor)
    reducing = _reduction_loops(kernel, tile)
    vector = None if tile.vector_dim is None else Loop(tile.vector_dim, tile.lanes)
    parallel = 0
    if kernel_cycles(kernel, tile, processor) >= PARALLEL_CYCLES:
        parallel = _parallel_count(kernel, outer, processor)
    if kernel.runs_once and vector is not None and _goes_lane_by_lane(kernel, tile):
        # As fast as lanes that are collected one after another, and far less code.
        return Schedule((*outer, Loop(vector.dim)), None, parallel)
    return Schedule((*outer, *reducing), vector, parallel)


def _goes_lane_by_lane(kernel: KernelAccesses, tile: Tile) -> bool:
    """Whether a kernel that reduces nothing has an operand that vectors don't fit."""
    if kernel.accumulate_ops or tile.vector_dim is None:
        return False
    operands = (*kernel.inputs, kernel.output)
    return any(lanes_apart(operand, tile) for operand in operands)


def _parallel_loops(kernel: KernelAccesses, tile: Tile, processor: Processor) -> list[Loop]:
    """Order the loops over parallel dimensions.

    What is read again in every iteration of an outer loop should be the smaller operand: the
    streamed one is walked once, by the outermost loops.
    """
    sizes = kernel.sizes
    loops = [
        Loop(dim, tile.points.get(dim, 1))
        for dim in range(kernel.num_parallel)
        if tile.points.get(dim, 1) < sizes[dim]
    ]
    streamed = _streamed(kernel, processor)
    if streamed is None:
        return loops
    # The streamed operand's dimensions first; the tile moves along a row innermost.
    rows = [dim for dim in tile.points if dim != tile.vector_dim]
    return sorted(loops, key=lambda loop: (loop.dim in rows, loop.dim not in streamed.dims))


def _streamed(kernel: KernelAccesses, processor: Processor) -> Operand | None:
    """Return the operand of a reduction that is walked once, while the others are read again.

    That is the largest, or the weights where even the smallest exceeds half of the second cache.
    """
    inputs = [operand for operand in kernel.inputs if operand.in_accumulate]
    if len(inputs) < 2:
        return None
    largest = max(inputs, key=lambda operand: operand.elements)
    smallest = min(inputs, key=lambda operand: operand.elements)
    if smallest.elements * BYTES <= processor.second_cache // 2 or not processor.second_cache:
        # The smaller one stays in the cache whatever the order.
        return largest
    return max(inputs, key=lambda operand: operand.is_parameter)


def _reduction_loops(kernel: KernelAccesses, tile: Tile) -> list[Loop]:
    """Order the loops over reductions: blocks outermost, inside a block innermost."""
    blocks: list[Loop] = []
    middle: list[Loop] = []
    inside: list[Loop] = []
    inputs = [operand for operand in kernel.inputs if operand.in_accumulate]
    for dim in kernel.reductions:
        size = kernel.sizes[dim]
        if size == 1:
            continue
        if dim == tile.vector_dim:
            step = tile.lanes * tile.chains
            inside += [Loop(dim, step)] if size > step else []
            continue
        block = max((operand.block_of(dim) for operand in inputs), default=1)
        if 1 < block < size:
            blocks.append(Loop(dim, block))
        (inside if block > 1 else middle).append(Loop(dim))
    return [*blocks, *middle, *inside]


def _parallel_count(kernel: KernelAccesses, loops: Sequence[Loop], processor: Processor) -> int:
    """Return how many of the outermost loops are shared among threads: enough, but not all."""
    counts = [ceil(kernel.sizes[loop.dim] / loop.step) for loop in loops]
    enough = 8 * processor.cores
    for number in range(1, len(loops) + 1):
        if prod(counts[:number]) >= enough:
            return number
    return len(loops)
