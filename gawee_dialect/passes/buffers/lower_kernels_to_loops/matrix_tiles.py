"""Products of tiles: registers that hold 16 rows of 16 sums, or of 64 bytes of factors.

a register tile of 32 rows by 2 vectors, a step of 16 words:
  two tiles of one factor, a row of it each; two of the other, a row for each word
  four tiles of sums, which the loops over reductions carry
then the sums are in an array, and finished as vectors
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from xdsl.builder import Builder
from xdsl.dialects import scf, vector
from xdsl.dialects.builtin import IndexType, VectorType, f32, i8, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.tile_product import points_together, tile_product
from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number
from gawee_dialect.dialect.kernels.schedule import Loop
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    LANE,
    SCALAR,
    Access,
    Counters,
    IndexBuilder,
    Lanes,
    LinearIndex,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.lanes import broadcast
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_tiles import ROLLED, UNROLL, allocate
from gawee_dialect.passes.buffers.lower_kernels_to_loops.prefetch import build_prefetch
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index
from gawee_dialect.passes.buffers.lower_linalg_to_loops.loop_order import strides_of
from gawee_dialect.upstream.amx import (
    TileLoadOp,
    TileMulFOp,
    TileMulIOp,
    TileStoreOp,
    TileType,
    tile_of,
)
from gawee_dialect.upstream.arith import number_constant


@dataclass(frozen=True)
class Factor:
    """A factor of a product: which input it is, and how far apart its neighbours are."""

    index: int
    apart: int
    """Elements from one row of a tile to the next."""


Start = Mapping[int, int]
"""How far the first point of a tile is from that of the register tile, along each dimension."""


@dataclass(frozen=True)
class TileRows:
    """Which points of a register tile are the rows of its tiles, and where they are in the sums.

    A tile may have all points along the dimension for several ones of another, `pitch` rows
    further each. What is between them, as around padded rows of a picture, is computed in vain.
    """

    dim: int
    step: int
    """Points of a tile along the dimension."""
    other: int | None = None
    pitch: int = 0
    together: int = 1
    """Points of a tile along the other dimension."""

    @property
    def height(self) -> int:
        """How many rows a tile has."""
        return (self.together - 1) * self.pitch + self.step

    @property
    def points(self) -> Mapping[int, int]:
        """How many points a tile has along its dimensions."""
        own = {self.dim: self.step}
        return own if self.other is None else {**own, self.other: self.together}

    def starts(self, dim: int, extent: int) -> Sequence[int]:
        """Return where tiles begin along a dimension.

        The last one has points of the tile before where the step does not divide them.
        """
        step = self.points.get(dim, 1)
        return [*range(0, extent - step, step), extent - step]

    def row(self, start: Start) -> int:
        """Return how many rows behind that of the register tile's first point a point is."""
        further = 0 if self.other is None else start.get(self.other, 0) * self.pitch
        return start.get(self.dim, 0) + further


