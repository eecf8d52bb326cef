"""What is worth measuring for a kernel: the best by the cost models, and other loop orders."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.kernels.algorithm import Algorithm, Direct
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule
from gawee_dialect.evaluation.search import Point, Space
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


Block = tuple[int, int] | None
"""How many register tiles a block has, and which of the loops it is around."""


class ScheduleSpace(Space[Schedule]):
    """The schedules of a kernel: each register tile with each order of the loops around it.

    It starts from the model's choice. Its ranking has two tiles, the best by the model, for each
    other order of the loops around the first tile.
    """

    def __init__(self, kernel: KernelAccesses, processor: Processor):
        self.kernel, self.processor = kernel, processor
        self._tiles = {_shape(tile): tile for tile in candidates(kernel, processor)}
        vectors, widths, rows = (
            list(dict.fromkeys(each)) for each in zip(*self._tiles, strict=True)
        )
        loops = range(max(1, kernel.num_parallel))
        super().__init__(
            self._schedule,
            {
                "vector": vectors,
                "width": sorted(widths),
                "rows": rows,
                "outermost": loops,
                "block": [None, *product(SPLITS, loops[1:])],
                "prefetch": ["model's", "other"],
            },
            ranking=self._ranked,
        )
        self.start = self._point(best_tile(kernel, processor))

    def _schedule(
        self,
        vector: tuple[int | None, int],
        width: int,
        rows: tuple[tuple[int, int], ...],
        outermost: int,
        block: Block,
        prefetch: str,
    ) -> Schedule:
        tile = self._tiles.get((vector, width, rows))
        if tile is None:
            raise GaweeError(f"no register tile is {width} points of {vector} and {rows}")
        schedule = schedule_of(self.kernel, tile, self.processor)
        changed = _changed(self.kernel, schedule, outermost, block, prefetch)
        op = self.kernel.op
        problem = changed.problem(op.sizes, op.reductions.value.data)
        if problem is not None:
            raise GaweeError(problem)
        return changed

    def _point(self, tile: Tile) -> Point:
        shape = zip(self.knobs.values(), _shape(tile), strict=False)
        return (*(values.index(each) for values, each in shape), 0, 0, 0)

    def _variants(self, point: Point) -> Iterator[Point]:
        """Yield the points that differ in what is around the tile."""
        *tile, _, _, _ = point
        _, _, _, outermost, block, _ = self.knobs.values()
        yield (*tile, 0, 0, 1)
        yield from ((*tile, at, 0, 0) for at in range(1, len(outermost)))
        yield from ((*tile, 0, at, 0) for at in range(1, len(block)))

    def _ranked(self) -> Iterator[Point]:
        seen: set[Schedule] = set()

        def new(points: Iterator[Point]) -> Iterator[Point]:
            for point in points:
                if self.problem(point) is None and self.candidate(point) not in seen:
                    seen.add(self.candidate(point))
                    yield point

        tiles = new(map(self._point, ranked_tiles(self.kernel, self.processor)))
        variants = new(self._variants(self.start))
        while found := [*islice(tiles, 2), *islice(variants, 1)]:
            yield from found


def _shape(tile: Tile) -> tuple[tuple[int | None, int], int, tuple[tuple[int, int], ...]]:
    """Return the vector, the points along it or vectors of a reduction, and the other points."""
    dim = tile.vector_dim
    width = tile.chains if dim is None else tile.points.get(dim, tile.chains)
    others = tuple((each, size) for each, size in tile.points.items() if each != dim)
    return (dim, tile.lanes), width, others


def schedules(kernel: KernelAccesses, processor: Processor, most: int) -> list[Schedule]:
    """Return up to `most` different schedules; the first is the model's choice."""
    space = ScheduleSpace(kernel, processor)
    return list(map(space.candidate, islice(space.ranking(), most)))


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


def _changed(
    kernel: KernelAccesses, schedule: Schedule, outermost: int, block: Block, prefetch: str
) -> Schedule:
    """Return a schedule with another loop outermost, a block around its loops, another prefetch.

    Raises GaweeError where it has no such loops.
    """
    number = sum(loop.dim < kernel.op.num_parallel for loop in schedule.loops)
    outer, reducing = schedule.loops[:number], schedule.loops[number:]
    at = 0 if block is None else block[1]
    if max(at, outermost) >= max(1, number):
        raise GaweeError(f"expected one of {number} loops, got {max(at, outermost)}")
    if prefetch == "other":
        other = next(prefetches(kernel, schedule), None)
        if other is None:
            raise GaweeError("no input is to be fetched ahead")
        schedule = other
    outer = (outer[outermost], *outer[:outermost], *outer[outermost + 1 :]) if outermost else outer
    if block is not None:
        loop = outer[at]
        blocked = Loop(loop.dim, loop.step * block[0])
        if blocked.step >= kernel.op.sizes[loop.dim]:
            raise GaweeError(f"expected a block smaller than the dimension, got '{blocked}'")
        outer = (blocked, *outer)
    return replace(schedule, loops=(*outer, *reducing))


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
