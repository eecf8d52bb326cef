"""The loops of one kernel: outer loops, rests of sizes that don't divide, register tiles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, VectorType, f64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.kernel_kind import divides_integers
from gawee_dialect.analysis.tile_product import tile_product
from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number
from gawee_dialect.dialect.kernels.schedule import Loop, Schedule
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    LANE,
    SCALAR,
    Access,
    Counters,
    IndexBuilder,
    Lanes,
    LinearIndex,
    counters_of,
    end_iteration,
    load_element,
    load_pair,
    store_element,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.lanes import (
    across_lanes,
    broadcast,
    neutral_number,
    run_region,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.matrix_tiles import MatrixTiles
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_tiles import (
    BuildTile,
    OpenLoop,
    RowLoop,
    TileLoop,
    allocate,
    lies_in_rows,
    number_of_tiles,
    open_loop,
    parallel_loop,
    with_last_iteration,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.prefetch import build_prefetch
from gawee_dialect.passes.buffers.lower_kernels_to_loops.sum_blocks import (
    blocks_of,
    steps_in_block,
    sums_in_blocks,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.turned_inputs import Turned, load_turned
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index
from gawee_dialect.upstream.arith import SelectOp, number_constant

EITHER_ZERO = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])
"""The extreme of zeros may be any of them: to distinguish them takes twice as long."""

FEW_VECTORS = 24
"""Accumulators of vectors, of what is left beside products of tiles."""

Inside = Callable[[Builder, "NestBox"], None]
"""Builds what is inside some loops."""

Visit = Callable[[Builder, Mapping[int, SSAValue]], None]
"""Builds what is done at some counters of a tile."""


@dataclass(frozen=True)
class NestBox:
    """Where a nest is: the first point of each dimension and how many points are left to visit."""

    first: tuple[LinearIndex, ...]
    extent: tuple[int, ...]
    lanes: SSAValue | None = None
    """How many lanes of the vector belong to points, where a run says it."""

    def moved(self, dim: int, by: LinearIndex, extent: int) -> "NestBox":
        """Go `by` points further along a dimension, to visit `extent` points there."""
        first, sizes = list(self.first), list(self.extent)
        first[dim] += by
        sizes[dim] = extent
        return NestBox(tuple(first), tuple(sizes), self.lanes)


def default_schedule(sizes: Sequence[int]) -> Schedule:
    """Return the order that a kernel is written in, one point after the other."""
    return Schedule(tuple(Loop(dim) for dim in range(len(sizes))))


def traps(op: KernelOp) -> bool:
    """Whether a kernel divides integers, which idle lanes, being zero, must not."""
    return any(map(divides_integers, op.regions))


@dataclass
class LoopNest:
    """Builds the loops of one kernel on buffers."""

    op: KernelOp
    counters: Counters = field(init=False)

    def __post_init__(self) -> None:
        self.counters = counters_of(self.op)
        attribute = self.op.schedule
        schedule = default_schedule(self.op.sizes) if attribute is None else attribute.data
        self.parallel = schedule.parallel
        split = sum(loop.dim < self.op.num_parallel for loop in schedule.loops)
        self.outer, self.reducing = schedule.loops[:split], schedule.loops[split:]
        self.around_tiles = self.reducing
        """The loops over reductions around a product of tiles."""
        self.tiles = schedule.tiles
        depth = schedule.depth(self.op.sizes, self.op.num_parallel)
        self.pair = schedule.pair(self.op.num_parallel)
        """The reduction of which a step of vectors takes two neighbours."""
        if depth is not None:
            product = tile_product(self.op)
            step = 1 if product is None else product.in_word
            self.pair = depth if step > 1 else None
            self.reducing = (*self.reducing, Loop(depth, step))
        vector = schedule.vector
        self.vector_dim = None if vector is None else vector.dim
        self.lanes = 1 if vector is None else vector.step
        self.counters.lanes = self.lanes

    # Loops over parallel dimensions.

    def build(self, builder: Builder) -> None:
        """Insert the whole nest."""
        if 0 in self.op.sizes:
            return
        start = NestBox((LinearIndex(),) * len(self.op.sizes), self.op.sizes)
        if self.parallel:
            self._build_threads(builder, start)
        else:
            self._build_loops(builder, self.outer, start, self._build_tile)

    def _build_threads(self, builder: Builder, place: NestBox) -> None:
        """One parallel loop over the points of all the parallel loops."""
        parallel = self._shared()
        loops, rest = self.outer[:parallel], self.outer[parallel:]
        counts: list[int] = []
        extent = list(place.extent)
        for loop in loops:
            size = extent[loop.dim]
            if isinstance(size, OpenSize):
                counts.append(number_of_tiles(builder, self.counters, size, loop.step))
                extent[loop.dim] = loop.step
            else:
                counts.append(-(-size // loop.step))
                extent[loop.dim] = min(loop.step, size)

        def tile(inner: Builder, at: NestBox) -> None:
            self._build_loops(inner, rest, at, self._build_tile)

        def enter(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            self._enter(inner, list(zip(loops, counts, indices, strict=True)), place, tile)

        parallel_loop(builder, self.counters, counts, enter)

    def _shared(self) -> int:
        """Return how many of the outermost loops threads share: one over each open dimension."""
        for number, loop in enumerate(self.outer[: self.parallel]):
            before = [each.dim for each in self.outer[:number]]
            if loop.dim in before and isinstance(self.op.sizes[loop.dim], OpenSize):
                return number
        return self.parallel

    def _enter(
        self,
        builder: Builder,
        loops: Sequence[tuple[Loop, int, LinearIndex]],
        place: NestBox,
        inside: Inside,
    ) -> None:
        """Go to one iteration of each loop."""
        if not loops:
            inside(builder, place)
            return
        (loop, count, index), *rest = loops

        def go_on(inner: Builder, at: NestBox) -> None:
            self._enter(inner, rest, at, inside)

        size = place.extent[loop.dim]
        if isinstance(size, OpenSize):
            tile = self._tiles(loop, place, go_on)
            self._open_loop(loop, place, go_on).build_one(builder, size, index, tile)
            return
        own = -(-size // loop.step)
        if own == count:
            self._visit(builder, loop, count, index, place, go_on)
            return
        # In the rest of an outer loop over the same dimension there are fewer iterations.
        number = IndexBuilder(builder, self.counters).value(index)
        is_there = builder.insert(arith.CmpiOp(number, constant_index(builder, own), "ult")).result
        body = Block()
        builder.insert(scf.IfOp(is_there, (), Region(body)))
        inner = Builder(InsertPoint.at_end(body))
        at = LinearIndex() if own == 1 else index
        self._visit(inner, loop, own, at, place, go_on)
        end_iteration(inner)

    def _build_loops(
        self, builder: Builder, loops: Sequence[Loop], place: NestBox, inside: Inside
    ) -> None:
        if not loops:
            inside(builder, place)
            return
        loop, *rest = loops

        def go_on(inner: Builder, at: NestBox) -> None:
            self._build_loops(inner, rest, at, inside)

        size = place.extent[loop.dim]
        if isinstance(size, OpenSize):
            tile = self._tiles(loop, place, go_on)
            self._open_loop(loop, place, go_on).build(builder, size, tile)
            return
        count = -(-size // loop.step)
        if count == 1:
            go_on(builder, place)
            return
        # Around a register tile LLVM would unroll on its own account, and run out of registers; the
        # innermost loop of what is not a vector is for what takes longer to compile than to run.
        innermost = not rest and self.vector_dim is None and not self.reducing
        rolled = innermost or loop.dim >= self.op.num_parallel
        unroll = False if rolled else None
        inner, counter = open_loop(builder, self.counters, count, f"d{loop.dim}", unroll=unroll)
        self._visit(inner, loop, count, LinearIndex(terms={counter: 1}), place, go_on)
        end_iteration(inner)

    def _visit(
        self,
        builder: Builder,
        loop: Loop,
        count: int,
        index: LinearIndex,
        place: NestBox,
        inside: Inside,
    ) -> None:
        """Build one iteration of a loop; the last one may have fewer points."""
        by, step = index.scaled(loop.step), min(loop.step, place.extent[loop.dim])
        rest = place.extent[loop.dim] % loop.step or step

        def body(inner: Builder, extent: int) -> None:
            inside(inner, place.moved(loop.dim, by, extent))

        with_last_iteration(builder, self.counters, index, count, (rest, step), body)

    # Loops over dimensions whose sizes are open.

    def _open_loop(self, loop: Loop, place: NestBox, inside: Inside) -> TileLoop:
        loops = (*self.outer, *self.reducing)
        steps = {each.step for each in loops if each.dim == loop.dim}
        name, is_vector = f"d{loop.dim}", loop.dim == self.vector_dim
        if len(steps) == 1 < loop.step and not is_vector and self.op.initial is not None:
            return RowLoop(self.counters, name, loop.step)
        steps.add(self.lanes if is_vector else 1)
        smaller = sorted({each for each in steps if each < loop.step}, reverse=True)
        if not is_vector or traps(self.op) or not lies_in_rows(self.op, loop.dim):
            return OpenLoop(self.counters, name, [*dict.fromkeys((loop.step, *smaller, 1))])

        def rest(builder: Builder, first: LinearIndex, number: SSAValue) -> None:
            at = place.moved(loop.dim, first, self.lanes)
            inside(builder, replace(at, lanes=number))

        return OpenLoop(self.counters, name, [loop.step, *smaller], rest)

    def _tiles(self, loop: Loop, place: NestBox, inside: Inside) -> BuildTile:
        """Return what builds a tile of an open dimension: from where on, and of how many points."""

        def tile(builder: Builder, first: LinearIndex, points: int) -> None:
            inside(builder, place.moved(loop.dim, first, points))

        return tile

    # A register tile.

    def _build_tile(self, builder: Builder, place: NestBox) -> None:
        """Build a tile in whole vectors, then what is left of a vector."""
        dim = self.vector_dim
        if dim is None or dim >= self.op.num_parallel:
            self._tile(builder, place, SCALAR)
            return
        if place.lanes is not None:
            self._tile(builder, place, Lanes(self.lanes, self.lanes, place.lanes))
            return
        whole = place.extent[dim] // self.lanes * self.lanes
        rest = place.extent[dim] - whole
        if whole:
            at = place.moved(dim, LinearIndex(), whole)
            self._tile(builder, at, Lanes(self.lanes, self.lanes))
        if rest:
            at = place.moved(dim, LinearIndex(whole), rest)
            is_point = isinstance(self.op.sizes[dim], OpenSize) and place.extent[dim] == 1
            is_scalar = is_point or traps(self.op)
            self._tile(builder, at, SCALAR if is_scalar else Lanes(self.lanes, rest))

    def _tile(self, builder: Builder, place: NestBox, lanes: Lanes) -> None:
        """Build a register tile; what is no product of tiles where others are, as few rows each."""
        if self.tiles is None:
            RegisterTile(self, place, lanes).build(builder)
            return
        tiles = MatrixTiles.of(
            self.op, self.counters, self.around_tiles, lanes, place.first, place.extent
        )
        if tiles is not None:
            RegisterTile(self, place, lanes, tiles).build(builder)
            return
        dim, extent = self.tiles.dim, place.extent[self.tiles.dim]
        size = prod(place.extent[: self.op.num_parallel]) // extent
        few = max(1, FEW_VECTORS * lanes.count // max(size, lanes.count))
        for begin in range(0, extent, few):
            rest = min(few, extent - begin)
            RegisterTile(self, place.moved(dim, LinearIndex(begin), rest), lanes).build(builder)

    def access(
        self, builder: Builder, operand: int, dims: Sequence[LinearIndex], lanes: Lanes
    ) -> Access:
        """Return where an operand is at a point; the last is the output."""
        value = (*self.op.inputs, self.op.target)[operand]
        indices = IndexBuilder(builder, self.counters)
        return Access(builder, value, self.op.maps[operand], dims, indices, lanes)

    def build_reductions(self, builder: Builder, place: NestBox, inside: Inside) -> None:
        """Build the loops over what is reduced."""
        self._build_loops(builder, self.reducing, place, inside)

    def build_blocks(self, builder: Builder, place: NestBox, block: Inside, inside: Inside) -> None:
        """Build the loops over what is reduced in blocks: `block` is run behind each."""
        around, within = blocks_of(self.reducing, place.extent, steps_in_block(self.op))

        def build_block(inner: Builder, at: NestBox) -> None:
            self._build_loops(inner, within, at, inside)
            block(inner, at)

        self._build_loops(builder, around, place, build_block)


@dataclass
class RegisterTile:
    """The points whose accumulators are in registers at one time."""

    nest: LoopNest
    place: NestBox
    lanes: Lanes
    tiles: MatrixTiles | None = None

    def __post_init__(self) -> None:
        self.op = self.nest.op
        reduces = self.op.initial is not None
        dim = self.nest.vector_dim
        self.reduced_lanes = self.nest.lanes if dim is not None and reduces else 1
        if dim is None or dim < self.op.num_parallel:
            self.reduced_lanes = 1
        parallel = range(self.op.num_parallel)
        counts = {d: self.place.extent[d] for d in parallel if self.place.extent[d] > 1}
        if dim in counts and self.lanes.count > 1:
            counts[dim] = -(-counts[dim] // self.lanes.count)
        # What an inner loop reads has to stay in registers for all of the outer one's iterations.
        order = sorted(counts, key=lambda d: (-counts[d], d == dim))
        self.counts = {d: counts[d] for d in order if counts[d] > 1}
        self.chains = self._reduced_vectors() if self.reduced_lanes > 1 else 1
        self.accumulators: SSAValue | None = None
        self.totals: SSAValue | None = None
        self.turned: Mapping[int, Turned] = {}

    def _reduced_vectors(self) -> int:
        """Return how many vectors along the reduction have an accumulator of their own."""
        schedule, dim = self.op.schedule, self.nest.vector_dim
        assert schedule is not None
        assert dim is not None
        return -(-schedule.data.tile(self.op.sizes)[dim] // self.reduced_lanes)

    def build(self, builder: Builder) -> None:
        """Start, accumulate and finish all points of the tile."""
        if self.op.initial is None:
            self.turned = self._turn_inputs(builder)
        if self.tiles is not None:
            self.accumulators = self.tiles.build(builder)
        elif sums_in_blocks(self.op):
            self._sum_in_blocks(builder)
        elif self.op.initial is not None:
            self.accumulators = self._allocate(builder, self.op.initial.get_type(), "accumulators")
            self._start(builder, self.accumulators, self._initial())
            self.nest.build_reductions(builder, self.place, self._accumulate)
        self._finish(builder)

    def _turn_inputs(self, builder: Builder) -> Mapping[int, Turned]:
        """Load inputs whose lanes are apart, where the tile has a square of them."""
        dim, lanes = self.nest.vector_dim, self.lanes
        squares = [each for each, count in self.counts.items() if count == lanes.count]
        if dim is None or lanes.partial or lanes.count == 1 or dim in self.counts:
            return {}
        found: dict[int, Turned] = {}
        for other in squares:
            for index in range(len(self.op.inputs)):
                if index in found or not self.op.finish.block.args[index].uses:
                    continue
                turned = load_turned(
                    builder, self.op, index, self.place.first, (dim, other), lanes, self.nest.access
                )
                if turned is not None:
                    found[index] = turned
        return found

    def _sum_in_blocks(self, builder: Builder) -> None:
        """Accumulate blocks of a long sum, and add each to a total in f64."""
        initial = self._initial()
        assert isinstance(initial, FloatAttr)
        nothing = FloatAttr(0.0, initial.type)
        self.totals = self._allocate(builder, f64, "totals")
        self.accumulators = self._allocate(builder, initial.type, "accumulators")
        self._start(builder, self.totals, FloatAttr(initial.value.data, f64))
        self._start(builder, self.accumulators, nothing)

        def end_block(inner: Builder, place: NestBox) -> None:
            self._points(inner, self._add_block, self.chains)
            self._start(inner, self.accumulators, nothing)

        self.nest.build_blocks(builder, self.place, end_block, self._accumulate)

    def _points(
        self,
        builder: Builder,
        visit: Visit,
        chains: int = 1,
    ) -> None:
        """Build unrolled loops over the tile, and over the first of the vectors that it reduces."""
        counts = dict(self.counts)
        if chains > 1 and self.nest.vector_dim is not None:
            counts[self.nest.vector_dim] = chains
        self._loops(builder, counts, visit)

    def _loops(
        self,
        builder: Builder,
        counts: Mapping[int, int],
        visit: Visit,
        before: Visit = lambda builder, counters: None,
        *,
        rolled: bool = False,
    ) -> None:
        """Build loops of some counts, with `before` in front of each, and `visit` in the last.

        Loops that are `rolled`, but for that over vectors, are for what is in no registers.
        """
        counters: dict[int, SSAValue] = {}
        opened: list[Builder] = []
        for dim, count in counts.items():
            before(builder, counters)
            unroll = not rolled or dim == self.nest.vector_dim
            builder, counters[dim] = open_loop(
                builder, self.nest.counters, count, f"t{dim}", unroll=unroll
            )
            opened.append(builder)
        visit(builder, counters)
        for inner in reversed(opened):
            end_iteration(inner)

    # Accumulators.

    def _allocate(self, builder: Builder, type: Attribute, name: str) -> SSAValue:
        """Make an array of one number, or one vector, for each point of the tile."""
        shape = [*self.counts.values(), *([self.chains] if self.chains > 1 else [])]
        return allocate(builder, self.op, self._width.type(type), shape, name)

    @property
    def _width(self) -> Lanes:
        """The lanes of an accumulator."""
        lanes = self.reduced_lanes
        return self.lanes if lanes == 1 else Lanes(lanes, lanes)

    def _slot(
        self,
        builder: Builder,
        buffer: SSAValue | None,
        counters: Mapping[int, SSAValue],
        chain: int = 0,
    ) -> tuple[SSAValue, list[SSAValue]]:
        """Return where a point's accumulator is; `chain` is its vector where no counter says so."""
        assert buffer is not None
        place = [counters[dim] for dim in self.counts]
        if self.chains > 1:
            assert self.nest.vector_dim is not None
            counter = counters.get(self.nest.vector_dim)
            place.append(constant_index(builder, chain) if counter is None else counter)
        return buffer, place

    def _initial(self) -> Number:
        """Return what accumulators start from; the initial value counts once, not in each lane."""
        initial = self.op.initial
        assert initial is not None
        return initial if self.reduced_lanes == 1 else neutral_number(self.op)

    def _start(self, builder: Builder, buffer: SSAValue | None, number: Number) -> None:
        value = builder.insert(number_constant(number)).result
        start = broadcast(builder, value, self._width.count)

        def visit(inner: Builder, counters: Mapping[int, SSAValue]) -> None:
            store_element(inner, start, *self._slot(inner, buffer, counters))

        self._points(builder, visit, self.chains)

    def _add_block(self, builder: Builder, counters: Mapping[int, SSAValue]) -> None:
        """Add the sum of a block to the total of a point."""
        place = self._slot(builder, self.totals, counters)
        source = self._slot(builder, self.accumulators, counters)
        block = load_element(builder, *source)
        before = load_element(builder, *place)
        wide = builder.insert(arith.ExtFOp(block, self._width.type(f64))).result
        after = builder.insert(arith.AddfOp(before, wide)).result
        store_element(builder, after, *place)

    def _result(self, builder: Builder, counters: Mapping[int, SSAValue]) -> SSAValue:
        """Return what a point has accumulated, of the accumulator's type."""
        type = self.op.accumulator_type
        assert type is not None
        if self.tiles is not None and self.accumulators is not None:
            return self.tiles.result(builder, self.accumulators, counters)
        buffer = self.accumulators if self.totals is None else self.totals
        slots = [self._slot(builder, buffer, counters, chain) for chain in range(self.chains)]
        results = [load_element(builder, *slot) for slot in slots]
        result = results[0]
        if self.reduced_lanes > 1:
            result = across_lanes(builder, self.op, results)
        if self.totals is None:
            return result
        lanes = 1 if self.reduced_lanes > 1 else self._width.count
        narrow = type if lanes == 1 else VectorType(type, [lanes])
        return builder.insert(arith.TruncFOp(result, narrow)).result

    def _dims(self, place: NestBox, counters: Mapping[int, SSAValue]) -> list[LinearIndex]:
        dims = list(place.first)
        for dim, counter in counters.items():
            step = self._lanes_apart if dim == self.nest.vector_dim else 1
            dims[dim] += LinearIndex(terms={counter: step})
        return dims

    @property
    def _lanes_apart(self) -> int:
        """Points from one vector of the tile to the next."""
        return max(self.lanes.count, self.reduced_lanes)

    def _with_lanes(self, dims: list[LinearIndex], lanes: Lanes) -> list[LinearIndex]:
        if lanes.count > 1 and self.nest.vector_dim is not None:
            dims[self.nest.vector_dim] += LANE
        return dims

    def _accumulate(self, builder: Builder, place: NestBox) -> None:
        """Build one step of the reduction for every point of the tile."""
        build_prefetch(builder, self.op, self.nest.counters, place.first, place.extent)
        dim, count = self.nest.vector_dim, self.reduced_lanes
        if count == 1 or dim is None:
            self._accumulate_vectors(builder, place, self.lanes)
            return
        if place.lanes is not None:
            self._accumulate_vectors(builder, place, Lanes(count, count, place.lanes))
            return
        whole, rest = divmod(place.extent[dim], count)
        if whole:
            self._accumulate_vectors(builder, place, Lanes(count, count), vectors=whole)
        if rest:
            at = place.moved(dim, LinearIndex(whole * count), rest)
            self._accumulate_vectors(builder, at, Lanes(count, rest), first=whole)

    def _accumulate_vectors(
        self, builder: Builder, place: NestBox, lanes: Lanes, *, first: int = 0, vectors: int = 1
    ) -> None:
        """Add vectors along the reduction, from the first one's accumulator on, to every point."""

        def visit(inner: Builder, counters: Mapping[int, SSAValue]) -> None:
            dims = self._with_lanes(self._dims(place, counters), lanes)
            buffer, slot = self._slot(inner, self.accumulators, counters, first)
            total = load_element(inner, buffer, slot)
            for arguments in self._load_steps(inner, dims, place, lanes):
                arguments[self.op.accumulate.block.args[-1]] = total
                total = self._added(inner, arguments, total, lanes)
            store_element(inner, total, buffer, slot)

        self._points(builder, visit, vectors)

    def _added(
        self,
        builder: Builder,
        arguments: Mapping[SSAValue, SSAValue],
        before: SSAValue,
        lanes: Lanes,
    ) -> SSAValue:
        """Insert what accumulates a point, whose arguments have what was there before."""
        after = run_region(builder, self.op.accumulate, arguments, lanes.count)
        if isinstance(after.owner, arith.MaximumfOp | arith.MinimumfOp):
            after.owner.fastmath = EITHER_ZERO
        after = broadcast(builder, after, lanes.count)
        if lanes.partial and self.reduced_lanes > 1:
            after = builder.insert(SelectOp(lanes.mask(builder), after, before)).result
        return after

    def _load_steps(
        self, builder: Builder, dims: Sequence[LinearIndex], place: NestBox, lanes: Lanes
    ) -> Sequence[dict[SSAValue, SSAValue]]:
        """Load what is accumulated in a step: of one point, or of two along a reduction.

        The second of them comes first, as it does in the instruction that adds up two products.
        """
        pair, region = self.nest.pair, self.op.accumulate
        if pair is None or place.extent[pair] == 1:
            return [self._load(builder, region, dims, lanes)]
        found: tuple[dict[SSAValue, SSAValue], ...] = {}, {}
        behind = [at + LinearIndex(int(dim == pair)) for dim, at in enumerate(dims)]
        for index, argument in enumerate(region.block.args[: len(self.op.inputs)]):
            if argument.uses:
                first, second = (
                    self.nest.access(builder, index, each, lanes) for each in (dims, behind)
                )
                for values, value in zip(found, load_pair(first, second), strict=True):
                    values[argument] = value
        return found[::-1]

    def _load(
        self, builder: Builder, region: Region, dims: Sequence[LinearIndex], lanes: Lanes
    ) -> dict[SSAValue, SSAValue]:
        """Load the inputs that a region uses."""
        return {
            argument: self.nest.access(builder, index, dims, lanes).load()
            for index, argument in enumerate(region.block.args[: len(self.op.inputs)])
            if argument.uses and index not in self.turned
        }

    def _finish(self, builder: Builder) -> None:
        """Build what is done to each point at the end.

        What fewer points read, such as a bias, is loaded in front of the loops that it does not
        depend on. They come last.
        """
        region = self.op.finish
        read = {
            index: self._counted_dims(index)
            for index, argument in enumerate(region.block.args[: len(self.op.inputs)])
            if argument.uses and index not in self.turned
        }
        counts = self.counts
        if self.tiles is None:
            order = sorted(counts, key=lambda dim: sum(dim not in dims for dims in read.values()))
            counts = {dim: counts[dim] for dim in order}
        arguments: dict[SSAValue, SSAValue] = {}

        def load(inner: Builder, counters: Mapping[int, SSAValue]) -> None:
            at = self._with_lanes(self._dims(self.place, counters), self.lanes)
            for index in [index for index, dims in read.items() if dims <= counters.keys()]:
                del read[index]
                argument = region.block.args[index]
                arguments[argument] = self.nest.access(inner, index, at, self.lanes).load()

        def finish(inner: Builder, counters: Mapping[int, SSAValue]) -> None:
            load(inner, counters)
            self._finish_point(inner, counters, arguments)

        self._loops(builder, counts, finish, load, rolled=self.tiles is not None)

    def _counted_dims(self, index: int) -> set[int]:
        """Return which dims with a loop over the tile an input depends on."""
        return self.counts.keys() & used_dims(self.op.maps[index])

    def _finish_point(
        self,
        builder: Builder,
        counters: Mapping[int, SSAValue],
        arguments: dict[SSAValue, SSAValue],
    ) -> None:
        lanes, region = self.lanes, self.op.finish
        for index, turned in self.turned.items():
            arguments[region.block.args[index]] = turned.load(builder, counters)
        if self.accumulators is not None:
            arguments[region.block.args[-1]] = self._result(builder, counters)
        result = run_region(builder, region, arguments, lanes.count)
        result = broadcast(builder, result, lanes.count)
        dims = self._with_lanes(self._dims(self.place, counters), lanes)
        self.nest.access(builder, len(self.op.inputs), dims, lanes).store(result)
