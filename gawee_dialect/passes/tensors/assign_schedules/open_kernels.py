"""Schedules of kernels whose sizes are open: what the model says of some numbers of a range.

Register tile, lanes and packed weights are constants, whatever the names are. A loop over an open
dimension advances by a few rows, or by whole vectors; `lower-kernels-to-loops` builds what is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isqrt, log

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block

from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of, shape_of
from gawee_dialect.dialect.kernels.schedule import Loop, Schedule
from gawee_dialect.dialect.open_size import UNBOUNDED, OpenSize, SizeName, sizes_at
from gawee_dialect.passes.tensors.assign_schedules.cost_model import Tile, kernel_cycles
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses
from gawee_dialect.passes.tensors.assign_schedules.loop_order import schedule_of
from gawee_dialect.passes.tensors.assign_schedules.tiles import candidates
from gawee_dialect.target.description import Processor

ROWS = (1, 4, 6, 8)
"""Points of a tile along an open dimension: there is a tile of each smaller number too."""
OPEN_VECTORS = 2
"""Vectors of a tile along an open dimension, at most."""
WORTH_A_TAIL = 1.1
"""How many times longer a tile along a constant dimension has to take for an open one."""
COMMON = 512
"""The greatest value, to the model, of a name whose range has no end."""


def typical_numbers(names: Sequence[SizeName]) -> Sequence[Mapping[str, int]]:
    """Return numbers that schedules are chosen for: of each name the geometric mean of its range,
    a multiple of its step, and the greatest value."""
    mean = {name.name: _mean(name) for name in names}
    return mean, {name.name: max(mean[name.name], min(_high(name), name.last)) for name in names}


def _high(name: SizeName) -> int:
    return max(name.low, COMMON) if name.high >= UNBOUNDED else name.high


def _mean(name: SizeName) -> int:
    mean = isqrt(max(name.low, 1) * _high(name))
    return max(mean // name.step, 1) * name.step


def with_numbers(op: KernelOp, values: Mapping[str, int]) -> KernelOp | None:
    """Return a kernel of static operands, in no block, where names have values.

    None where the type of an operand does not have the forms of its sizes.
    """
    shapes = [sizes_at(shape_of(each), values) for each in (*op.inputs, op.target)]
    if any(DYNAMIC_INDEX in shape for shape in shapes):
        return None
    types = [
        TensorType(element_of(value), shape)
        for value, shape in zip((*op.inputs, op.target), shapes, strict=True)
    ]
    *inputs, output = types
    arguments: Sequence[Attribute] = inputs
    return KernelOp(
        Block(arg_types=arguments).args,
        output,
        bounds=sizes_at(op.sizes, values),
        maps=op.maps,
        reductions=op.reductions.value.data,
        initial=op.initial,
        outside=op.outside,
        accumulate=op.accumulate.clone(),
        finish=op.finish.clone(),
    )


def open_schedule(
    op: KernelOp, kernels: Sequence[KernelAccesses], processor: Processor
) -> Schedule:
    """Return the schedule of a kernel of open sizes; `kernels` are the same with numbers.

    The order of its loops is that of the first of them.
    """
    opened = {dim for dim, size in enumerate(op.sizes) if isinstance(size, OpenSize)}
    tile = _best(kernels, opened, processor)
    # Few rows fetch nothing ahead, whatever a schedule says: it may be for many alone.
    schedules = [schedule_of(each, tile, processor) for each in kernels]
    prefetch = next((each.prefetch for each in schedules if each.prefetch is not None), None)
    schedule = replace(schedules[0], prefetch=prefetch)
    schedule = _with_loops(schedule, opened, tile, op.num_parallel)
    if schedule.problem(op.sizes, op.reductions.value.data) is not None:
        return replace(schedule, prefetch=None)
    return schedule


def _best(kernels: Sequence[KernelAccesses], opened: set[int], processor: Processor) -> Tile:
    """Return the tile that is slower than the best one of each kernel by the least factor, in the
    geometric mean; along a constant dimension where that costs little."""
    tiles: list[Tile] = []
    for kernel in kernels:
        fitting = (
            each
            for each in candidates(kernel, processor)
            if _fits(each, opened) and not _reads_weights_often(each, kernel)
        )
        tiles += (each for each in fitting if each not in tiles)
    factors = [0.0] * len(tiles)
    for kernel in kernels:
        # Where a kernel has few points, what it takes beside its tiles decides: they hardly differ.
        call = processor.call_cycles
        cycles = [call + kernel_cycles(kernel, each, processor) for each in tiles]
        best = min(cycles)
        factors = [sum + log(each / best) for sum, each in zip(factors, cycles, strict=True)]

    def rank(number: int) -> tuple[float, int]:
        tile = tiles[number]
        tails = log(WORTH_A_TAIL) * len(kernels) if tile.vector_dim in opened else 0.0
        return factors[number] + tails, -max(tile.points.values(), default=0)

    return tiles[min(range(len(tiles)), key=rank)]


def _fits(tile: Tile, opened: set[int]) -> bool:
    """Whether little is left of open dimensions by a tile."""
    for dim, points in tile.points.items():
        most = OPEN_VECTORS * tile.lanes
        if dim in opened and (points > most if dim == tile.vector_dim else points not in ROWS):
            return False
    return tile.vector_dim not in opened or tile.chains <= OPEN_VECTORS


def _reads_weights_often(tile: Tile, kernel: KernelAccesses) -> bool:
    """Whether tiles are squares along a reduction, whose rows are the outer loop: all weights come
    from main memory again for every few rows."""
    is_square = tile.vector_dim in kernel.reductions and len(tile.points) > 1
    return is_square and any(each.is_parameter and each.in_accumulate for each in kernel.inputs)


def _with_loops(schedule: Schedule, opened: set[int], tile: Tile, num_parallel: int) -> Schedule:
    """Add the loops over open dimensions that typical numbers need none for."""
    loops = list(schedule.loops)
    missing = sorted(opened - {loop.dim for loop in loops})
    split = sum(loop.dim < num_parallel for loop in loops)
    for dim in missing:
        loop = Loop(dim, _step(tile, dim))
        if dim >= num_parallel:
            loops.append(loop)
            continue
        # A tile moves along its rows innermost: what a vector reads is read again for them.
        rows = (at for at, each in enumerate(loops[:split]) if each.step > 1)
        loops.insert(next(rows, split) if dim == tile.vector_dim else split, loop)
        split += 1
    return replace(schedule, loops=tuple(loops))


def _step(tile: Tile, dim: int) -> int:
    """Return how far a loop goes: a vector along its dimension, else the rows of the tile."""
    if dim == tile.vector_dim:
        return tile.lanes * max(tile.chains, -(-tile.points.get(dim, 1) // tile.lanes))
    return tile.points.get(dim, 1)
