"""From a register tile to a schedule: which loops run around it, in which order."""

from collections.abc import Sequence
from math import ceil, prod

from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule
from gawee_dialect.passes.tensors.assign_schedules.copied_inputs import is_copied
from gawee_dialect.passes.tensors.assign_schedules.cost_model import (
    Tile,
    computing_cycles,
    is_packed,
    kernel_cycles,
    lanes_apart,
    loading_cycles,
)
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import (
    BYTES,
    KernelAccesses,
    Operand,
)
from gawee_dialect.target.description import Processor

MOST_REPEATED = 40
"""How often a line may be fetched again, since every step fetches one.

Zen 5, depthwise 3x3 convolutions: 112x112 pixels, 900 times a line, take 25 % longer with
prefetches, 56x56 5 to 17 %; 14x14, 14 times a line, take 2 % longer to 12 % less. Zen 3, 1x1 layers
of MobileNetV2 with 14x14 pixels in tiles of six, 33 times a line: 3 to 5 % less.
"""
REPEATED_FOR_ROWS = 32
"""The same where rows of an input are fetched otherwise.

Zen 3, ResNet-50: 1024 channels of 14x14, 33 times a line, take 24 to 33 % longer with weights.
"""
TWO_PARTS = 1.25
"""How much of the second cache two parts may take, the first of which is partly behind.

Zen 3, ResNet-50: parts of 288 KB, with 512 KB to hold them, take 11 % less with prefetches.
"""
STRIDE = 2
"""How many places apart those of a tile may be for what lies between them to be fetched too."""
WORTH_A_TEAM = 10
"""How many times as long as a team's start a kernel has to take on one core to be shared."""


def schedule_of(kernel: KernelAccesses, tile: Tile, processor: Processor) -> Schedule:
    """Return the schedule that runs a kernel in register tiles."""
    outer = _parallel_loops(kernel, tile, processor)
    reducing = _reduction_loops(kernel, tile)
    vector = None if tile.vector_dim is None else Loop(tile.vector_dim, tile.lanes)
    parallel = 0
    if is_worth_a_team(kernel_cycles(kernel, tile, processor), processor):
        parallel = _parallel_count(kernel, outer, processor)
    if kernel.runs_once and vector is not None and _goes_lane_by_lane(kernel, tile):
        # As fast as lanes that are collected one after another, and far less code.
        return Schedule((*outer, Loop(vector.dim)), None, parallel)
    prefetch = _prefetched(kernel, tile, outer, processor)
    return Schedule((*outer, *reducing), vector, parallel, prefetch)


def is_worth_a_team(cycles: float, processor: Processor) -> bool:
    """Whether threads share a kernel that takes so long on one core."""
    return cycles >= WORTH_A_TEAM * processor.team_cycles


def _prefetched(
    kernel: KernelAccesses, tile: Tile, loops: Sequence[Loop], processor: Processor
) -> Prefetch | None:
    """Return what is fetched while what is read before it is multiplied, if anything.

    That are weights of which each iteration of the outermost loop reads a part of its own. Two such
    parts have to fit in the second cache, nearly, and to compute with one has to take as long as to
    fetch the next from main memory: weights of a network are more than caches hold until they are
    read again. A prefetch takes the place of a load, so there has to be one free in each step.
    """
    free = computing_cycles(kernel, tile, processor) - loading_cycles(kernel, tile, processor)
    if not loops or tile.vector_dim is None or free < 1 / processor.loads:
        return None
    (dim, step), *inner = loops
    sizes = kernel.sizes
    parts, rest = ceil(sizes[dim] / step), [loop.dim for loop in inner]
    rows = _prefetched_rows(kernel, tile, loops, processor)
    found: dict[int, int] = {}
    for index, operand in enumerate(kernel.inputs):
        weights = operand.is_parameter and is_packed(operand, kernel, tile.vector)
        if not weights or parts <= 1 or 0 in sizes or dim not in operand.dims or dim in rest:
            continue
        part = BYTES * step * prod(sizes[each] for each in operand.dims if each != dim)
        points = prod(sizes[each] for each in range(kernel.num_parallel) if each != dim)
        repeated = _steps(kernel, tile, dim) / ceil(part / processor.line)
        most = MOST_REPEATED if rows is None else REPEATED_FOR_ROWS
        if 2 * part > TWO_PARTS * processor.second_cache or repeated > most:
            continue
        if is_hidden(points, tile.lanes, processor):
            found[index] = part
    if found:
        return Prefetch(max(found, key=found.__getitem__), dim)
    return rows


def _prefetched_rows(
    kernel: KernelAccesses, tile: Tile, loops: Sequence[Loop], processor: Processor
) -> Prefetch | None:
    """Return the input in blocks of channels of which the next tile's rows are fetched, if any.

    A tile reads as many short runs of it as there are blocks, too far apart and too many for a
    processor to see what is next. Where all inputs are in the second cache, they are near enough.
    A copy in the order of the loops is one run.

    Zen 4, code with AVX2, products of ResNet-50 that sum 256 to 2048 channels: of one picture at 71
    to 90 % of the multiply-adds' limit, of four at 45 to 65 %; with prefetches at 89 to 95 %.
    """
    read, dim = sum(each.elements for each in kernel.inputs if each.in_accumulate), loops[-1].dim
    if dim not in tile.points or dim == tile.vector_dim or BYTES * read <= processor.second_cache:
        return None
    for index, operand in enumerate(kernel.inputs):
        if not operand.in_accumulate or operand.is_parameter or dim not in operand.dims:
            continue
        if is_copied(operand, kernel, loops, processor):
            continue
        block = max(map(operand.block_of, kernel.reductions), default=1)
        apart = operand.step(dim, tile.points[dim])
        if block > 1 and apart is not None and 0 < apart <= STRIDE * block:
            return Prefetch(index, dim)
    return None


def _steps(kernel: KernelAccesses, tile: Tile, dim: int) -> int:
    """Return how many steps of reductions there are in one iteration of the loop over `dim`."""
    others = (each for each in range(kernel.num_parallel) if each != dim)
    tiles = prod(ceil(kernel.sizes[each] / tile.points.get(each, 1)) for each in others)
    return tiles * prod(kernel.sizes[each] for each in kernel.reductions)


def is_hidden(points: int, lanes: int, processor: Processor) -> bool:
    """Whether weights that are multiplied with so many points meanwhile come from main memory."""
    computing = points / (lanes * processor.multiply_adds_of(lanes))
    return computing >= BYTES / processor.bytes_a_cycle(processor.main_memory)


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
    rows = {dim for dim in tile.points if dim != tile.vector_dim}
    if tile.vector_dim is not None and rows and not _stay_on_the_way(kernel, tile, rows):
        return loops  # as memory lies: in lines that are far apart, each is waited for
    # The streamed operand's dimensions first; the tile moves along a row innermost.
    return sorted(loops, key=lambda loop: (loop.dim in rows, loop.dim not in streamed.dims))


def _stay_on_the_way(kernel: KernelAccesses, tile: Tile, rows: set[int]) -> bool:
    """Whether vectors of an operand are read again where a tile moves along its rows."""
    inputs = [operand for operand in kernel.inputs if operand.in_accumulate]
    return any(tile.vector_dim in each.dims and not each.dims & rows for each in inputs)


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
