"""Schedules of kernels whose sizes are open: what the model says of one with typical numbers.

Register tile, lanes and packed weights are constants, whatever the names are. A loop over an open
dimension advances by a few rows, or by whole vectors; `lower-kernels-to-loops` builds what is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isqrt

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
"""Points of a tile along an open dimension: of those left each is a tile of its own."""
OPEN_VECTORS = 2
"""Vectors of a tile along an open dimension, at most."""
WORTH_A_TAIL = 1.25
"""How many times longer a tile along a constant dimension has to take for an open one."""
COMMON = 512
"""The greatest value, to the model, of a name whose range has no end."""


def typical_numbers(names: Sequence[SizeName]) -> Mapping[str, int]:
    """Return the geometric mean of each name's range, a multiple of its step."""
    return {name.name: _typical(name) for name in names}


def _typical(name: SizeName) -> int:
    high = max(name.low, COMMON) if name.high >= UNBOUNDED else name.high
    mean = isqrt(max(name.low, 1) * high)
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


def open_schedule(op: KernelOp, kernel: KernelAccesses, processor: Processor) -> Schedule:
    """Return the schedule of a kernel of open sizes; `kernel` is the same with typical numbers."""
    opened = {dim for dim, size in enumerate(op.sizes) if isinstance(size, OpenSize)}
    tile = _best(kernel, opened, processor)
    schedule = replace(schedule_of(kernel, tile, processor), prefetch=None)
    return _with_loops(schedule, opened, tile, op.num_parallel)


def _best(kernel: KernelAccesses, opened: set[int], processor: Processor) -> Tile:
    """Return the tile of fewest cycles, along a constant dimension where that costs little."""
    tiles = [each for each in candidates(kernel, processor) if _fits(each, opened)]
    cycles = {number: kernel_cycles(kernel, each, processor) for number, each in enumerate(tiles)}

    def rank(number: int) -> tuple[float, int]:
        tile = tiles[number]
        tails = WORTH_A_TAIL if tile.vector_dim in opened else 1
        return cycles[number] * tails, -max(tile.points, default=0)

    return tiles[min(cycles, key=rank)]


def _fits(tile: Tile, opened: set[int]) -> bool:
    """Whether little is left of open dimensions by a tile."""
    for dim, points in tile.points.items():
        most = OPEN_VECTORS * tile.lanes
        if dim in opened and (points > most if dim == tile.vector_dim else points not in ROWS):
            return False
    return tile.vector_dim not in opened or tile.chains <= OPEN_VECTORS


def _with_loops(schedule: Schedule, opened: set[int], tile: Tile, num_parallel: int) -> Schedule:
    """Add the loops over open dimensions that typical numbers need none for."""
    loops = list(schedule.loops)
    missing = sorted(opened - {loop.dim for loop in loops})
    outer = [Loop(dim, _step(tile, dim)) for dim in missing if dim < num_parallel]
    inner = [Loop(dim, _step(tile, dim)) for dim in missing if dim >= num_parallel]
    split = sum(loop.dim < num_parallel for loop in loops)
    return replace(schedule, loops=(*loops[:split], *outer, *loops[split:], *inner))


def _step(tile: Tile, dim: int) -> int:
    """Return how far a loop goes: a vector along its dimension, else the rows of the tile."""
    if dim == tile.vector_dim:
        return tile.lanes * max(tile.chains, -(-tile.points.get(dim, 1) // tile.lanes))
    return tile.points.get(dim, 1)
