"""What is worth measuring for a kernel: the best by the cost models, and other loop orders."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from gawee_dialect.dialect.kernels.algorithm import Algorithm, Direct
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule
from gawee_dialect.passes.tensors.assign_schedules.cost_model import Tile, kernel_cycles
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses
from gawee_dialect.passes.tensors.assign_schedules.loop_order import schedule_of
from gawee_dialect.passes.tensors.assign_schedules.tiles import best_tile, candidates
from gawee_dialect.passes.tensors.convert_to_algorithm import ConvertKernel
from gawee_dialect.target.description import Processor

SLOWEST = 2.0
"""How many times the cycles of the best tile a tile may take, by the model, to be measured."""
ALIKE = 2
"""How many candidates may differ in what matters little alone."""
SPLITS = (4, 8, 2)
"""Register tiles in a block."""


def schedules(kernel: KernelAccesses, processor: Processor, most: int) -> list[Schedule]:
    """Return up to `most` schedules; the first is the model's choice.

    Two thirds are register tiles, the best by the model; the rest are other orders of the loops
    around the first tile, and blocks of it.
    """
    tiles = ranked_tiles(kernel, processor)
    by_tile = [schedule_of(kernel, tile, processor) for tile in islice(tiles, most)]
    first = by_tile[0]
    orders = [each for each in variants(kernel, first) if _fits(kernel, each)]
    share = max(1, most - min(len(orders), most // 3))
    return list(dict.fromkeys([*by_tile[:share], *orders, *by_tile[share:]]))[:most]


def _fits(kernel: KernelAccesses, schedule: Schedule) -> bool:
    return schedule.problem(kernel.op.sizes, kernel.op.reductions.value.data) is None


def ranked_tiles(kernel: KernelAccesses, processor: Processor) -> Iterator[Tile]:
    """Yield the tile that the model chooses, then others from the fastest on.

    Tiles that differ in the number of points alone are alike: a few of them are enough.
    """
    best = best_tile(kernel, processor)
    yield best
    limit = SLOWEST * kernel_cycles(kernel, best, processor)
    timed = [
        (kernel_cycles(kernel, tile, processor), tile) for tile in candidates(kernel, processor)
    ]
    seen: dict[object, int] = {_family(best): 1}
    for cycles, tile in sorted(timed, key=lambda pair: pair[0]):
        family = _family(tile)
        if cycles > limit or tile == best or seen.get(family, 0) >= ALIKE:
            continue
        seen[family] = seen.get(family, 0) + 1
        yield tile


def _family(tile: Tile) -> object:
    """Return what tiles have in common that are alike."""
    along = 0 if tile.vector_dim is None else tile.vectors(tile.vector_dim)
    return tile.vector_dim, tile.lanes, along, tile.chains > 1, tuple(tile.points)


def variants(kernel: KernelAccesses, schedule: Schedule) -> Iterator[Schedule]:
    """Yield a schedule with or without prefetches, and other orders of its loops.

    Another one is outermost, or there is a block around them.
    """
    yield from prefetches(kernel, schedule)
    number = sum(loop.dim < kernel.op.num_parallel for loop in schedule.loops)
    outer, reducing = schedule.loops[:number], schedule.loops[number:]
    for index in range(1, number):
        order = (outer[index], *outer[:index], *outer[index + 1 :])
        yield replace(schedule, loops=(*order, *reducing))
    for factor in SPLITS:
        for index, loop in enumerate(outer):
            blocked = Loop(loop.dim, loop.step * factor)
            if index and blocked.step < kernel.op.sizes[loop.dim]:
                yield replace(schedule, loops=(blocked, *schedule.loops))


def prefetches(kernel: KernelAccesses, schedule: Schedule) -> Iterator[Schedule]:
    """Yield a schedule without its prefetch, or with one of the weights of the outermost loop."""
    if schedule.prefetch is not None:
        yield replace(schedule, prefetch=None)
        return
    for index, operand in enumerate(kernel.inputs):
        along = next((loop.dim for loop in schedule.loops if loop.dim in operand.dims), None)
        if operand.is_parameter and operand.in_accumulate and along is not None:
            if along < kernel.op.num_parallel:
                yield replace(schedule, prefetch=Prefetch(index, along))


def algorithms(
    op: KernelOp, conversions: Sequence[ConvertKernel], most: int | None
) -> list[Algorithm]:
    """Return up to `most` ways to compute a kernel, all for None.

    The first is the models' choice, one is the direct way; the rest are the fastest by the models.
    """
    fitting = [each for each in conversions if each.mismatch(op) is None]
    chosen = next((c for c in (each.choose(op) for each in fitting) if c is not None), None)
    first: list[Algorithm] = [Direct()] if chosen is None else [chosen, Direct()]
    plans = [plan for each in fitting for plan in each.plans(op) if plan.algorithm != chosen]
    ranked = sorted(plans, key=lambda plan: plan.cycles)
    others = _different(plan.algorithm for plan in ranked)
    share = None if most is None else max(0, most - len(first))
    return [*first, *islice(others, share)]


def _different(ranked: Iterable[Algorithm]) -> Iterator[Algorithm]:
    seen: dict[object, int] = {}
    for algorithm in ranked:
        family = algorithm.name, algorithm.family
        if seen.get(family, 0) < ALIKE:
            seen[family] = seen.get(family, 0) + 1
            yield algorithm
