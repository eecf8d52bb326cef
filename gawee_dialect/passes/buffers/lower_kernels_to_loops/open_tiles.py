"""Loops over a dimension whose size is open: tiles of several sizes, each built by itself.

    n points of a vector by 32  ->  for n / 32: a tile of 32; then of 16; then of fewer lanes
    n rows by 8                 ->  for ceil(n / 8): a tile of as many as others, or of one less

What is inside of a tile has constants of its own: bounds that are known at run time there take
twice as long.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, Protocol

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import OpenSize, SizeName, UnknownSize, greatest, least
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    Counters,
    IndexBuilder,
    LinearIndex,
    counted_loop,
    delinearized,
    end_iteration,
    size_index,
)
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index
from gawee_dialect.passes.buffers.lower_linalg_to_loops.loop_order import strides_of
from gawee_dialect.upstream.arith import arithmetic

INDEX = IndexType()

# Loops whose bodies are still to be built.


UNROLL = "gawee.unroll"
"""The attribute of a loop that says how LLVM unrolls it: `"full"`, or how many times."""
ROLLED = IntegerAttr(1, i64)
"""Its value on a loop that LLVM is to leave as it is."""


def open_loop(
    builder: Builder,
    counters: Counters,
    count: int,
    name: str,
    *,
    unroll: bool | None = None,
    upper: SSAValue | None = None,
) -> tuple[Builder, SSAValue]:
    """Insert a loop of `count` iterations, or `upper` where that is smaller.

    A count that is open is computed of its names.

    `unroll` says whether LLVM unrolls it; None leaves that to LLVM.
    """
    lower, end, step = (size_index(builder, counters, value) for value in (0, count, 1))
    loop = _loop(builder, counters, (lower, upper or end, step), greatest(count), name)
    if unroll is not None:
        loop.attributes[UNROLL] = StringAttr("full") if unroll else ROLLED
    return Builder(InsertPoint.at_end(loop.body.block)), loop.body.block.args[0]


def rolled_loop(
    builder: Builder, counters: Counters, upper: SSAValue, most: int, name: str
) -> tuple[Builder, SSAValue]:
    """Insert a loop of `upper` iterations, at most `most`, which LLVM leaves as it is."""
    lower, step = (constant_index(builder, value) for value in (0, 1))
    loop = _loop(builder, counters, (lower, upper, step), most, name)
    loop.attributes[UNROLL] = ROLLED
    return Builder(InsertPoint.at_end(loop.body.block)), loop.body.block.args[0]


def _loop(
    builder: Builder,
    counters: Counters,
    range: tuple[SSAValue, SSAValue, SSAValue],
    most: int,
    name: str,
) -> scf.ForOp:
    body = Block(arg_types=[INDEX])
    body.args[0].name_hint = name
    counters.trip_counts[body.args[0]] = most
    return counted_loop(builder, *range, Region(body))


def loops(
    builder: Builder,
    counters: Counters,
    counts: Sequence[int],
    names: Sequence[str],
    inside: Callable[[Builder, Sequence[LinearIndex]], None],
    *,
    unroll: bool | None = None,
) -> None:
    """Insert loops inside one another, none for one iteration, and what is in the innermost."""
    opened: list[Builder] = []
    indices: list[LinearIndex] = []
    for count, name in zip(counts, names, strict=True):
        if count == 1:
            indices.append(LinearIndex())
            continue
        builder, counter = open_loop(builder, counters, count, name, unroll=unroll)
        opened.append(builder)
        indices.append(LinearIndex(terms={counter: 1}))
    inside(builder, indices)
    for inner in reversed(opened):
        end_iteration(inner)


def with_last_iteration(
    builder: Builder,
    counters: Counters,
    index: LinearIndex,
    count: int,
    extents: tuple[int, int],
    inside: Callable[[Builder, int], None],
) -> None:
    """Insert the body of a loop whose last iteration has another extent: once for each.

    `index` is the loop's counter, `count` how many iterations it has, and `extents` are those of
    the last iteration and of all others. The body is there once where the two are the same, or
    where there is one iteration, which has the second extent.
    """
    rest, whole = extents
    if count == 1 or rest == whole:
        inside(builder, whole)
        return
    number = IndexBuilder(builder, counters).value(index)
    last = constant_index(builder, count - 1)
    is_last = builder.insert(arith.CmpiOp(number, last, "eq")).result
    blocks = Block(), Block()
    builder.insert(scf.IfOp(is_last, (), Region(blocks[0]), Region(blocks[1])))
    for block, extent in zip(blocks, extents, strict=True):
        inner = Builder(InsertPoint.at_end(block))
        inside(inner, extent)
        end_iteration(inner)


def parallel_loop(
    builder: Builder,
    counters: Counters,
    counts: Sequence[int],
    inside: Callable[[Builder, Sequence[LinearIndex]], None],
) -> None:
    """Insert one parallel loop over the points of several loops."""
    if prod(counts) == 1:
        inside(builder, [LinearIndex()] * len(counts))
        return
    body = Block(arg_types=[IndexType()])
    counter = body.args[0]
    counter.name_hint = "task"
    counters.trip_counts[counter] = greatest(prod(counts))
    zero, end, one = (size_index(builder, counters, value) for value in (0, prod(counts), 1))
    builder.insert(scf.ParallelOp([zero], [end], [one], Region(body)))
    inner = Builder(InsertPoint.at_end(body))
    inside(inner, delinearized(IndexBuilder(inner, counters), counter, counts))
    inner.insert(scf.ReduceOp())


def allocate(
    builder: Builder, source: Operation, type: Attribute, shape: Sequence[int], name: str
) -> SSAValue:
    """Allocate an array on the stack of a task, or of the function where there are no tasks.

    `source` is the op that it is for.
    """
    alloca = memref.AllocaOp.get(type, shape=list(shape))
    hand_on_location(source, alloca)
    alloca.memref.name_hint = name
    top = task_block(builder.insertion_point.block)
    if top.first_op is None:
        top.add_op(alloca)
    else:
        top.insert_op_before(alloca, top.first_op)
    return alloca.memref


def task_block(block: Block) -> Block:
    """Return the body of the parallel loop around a block, or of its function."""
    parent: Operation | None = block.parent_op()
    while not isinstance(parent, FuncOp | scf.ParallelOp):
        assert parent is not None
        assert parent.parent is not None
        block = parent.parent
        parent = block.parent_op()
    return block


BuildTile = Callable[[Builder, LinearIndex, int], None]
"""Builds a tile from its first point on, of so many points."""


BuildRest = Callable[[Builder, LinearIndex, SSAValue], None]
"""Builds the last points, from the first of them on: so many as there are, fewer than lanes."""


class TileLoop(Protocol):
    """A loop over the tiles of an open dimension."""

    def build(self, builder: Builder, size: OpenSize, tile: BuildTile) -> None:
        """Insert the loops over all tiles of a dimension."""
        ...

    def build_one(
        self, builder: Builder, size: OpenSize, index: LinearIndex, tile: BuildTile
    ) -> None:
        """Insert the tile of a number; the last one may be some smaller tiles."""
        ...


class _Points(NamedTuple):
    """Some last points of a dimension."""

    number: SSAValue
    first: LinearIndex
    most: int
    """How many there are at most."""
    size: int | None = None
    """The form of `number`, where it has one."""


@dataclass(frozen=True)
class OpenLoop:
    """A loop over an open dimension in tiles of some sizes, the greatest first.

    The last one is 1, unless there is what builds the rest.
    """

    counters: Counters
    name: str
    steps: Sequence[int]
    rest: BuildRest | None = None

    def build(self, builder: Builder, size: OpenSize, tile: BuildTile) -> None:
        """Insert the loops over all tiles of a dimension."""
        self._build(builder, self.steps, self._all(builder, size), tile)

    def build_one(
        self, builder: Builder, size: OpenSize, index: LinearIndex, tile: BuildTile
    ) -> None:
        """Insert the tile of a number; the last one may be some smaller tiles."""
        step, *smaller = self.steps
        tiles, rest = self._split(builder, self._all(builder, size), step)
        if rest is None:
            tile(builder, index.scaled(step), step)
            return
        number = IndexBuilder(builder, self.counters).value(index)
        is_whole = builder.insert(arith.CmpiOp(number, tiles, "ult")).result
        blocks = Block(), Block()
        builder.insert(scf.IfOp(is_whole, (), Region(blocks[0]), Region(blocks[1])))
        first, last = (Builder(InsertPoint.at_end(block)) for block in blocks)
        tile(first, index.scaled(step), step)
        end_iteration(first)
        self._build(last, smaller, rest, tile)
        end_iteration(last)

    def _all(self, builder: Builder, size: OpenSize) -> _Points:
        value = size_index(builder, self.counters, size)
        return _Points(value, LinearIndex(), greatest(size), size)

    def _build(
        self, builder: Builder, steps: Sequence[int], points: _Points, tile: BuildTile
    ) -> None:
        for step in steps:
            if points.most < step:
                continue
            tiles, rest = self._split(builder, points, step)
            most = points.most // step
            inner, counter = rolled_loop(builder, self.counters, tiles, most, self.name)
            tile(inner, points.first + LinearIndex(terms={counter: step}), step)
            end_iteration(inner)
            if rest is None:
                return
            points = rest
        if self.rest is not None:
            zero = constant_index(builder, 0)
            is_left = builder.insert(arith.CmpiOp(points.number, zero, "ne")).result
            block = Block()
            builder.insert(scf.IfOp(is_left, (), Region(block)))
            inner = Builder(InsertPoint.at_end(block))
            self.rest(inner, points.first, points.number)
            end_iteration(inner)

    def _split(
        self, builder: Builder, points: _Points, step: int
    ) -> tuple[SSAValue, _Points | None]:
        """Return how many tiles of `step` points there are, and the points left, if any."""
        if step == 1:
            return points.number, None
        by = constant_index(builder, step)
        tiles = arithmetic(builder, arith.DivUIOp, points.number, by)
        if points.size is not None and _divides(step, points.size):
            return tiles, None
        left = arithmetic(builder, arith.RemUIOp, points.number, by)
        self.counters.trip_counts[tiles] = points.most // step + 1
        first = points.first + LinearIndex(terms={tiles: step})
        return tiles, _Points(left, first, min(step - 1, points.most))


@dataclass(frozen=True)
class RowLoop:
    """A loop over rows whose number is open, in tiles that are equal but for one row.

    17 rows by 8  ->  tiles of 6, 6 and 5 rows

    Of each size there is a tile: one of a single row, of which many were left, waits most of the
    time for its last step.
    """

    counters: Counters
    name: str
    most: int

    def build(self, builder: Builder, size: OpenSize, tile: BuildTile) -> None:
        """Insert the loop over all tiles."""
        most = -(-greatest(size) // self.most)
        tiles = _tiles(builder, self.counters, size, self.most)
        lengths = self._lengths(builder, size, tiles)
        inner, counter = rolled_loop(builder, self.counters, tiles, most, self.name)
        self._tile(inner, size, LinearIndex(terms={counter: 1}), lengths, tile)
        end_iteration(inner)

    def build_one(
        self, builder: Builder, size: OpenSize, index: LinearIndex, tile: BuildTile
    ) -> None:
        """Insert the tile of a number."""
        lengths = self._lengths(builder, size, _tiles(builder, self.counters, size, self.most))
        self._tile(builder, size, index, lengths, tile)

    def _lengths(
        self, builder: Builder, size: OpenSize, tiles: SSAValue
    ) -> tuple[SSAValue, SSAValue] | None:
        """Return the rows of a tile, and how many tiles have one more; None where all are whole."""
        if _divides(self.most, size):
            return None
        if least(size) < 1:
            tiles = arithmetic(builder, arith.MaxUIOp, tiles, constant_index(builder, 1))
        rows = size_index(builder, self.counters, size)
        fewer, longer = (
            arithmetic(builder, op, rows, tiles) for op in (arith.DivUIOp, arith.RemUIOp)
        )
        return fewer, longer

    def _tile(
        self,
        builder: Builder,
        size: OpenSize,
        index: LinearIndex,
        lengths: tuple[SSAValue, SSAValue] | None,
        tile: BuildTile,
    ) -> None:
        if lengths is None:
            tile(builder, index.scaled(self.most), self.most)
            return
        rows, longer = lengths
        number = IndexBuilder(builder, self.counters).value(index)
        before = arithmetic(builder, arith.MinUIOp, number, longer)
        first = arithmetic(builder, arith.MuliOp, number, rows)
        first = arithmetic(builder, arith.AddiOp, first, before)
        self.counters.trip_counts[first] = greatest(size)
        more = arithmetic(builder, arith.AddiOp, rows, constant_index(builder, 1))
        is_longer = builder.insert(arith.CmpiOp(number, longer, "ult")).result
        own = builder.insert(arith.SelectOp(is_longer, more, rows)).result
        start = LinearIndex(terms={first: 1})
        most = min(self.most, greatest(size))
        self._of_rows(builder, own, most, lambda inner, rows: tile(inner, start, rows))

    def _of_rows(
        self, builder: Builder, own: SSAValue, rows: int, tile: Callable[[Builder, int], None]
    ) -> None:
        """Insert the tile that has as many rows as a number says, which are at most so many."""
        if rows == 1:
            tile(builder, rows)
            return
        is_such = builder.insert(arith.CmpiOp(own, constant_index(builder, rows), "eq")).result
        blocks = Block(), Block()
        builder.insert(scf.IfOp(is_such, (), Region(blocks[0]), Region(blocks[1])))
        such, fewer = (Builder(InsertPoint.at_end(block)) for block in blocks)
        tile(such, rows)
        self._of_rows(fewer, own, rows - 1, tile)
        end_iteration(such)
        end_iteration(fewer)


def _divides(step: int, size: int) -> bool:
    try:
        return size % step == 0
    except UnknownSize:
        return False


def number_of_tiles(builder: Builder, counters: Counters, size: OpenSize, step: int) -> int:
    """Return how many tiles an open dimension has, the last one of fewer points, as a name."""
    if step == 1:
        return size
    tiles = _tiles(builder, counters, size, step)
    name = SizeName(f"tiles of {step} in {size}", 0, -(-greatest(size) // step))
    counters.names = {**counters.names, name: tiles}
    return OpenSize.named(name)


def _tiles(builder: Builder, counters: Counters, size: OpenSize, step: int) -> SSAValue:
    points = size_index(builder, counters, size)
    more = constant_index(builder, step - 1)
    last = arithmetic(builder, arith.AddiOp, points, more)
    return arithmetic(builder, arith.DivUIOp, last, constant_index(builder, step))


def lies_in_rows(op: KernelOp, dim: int) -> bool:
    """Whether lanes along a dimension are side by side in each operand that depends on it: those
    that no point has can be left out of every access then."""
    lane = AffineExpr.dimension(dim)
    for value, map in zip((*op.inputs, op.target), op.maps, strict=True):
        axes = [axis for axis in map.results if dim in axis.used_dims()]
        if axes and (axes != [lane] or map.results[-1] != lane or strides_of(value)[-1] != 1):
            return False
    return True
