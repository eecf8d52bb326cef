"""How a kernel is run: loop order, tiles, vectors and threads, apart from what it computes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import NamedTuple

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from gawee_dialect.dialect.open_size import OpenSize

MOST_VECTORS = 32
"""Along a reduction, in a tile: as many as there are registers at most."""
TILE_ROWS = 16
"""The most rows of a tile register."""
TILE_REGISTERS = 8
"""Tile registers: of sums, and of the factors that are multiplied."""
MOST_DEPTH = 32
"""The most neighbours along a reduction that are multiplied at once: 16 words, or 32 bf16."""
PAIR = 2
"""Neighbours along a reduction that a step may add up, one behind the other."""


class Loop(NamedTuple):
    """A loop over one dimension of a kernel, that advances by `step`."""

    dim: int
    step: int = 1

    def __str__(self) -> str:
        return f"d{self.dim}" if self.step == 1 else f"d{self.dim} by {self.step}"


class Prefetch(NamedTuple):
    """Which input is fetched ahead: what the next iteration of a loop over `dim` reads of it."""

    input: int
    dim: int

    def __str__(self) -> str:
        return f"input {self.input} along d{self.dim}"


@dataclass(frozen=True)
class Schedule:
    """The order in which a kernel visits the points of its iteration space.

    1. `loops` run from the outermost to the innermost. A dimension may have several, each with a
       smaller step than the one outside it. Loops over parallel dimensions come first.
    2. The outermost `parallel` loops may run on several threads.
    3. What the innermost loop over a dimension leaves (its step; the whole dimension where it has
       no loop) belongs to the register tile: its points are visited at once, each with an
       accumulator of its own.
    4. `vector` says along which dimension consecutive points fill the lanes of a vector register,
       and how many lanes; None computes scalars. Along a reduction, each vector of the tile has an
       accumulator of its own: these are combined at the end, as their lanes are. The innermost
       loop may go in steps of two along another reduction, which one accumulator takes.
    5. `prefetch` says of which input the next iteration of a parallel loop's part is fetched while
       this one computes: a little at each step of the reductions. The part is one run of memory,
       as it is of weights that are packed in the order in which they are read; of an input in
       blocks it is a run for each block, which the steps of that block fetch.
    6. `tiles` says along which parallel dimension the rows of tile registers are, and how many of
       them a register has at most; its columns are the lanes of a vector. A register that has more
       rows than the dimension has points goes on with the next points of the one other dimension
       of the register tile, where they lie so. What the innermost loop over one reduction leaves
       is multiplied at once.
    """

    loops: tuple[Loop, ...]
    vector: Loop | None = None
    parallel: int = 0
    prefetch: Prefetch | None = None
    tiles: Loop | None = None

    def tile(self, bounds: Sequence[int]) -> tuple[int, ...]:
        """Return the size of the register tile along each dimension."""
        sizes = list(bounds)
        for loop in self.loops:
            size = sizes[loop.dim]
            sizes[loop.dim] = loop.step if isinstance(size, OpenSize) else min(loop.step, size)
        return tuple(sizes)

    def pair(self, first_reduction: int) -> int | None:
        """Return the reduction of which each step takes two neighbours; None where none is.

        Parallel dimensions come before the first one that is reduced.
        """
        dim, step = self.loops[-1] if self.loops else Loop(0)
        if self.tiles is not None:
            return None
        is_vector = self.vector is not None and self.vector.dim == dim
        return dim if step == PAIR and dim >= first_reduction and not is_vector else None

    def depth(self, bounds: Sequence[int], first_reduction: int) -> int | None:
        """Return the reduction of which a product of tiles takes neighbours; None where none is."""
        if self.tiles is None:
            return None
        tile = self.tile(bounds)
        return next((dim for dim in range(first_reduction, len(tile)) if tile[dim] != 1), None)

    def problem(self, bounds: Sequence[int], reductions: int) -> str | None:
        """Say why a kernel with these bounds, the last `reductions` reduced, cannot run so."""
        rank = len(bounds)
        first_reduction = rank - reductions
        sizes = list(bounds)
        reducing = False
        for loop in self.loops:
            if loop.dim >= rank:
                return f"expected a loop over one of {rank} dimensions, got d{loop.dim}"
            size = sizes[loop.dim]
            if not isinstance(size, OpenSize) and not 1 <= loop.step <= max(1, size):
                return f"expected a step of 1 to {sizes[loop.dim]} in '{loop}', got {loop.step}"
            if reducing and loop.dim < first_reduction:
                return f"expected loop '{loop}' outside the reductions, got it inside"
            reducing = reducing or loop.dim >= first_reduction
            sizes[loop.dim] = loop.step
        leading = sum(loop.dim < first_reduction for loop in self.loops)
        if self.parallel > leading:
            return f"expected at most {leading} parallel loops, got {self.parallel}"
        return (
            self._open_problem(bounds, sizes)
            or self._vector_problem(sizes, first_reduction)
            or self._tiles_problem(sizes, first_reduction)
            or self._prefetch_problem(rank, first_reduction)
        )

    def _open_problem(self, bounds: Sequence[int], tile: Sequence[int]) -> str | None:
        """Say which open bound would be inside of a register tile, or has no whole step."""
        for dim, size in enumerate(tile):
            if isinstance(size, OpenSize):
                return f"expected a loop over d{dim} of open size '{size}', got none"
        opened = [loop for loop in self.loops if isinstance(bounds[loop.dim], OpenSize)]
        wrong = [loop for loop in opened if loop.step < 1]
        if wrong:
            return f"expected a step of at least 1 in '{wrong[0]}', got {wrong[0].step}"
        if self.prefetch is None or not opened:
            return None
        along = self.prefetch.dim
        inside = {loop.dim for loop in self.loops[1:] if loop in opened}
        if self.loops[0] in opened or self.loops[0].dim != along or len(inside) > 1:
            return (
                f"expected a prefetch along the outermost loop, of a size that is a number, with "
                f"one open loop inside, got d{along}"
            )
        return None

    def _prefetch_problem(self, rank: int, first_reduction: int) -> str | None:
        if self.prefetch is None:
            return None
        along = self.prefetch.dim
        dims = [loop.dim for loop in self.loops]
        parallel = [dim for dim in dims if dim < first_reduction]
        if first_reduction == rank:
            return "expected a reduction whose steps prefetch, got none"
        if parallel.count(along) != 1:
            return f"expected one loop over d{along} to prefetch along, got {parallel.count(along)}"
        twice = [dim for dim in parallel[parallel.index(along) :] if parallel.count(dim) > 1]
        if twice:
            return f"expected one loop over d{twice[0]} inside of d{along}, got more"
        return None

    def _vector_problem(self, tile: Sequence[int], first_reduction: int) -> str | None:
        vector, pair = self.vector, self.pair(first_reduction)
        if self.tiles is not None:
            pair = self.depth(tile, first_reduction)
        for dim in range(first_reduction, len(tile)):
            if tile[dim] != 1 and dim != pair and (vector is None or vector.dim != dim):
                return f"expected a loop by 1 over reduction d{dim}, got a tile of {tile[dim]}"
        if vector is None:
            return None
        if vector.dim >= len(tile):
            return f"expected a vector along one of {len(tile)} dimensions, got d{vector.dim}"
        if vector.step < 2:
            return f"expected at least 2 lanes, got {vector.step}"
        most = MOST_VECTORS * vector.step
        if vector.dim >= first_reduction and tile[vector.dim] > most:
            return f"expected a tile of at most {most} along d{vector.dim}, got {tile[vector.dim]}"
        return None

    def _tiles_problem(self, tile: Sequence[int], first_reduction: int) -> str | None:
        """Say why points of a register tile are no tiles of products."""
        rows, vector = self.tiles, self.vector
        if rows is None:
            return None
        if vector is None or vector.dim >= first_reduction or vector.step > TILE_ROWS:
            return f"expected tiles along a vector of up to {TILE_ROWS} parallel points, got none"
        if rows.dim >= first_reduction or rows.dim == vector.dim:
            return f"expected tiles along another parallel dimension, got d{rows.dim}"
        if not 1 <= rows.step <= TILE_ROWS:
            return f"expected tiles of 1 to {TILE_ROWS} rows, got {rows.step}"
        depth = self.depth(tile, first_reduction)
        if depth is None or tile[depth] > MOST_DEPTH:
            return f"expected tiles of 2 to {MOST_DEPTH} points of one reduction, got another step"
        columns = ceil(tile[vector.dim] / vector.step)
        others = (
            n for dim, n in enumerate(tile[:first_reduction]) if dim not in (vector.dim, rows.dim)
        )
        together = max(1, rows.step // tile[rows.dim])
        down = ceil(tile[rows.dim] / rows.step) * ceil(prod(others) / together)
        registers = columns * down + min(columns, down) + 1
        if registers > TILE_REGISTERS:
            return f"expected at most {TILE_REGISTERS} tile registers, got {registers}"
        return None


@irdl_attr_definition
class ScheduleAttr(Data[Schedule]):
    """A schedule as an attribute of a `gawee.kernel`.

    ```mlir
    #gawee.schedule<loops = [d1 by 32, d2, d3 by 14, d4, d5], vector = d1 by 16, parallel = 2>
    #gawee.schedule<loops = [d0, d1 by 6, d3], vector = d2 by 16, prefetch = input 1 along d0>
    #gawee.schedule<loops = [d1 by 32, d0 by 32, d2 by 16], vector = d1 by 16, tiles = d0 by 16>
    ```
    """

    name = "gawee.schedule"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Schedule:
        with parser.in_angle_brackets():
            parser.parse_keyword("loops")
            parser.parse_punctuation("=")
            loops = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_loop(parser)
            )
            vector, parallel, prefetch, tiles = None, 0, None, None
            while parser.parse_optional_punctuation(",") is not None:
                if parser.parse_optional_keyword("vector") is not None:
                    parser.parse_punctuation("=")
                    vector = _parse_loop(parser)
                elif parser.parse_optional_keyword("tiles") is not None:
                    parser.parse_punctuation("=")
                    tiles = _parse_loop(parser)
                elif parser.parse_optional_keyword("prefetch") is not None:
                    parser.parse_punctuation("=")
                    prefetch = _parse_prefetch(parser)
                else:
                    parser.parse_keyword("parallel")
                    parser.parse_punctuation("=")
                    parallel = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return Schedule(tuple(loops), vector, parallel, prefetch, tiles)

    def print_parameter(self, printer: Printer) -> None:
        schedule = self.data
        with printer.in_angle_brackets():
            printer.print_string(f"loops = [{', '.join(map(str, schedule.loops))}]")
            if schedule.vector is not None:
                printer.print_string(f", vector = {schedule.vector}")
            if schedule.tiles is not None:
                printer.print_string(f", tiles = {schedule.tiles}")
            if schedule.parallel:
                printer.print_string(f", parallel = {schedule.parallel}")
            if schedule.prefetch is not None:
                printer.print_string(f", prefetch = {schedule.prefetch}")


LONGEST = 6
"""Letters of a dimension's name."""


def _parse_loop(parser: AttrParser) -> Loop:
    dim, step = _parse_dim(parser), 1
    if parser.parse_optional_keyword("by") is not None:
        step = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return Loop(dim, step)


def _parse_prefetch(parser: AttrParser) -> Prefetch:
    parser.parse_keyword("input")
    number = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_keyword("along")
    return Prefetch(number, _parse_dim(parser))


def _parse_dim(parser: AttrParser) -> int:
    position = parser.pos
    name = parser.parse_identifier("a dimension, such as d0")
    if not (name.startswith("d") and name[1:].isdecimal() and len(name) < LONGEST):
        parser.raise_error(f"expected a dimension, such as d0, got '{name}'", position)
    return int(name[1:])