@dataclass
class MatrixTiles:
    """The tiles of one register tile."""

    op: KernelOp
    counters: Counters
    loops: Sequence[Loop]
    """The loops over reductions."""
    depth: int
    """The reduction of which each step takes neighbours."""
    tiles: Loop
    vector: Loop
    first: Sequence[LinearIndex]
    extent: Sequence[int]
    down: Factor = field(init=False)
    """The factor that has a row for each row of sums."""
    across: Factor = field(init=False)
    """The one that has a number for each column of sums."""
    rows: TileRows = field(init=False)
    outer: Sequence[int] = field(init=False)
    """The other dimensions along which there are several tiles."""
    starts: Sequence[Start] = field(init=False)
    """Where each tile begins, for each vector."""
    above: int = field(init=False)
    """The first row of the sums, which may be before that of the register tile's first point."""

    def __post_init__(self) -> None:
        found = tile_product(self.op)
        assert found is not None
        self.product = found
        self.vectors = -(-self.extent[self.vector.dim] // self.vector.step)

    @staticmethod
    def of(
        op: KernelOp,
        counters: Counters,
        loops: Sequence[Loop],
        lanes: Lanes,
        first: Sequence[LinearIndex],
        extent: Sequence[int],
    ) -> "MatrixTiles | None":
        """Return the tiles of a register tile; None where the schedule has none, or none fit."""
        schedule = None if op.schedule is None else op.schedule.data
        if schedule is None or schedule.tiles is None or schedule.vector is None:
            return None
        depth = schedule.depth(op.sizes, op.num_parallel)
        is_open = any(isinstance(size, OpenSize) for size in (*extent, *op.sizes))
        if depth is None or not lanes.is_whole or is_open:
            return None
        product, deep = tile_product(op), schedule.tile(op.sizes)[depth]
        if product is None or deep > product.most or deep % product.in_word:
            return None
        sizes = list(extent)
        for dim, step in loops:
            if sizes[dim] % step:
                return None
            sizes[dim] = step
        tiles = MatrixTiles(
            op, counters, loops, depth, schedule.tiles, schedule.vector, first, extent
        )
        return tiles if tiles._find(schedule.tile(op.sizes)) else None

    def build(self, builder: Builder) -> SSAValue:
        """Insert all steps of the reductions; return the array of their sums."""
        start = self._zeros(builder)
        sums = self._reduced(builder, self.loops, list(self.first), list(self.extent), start)
        counts = [self.extent[dim] for dim in self.outer]
        rows = max(map(self.rows.row, self.starts)) - self.above + self.rows.height
        shape = [self.vectors, *counts, rows, self.vector.step]
        array = allocate(builder, self.op, self._sum_type, shape, "sums")
        at = ((number, start) for number in range(self.vectors) for start in self.starts)
        for value, (number, start) in zip(sums, at, strict=True):
            outer = [start[dim] for dim in self.outer]
            place = [number, *outer, self.rows.row(start) - self.above, 0]
            indices = [constant_index(builder, each) for each in place]
            builder.insert(TileStoreOp(array, indices, value))
        return array

    def _zeros(self, builder: Builder) -> Sequence[SSAValue]:
        """Return a tile of zeros for each sum: of one row of zeros, again and again.

        LLVM makes one tile of what is the same, and copies it by way of memory: that takes three
        times as long. So each has a row of its own.
        """
        type = TileType.of(self.rows.height, self.vector.step, self._sum_type)
        count = self.vectors * len(self.starts)
        shape = [count, self.vector.step]
        array = allocate(builder, self.op, self._sum_type, shape, "zeros")
        zero = builder.insert(number_constant(self._initial)).result
        row, first = broadcast(builder, zero, self.vector.step), constant_index(builder, 0)
        tiles: list[SSAValue] = []
        for number in range(count):
            place = [constant_index(builder, number), first]
            builder.insert(vector.StoreOp(row, array, place))
            tiles.append(builder.insert(TileLoadOp(array, place, type, first)).res)
        return tiles

    def result(
        self, builder: Builder, array: SSAValue, counters: Mapping[int, SSAValue]
    ) -> SSAValue:
        """Insert the load of a vector of sums."""
        zero = constant_index(builder, 0)
        row = LinearIndex(-self.above)
        for dim, apart in ((self.rows.dim, 1), (self.rows.other, self.rows.pitch)):
            if dim is not None and dim in counters:
                row += LinearIndex(terms={counters[dim]: apart})
        dims = (self.vector.dim, *self.outer)
        place = [*(counters.get(dim, zero) for dim in dims)]
        place += [IndexBuilder(builder, self.counters).value(row), zero]
        type = VectorType(self._sum_type, [self.vector.step])
        return builder.insert(vector.LoadOp(array, place, type)).result

    @property
    def _sum_type(self) -> Attribute:
        return i32 if self.product.element == i8 else f32

    @property
    def _initial(self) -> Number:
        initial = self.op.initial
        assert initial is not None
        return initial

    # Where the factors are.

    def _find(self, tile: Sequence[int]) -> bool:
        """Find the factors, and which points are rows; return whether loads take tiles of them."""
        layout, sizes = self._layout()
        factors = self._factors(layout, sizes)
        if factors is None:
            return False
        self.down, self.across = factors
        self.rows = self._rows(layout, tile)
        within = self.rows.points
        parallel = range(self.op.num_parallel)
        dims = [dim for dim in parallel if dim != self.vector.dim]
        self.outer = [dim for dim in dims if dim not in within and self.extent[dim] > 1]
        around = [dim for dim in dims if dim in within or dim in self.outer]
        starts = product(*(self.rows.starts(dim, self.extent[dim]) for dim in around))
        self.starts = [dict(zip(around, each, strict=True)) for each in starts]
        self.above = min(map(self.rows.row, self.starts))
        # What is left of a dimension lies behind a whole tile.
        return all(tile[dim] >= count for dim, count in within.items())

    def _layout(self) -> "tuple[_Layout, Sequence[int]]":
        """Return where inputs are at the first step, and how many points a step has."""
        block = Block(arg_types=[IndexType()] * len(self.loops))
        counters = replace(self.counters, trip_counts=dict(self.counters.trip_counts))
        at, sizes = list(self.first), list(self.extent)
        for loop, counter in zip(self.loops, block.args, strict=True):
            counters.trip_counts[counter] = -(-sizes[loop.dim] // loop.step)
            at[loop.dim] += LinearIndex(terms={counter: min(loop.step, sizes[loop.dim])})
            sizes[loop.dim] = min(loop.step, sizes[loop.dim])
        return _Layout(self.op, counters, at), sizes

    def _factors(self, layout: "_Layout", sizes: Sequence[int]) -> tuple[Factor, Factor] | None:
        """Return the factor that has a row for each row of sums, and the one for each column.

        None where one of them does not lie so that a load takes a tile of it.
        """
        word, deep = self.product.in_word, sizes[self.depth]
        count = min(self.tiles.step, self.op.sizes[self.tiles.dim])
        for down, across in (self.product.inputs, self.product.inputs[::-1]):
            apart = layout.step(down, self.tiles.dim, 1, count)
            below = layout.step(across, self.depth, word, deep // word)
            beside = (
                layout.step(down, self.depth, 1, deep) == 1
                and layout.step(across, self.vector.dim, 1, self.vector.step) == word
                and (word == 1 or layout.step(across, self.depth, 1, word) == 1)
                and self.vector.dim not in used_dims(self.op.maps[down])
                and self.tiles.dim not in used_dims(self.op.maps[across])
            )
            if beside and apart is not None and below is not None:
                return Factor(down, apart), Factor(across, below)
        return None

    def _rows(self, layout: "_Layout", tile: Sequence[int]) -> TileRows:
        """Return which points the rows are: of several rows of a picture, where these are short."""
        dim, step = self.tiles
        size = self.op.sizes[dim]
        if step <= size:
            return TileRows(dim, step)
        others = [
            each
            for each in range(self.op.num_parallel)
            if each not in (dim, self.vector.dim) and tile[each] > 1
        ]
        if len(others) == 1 and others[0] not in used_dims(self.op.maps[self.across.index]):
            (other,) = others
            further = layout.step(self.down.index, other, 1, self.op.sizes[other])
            together = points_together(size, step, self.down.apart, further)
            if together > 1 and further is not None:
                pitch = further // self.down.apart
                return TileRows(dim, size, other, pitch, min(together, tile[other]))
        return TileRows(dim, size)

    # The steps of the reductions.

    def _reduced(
        self,
        builder: Builder,
        loops: Sequence[Loop],
        first: list[LinearIndex],
        extent: list[int],
        sums: Sequence[SSAValue],
    ) -> Sequence[SSAValue]:
        """Insert loops over reductions, which carry the sums; return what they have at the end."""
        if not loops:
            return self._multiplied(builder, first, extent, sums)
        (dim, step), *rest = loops
        count, left = divmod(extent[dim], step)
        assert not left, "steps over what is reduced divide it"
        extent = [*extent[:dim], step, *extent[dim + 1 :]]
        if count == 1:
            return self._reduced(builder, rest, first, extent, sums)
        body = Block(arg_types=[IndexType(), *(each.type for each in sums)])
        counter, *carried = body.args
        counter.name_hint = f"d{dim}"
        self.counters.trip_counts[counter] = count
        lower, upper, one = (constant_index(builder, each) for each in (0, count, 1))
        loop = builder.insert(scf.ForOp(lower, upper, one, sums, body))
        loop.attributes[UNROLL] = ROLLED
        inner = Builder(InsertPoint.at_end(body))
        at = list(first)
        at[dim] += LinearIndex(terms={counter: step})
        inner.insert(scf.YieldOp(*self._reduced(inner, rest, at, extent, carried)))
        return loop.results

    def _multiplied(
        self,
        builder: Builder,
        first: list[LinearIndex],
        extent: list[int],
        sums: Sequence[SSAValue],
    ) -> Sequence[SSAValue]:
        """Insert one step: load the tiles of both factors, and add their products.

        The tiles of the factor that has fewer stay; each of the other's is loaded when it is used.
        """
        build_prefetch(builder, self.op, self.counters, first, extent)
        result, deep, numbers = list(sums), extent[self.depth], self.product.numbers
        word = self.product.in_word

        def row_tile(start: Start) -> SSAValue:
            at = list(first)
            for dim, offset in start.items():
                at[dim] += LinearIndex(offset)
            type = TileType.of(self.rows.height, deep * numbers, self.product.element)
            return self._loaded(builder, self.down, at, type)

        def column_tile(number: int) -> SSAValue:
            at = list(first)
            at[self.vector.dim] += LinearIndex(number * self.vector.step)
            columns = self.vector.step * word * numbers
            type = TileType.of(deep // word, columns, self.product.element)
            return self._loaded(builder, self.across, at, type)

        count = len(self.starts)
        if count <= self.vectors:
            held = [row_tile(start) for start in self.starts]
            for number in range(self.vectors):
                other = column_tile(number)
                for at, tile in enumerate(held, number * count):
                    result[at] = self._added(builder, tile, other, result[at])
            return result
        held = [column_tile(number) for number in range(self.vectors)]
        for row, start in enumerate(self.starts):
            other = row_tile(start)
            for number, tile in enumerate(held):
                at = number * count + row
                result[at] = self._added(builder, other, tile, result[at])
        return result

    def _loaded(
        self, builder: Builder, factor: Factor, at: Sequence[LinearIndex], type: TileType
    ) -> SSAValue:
        buffer = self.op.inputs[factor.index]
        indices = IndexBuilder(builder, self.counters)
        place = Access(builder, buffer, self.op.maps[factor.index], at, indices, SCALAR).at()
        strides = strides_of(buffer)
        as_it_lies = len(strides) > 1 and strides[-2] == factor.apart
        stride = None if as_it_lies else constant_index(builder, factor.apart)
        return builder.insert(TileLoadOp(buffer, place, type, stride)).res

    def _added(
        self, builder: Builder, rows: SSAValue, columns: SSAValue, total: SSAValue
    ) -> SSAValue:
        if tile_of(total).element_type == f32:
            return builder.insert(TileMulFOp(rows, columns, total)).res
        unsigned = self.down.index == self.product.inputs[0]
        made = TileMulIOp(rows, columns, total, unsigned_lhs=unsigned, unsigned_rhs=not unsigned)
        return builder.insert(made).res


@dataclass(frozen=True)
class _Layout:
    """Where the inputs of a kernel are around a point."""

    op: KernelOp
    counters: Counters
    first: Sequence[LinearIndex]

    def step(self, index: int, dim: int, by: int, count: int) -> int | None:
        """Return how far apart in memory `count` points are that go `by` along a dimension.

        None where that varies.
        """
        if count == 1:
            return by
        at = list(self.first)
        at[dim] += LANE.scaled(by)
        buffer, end = self.op.inputs[index], ReturnOp()
        draft = FuncOp("draft", ((), ()), Region(Block([end])))
        builder = Builder(InsertPoint.before(end))
        indices = IndexBuilder(builder, replace(self.counters, lanes=count))
        found = Access(builder, buffer, self.op.maps[index], at, indices, SCALAR).linear
        draft.erase()  # it divides indices, perhaps, that the kernel divides once more
        if found is None:
            return None
        return sum(
            place.lane * stride for place, stride in zip(found, strides_of(buffer), strict=True)
        )
