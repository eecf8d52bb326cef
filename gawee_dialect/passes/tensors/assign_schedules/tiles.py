"""The register tiles that there are to choose from, and the best of them by the model."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations, product
from math import inf, prod

from xdsl.dialects.builtin import IntegerType

from gawee_dialect.analysis.fingerprint import Fingerprints
from gawee_dialect.analysis.kernel_kind import combiner_of
from gawee_dialect.dialect.kernels.kernel import element_of
from gawee_dialect.hints import isa
from gawee_dialect.passes.tensors.assign_schedules.cost_model import (
    Tile,
    is_turned,
    kernel_cycles,
    load_cycles,
)
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import BYTES, KernelAccesses
from gawee_dialect.target.description import Processor

UNROLLED = 24
"""Instructions of a tile that only copies or computes each element by itself."""
POINTS = (*range(2, 17), 20, 24, 28)
"""Points of a tile to try along a dimension that the vector is not along."""
SEVERAL = 2
"""The fewest points that are apart."""
MOST_VECTORS = 8
"""Vectors of a tile to try along a dimension, at most."""
CHAINS = (2, 4, 8)
"""Vectors of one row that are accumulated side by side."""
LONG = 64
"""Steps of a reduction after which it counts little that lanes are stored one by one."""
LONG_ROW = 512
"""Elements of a row from which rows side by side are too many streams for the prefetcher."""


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
    if _joins_neighbours(kernel):
        return
    for dim in range(len(sizes)):
        if dim not in parallel and kernel.in_pairs:
            continue
        if dim not in parallel:
            for lanes in _lanes(kernel, dim, processor):
                yield from chained(kernel, Tile(dim, lanes, {}))
                yield Tile(dim, lanes, {})
                yield from _rows_of(kernel, Tile(dim, lanes, {}), processor.vector_registers)
        else:
            for lanes in _lanes(kernel, dim, processor):
                yield from _along(kernel, dim, lanes, processor)


def _joins_neighbours(kernel: KernelAccesses) -> bool:
    """Whether each point reads integers side by side, which one scalar load has all of.

    LLVM finds that out by itself, but not of lanes of a vector.
    """
    first, *others = kernel.inputs or [kernel.output]
    if kernel.accumulate_ops or not others or any(each.value is not first.value for each in others):
        return False
    if not isa(element_of(first.value), IntegerType):
        return False
    dims = (dim for dim in range(kernel.num_parallel) if kernel.output.step(dim, SEVERAL) == 1)
    count = len(kernel.inputs)
    return any(all(each.step(dim, SEVERAL) == count for each in kernel.inputs) for dim in dims)


def _lanes(kernel: KernelAccesses, dim: int, processor: Processor) -> Iterator[int]:
    """Yield as many lanes as lie side by side, and twice as many of a sum in two blocks.

    A register of bytes has four times as many.
    """
    if _is_of_bytes(kernel, dim, BYTES * processor.lanes):
        yield BYTES * processor.lanes
        return
    lanes = next((n for n in lane_counts(processor) if _fits(kernel, dim, n)), None)
    if lanes is None:
        if _may_be_stored_apart(kernel, dim, processor):
            yield processor.lanes
        return
    yield lanes
    if kernel.accumulate_ops and not kernel.runs_once and 2 * lanes <= processor.lanes:
        if kernel.output.is_in_halves(dim, 2 * lanes):
            yield 2 * lanes


def _is_of_bytes(kernel: KernelAccesses, dim: int, lanes: int) -> bool:
    """Whether a kernel that reduces nothing computes with bytes alone, which lie side by side."""
    if kernel.accumulate_ops or kernel.runs_once or kernel.sizes[dim] < lanes:
        return False
    operands = (*kernel.inputs, kernel.output)
    if dim not in kernel.output.dims:
        return False
    if any(dim in each.dims and each.step(dim, lanes) != 1 for each in operands):
        return False
    types = [element_of(each.value) for each in operands]
    types += [each.type for op in kernel.op.walk() if op is not kernel.op for each in op.results]
    return all(isa(type, IntegerType) and type.width.data <= 8 for type in types)


def _along(kernel: KernelAccesses, dim: int, lanes: int, processor: Processor) -> Iterator[Tile]:
    """Yield the tiles whose vectors are along a dimension that is not reduced."""
    size, several = kernel.sizes[dim], not kernel.runs_once
    for vectors in range(1, MOST_VECTORS + 1 if several else 2):
        if vectors > 1 and lanes * (vectors - 1) >= size:
            break
        tile = Tile(dim, lanes, {dim: min(lanes * vectors, size)})
        if (
            vectors > 1
            and not kernel.accumulate_ops
            and _instructions(kernel, tile, processor) > UNROLLED
        ):
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
    if dim >= kernel.op.num_parallel:
        yield from _rows_by_rows(kernel, tile, most)


def _rows_by_rows(kernel: KernelAccesses, tile: Tile, most: int) -> Iterator[Tile]:
    """Yield tiles of as many rows of one operand as of another, along which the same is reduced.

    A vector that is loaded is multiplied several times, and rows that lie whole pages apart, which
    take the same places in the first cache, are few.
    """
    sizes = kernel.op.sizes
    for points in POINTS:
        if points * points > most:
            return
        dims = [dim for dim in range(kernel.op.num_parallel) if sizes[dim] >= points]
        for pair in combinations(dims, 2):
            yield replace(tile, points=dict.fromkeys(pair, points))


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


def _instructions(kernel: KernelAccesses, tile: Tile, processor: Processor) -> float:
    """Return about how many instructions a tile without reductions is unrolled to."""
    operands = (*kernel.inputs, kernel.output)
    loading = sum(load_cycles(operand, kernel, tile, processor) for operand in operands)
    return processor.loads * loading


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


def _may_be_stored_apart(kernel: KernelAccesses, dim: int, processor: Processor) -> bool:
    """Whether vectors along a dimension may be stored lane by lane, after a long reduction.

    That pays where too few results lie side by side: features at few positions, in no blocks.
    """
    lanes = processor.lanes
    if dim >= kernel.num_parallel or not kernel.accumulate_ops or kernel.runs_once:
        return False
    if kernel.sizes[dim] < lanes or prod(kernel.sizes[each] for each in kernel.reductions) < LONG:
        return False
    if kernel.output.step(dim, lanes) is None:
        return False
    return not any(_fits(kernel, each, lanes) for each in range(kernel.num_parallel))


REMEMBERED = 4096
"""Tiles after which all are forgotten."""


class _KnownTiles:
    """The best tiles of kernels, by what decides on them: passes and layers ask of the same."""

    def __init__(self) -> None:
        self.tiles: dict[object, Tile] = {}
        self.texts = Fingerprints()

    def question(self, kernel: KernelAccesses, processor: Processor) -> object:
        """Return all that the choice for a kernel depends on."""
        operands = (*kernel.inputs, kernel.output)
        inputs = tuple((each.is_parameter, each.is_widened) for each in kernel.inputs)
        types = tuple(each.value.type for each in operands)
        text = self.texts.of(kernel.op)
        return types, inputs, text, kernel.runs_once, kernel.in_pairs, processor

    def forget(self) -> None:
        """Begin again, so that a process that compiles for days has room."""
        self.__init__()


_known = _KnownTiles()


def best_tile(kernel: KernelAccesses, processor: Processor) -> Tile:
    """Return the tile that takes the fewest cycles; of equals the one along the last dimension."""
    question = _known.question(kernel, processor)
    found = _known.tiles.get(question)
    if found is None:
        if len(_known.tiles) >= REMEMBERED:
            _known.forget()
        found = _best_of(kernel, candidates(kernel, processor), processor)
        _known.tiles[question] = found
    return found


def _best_of(kernel: KernelAccesses, tiles: Iterator[Tile], processor: Processor) -> Tile:
    best, least = next(tiles), (inf, 0)
    for tile in chain((best,), tiles):
        rank = kernel_cycles(kernel, tile, processor, most=least[0]), -max(tile.points, default=0)
        if rank < least:
            best, least = tile, rank
    return best
