"""Lower Winograd's convolution to loops: transforms around one kernel of small matrix products."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith, math, memref, scf, vector
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    VectorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp, shape_of
from gawee_dialect.dialect.kernels.packed_products import WordProduct, insert_product
from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule
from gawee_dialect.dialect.kernels.winograd import KERNEL, PAIRS, WinogradOp
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    IndexBuilder,
    LinearIndex,
    load_element,
    load_row,
    store_element,
    store_row,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.lanes import broadcast
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_tiles import (
    allocate,
    loops,
    open_loop,
    parallel_loop,
    with_last_iteration,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.outside import fill_outside
from gawee_dialect.passes.buffers.lower_kernels_to_loops.prefetch import LINE, SECOND_CACHE
from gawee_dialect.passes.buffers.lower_winograd_to_loops.linear_transform import apply_matrix
from gawee_dialect.passes.buffers.lower_winograd_to_loops.tile_loops import TileLoops
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.bufferize.function import memref_type
from gawee_dialect.upstream.arith import arithmetic
from gawee_dialect.upstream.memref import PrefetchOp
from gawee_dialect.upstream.vector import zeros

# Products of a panel of 3x3 filters, which are transformed in registers while they are read.


BYTES = 4
"""Of a weight."""

Inside = Callable[[Builder, Sequence[LinearIndex]], None]
"""Builds what is inside of loops, of their counters."""


@dataclass
class FilterProducts:
    """Builds the products of all tiles with one panel of filters.

    Rows of points follow one another. Each goes over all channels: it makes its row of G g G^T of
    nine vectors, and multiplies it with the inputs of all tiles. The accumulators of a row fill the
    registers; the filters are read as often as there are rows, all but once from the second cache.
    """

    tiles: TileLoops
    panel: LinearIndex
    inputs: SSAValue
    """The transformed inputs: points, tiles, channels."""
    products: SSAValue
    """What is computed: points, tiles, channels of the panel."""

    def __post_init__(self) -> None:
        self.op = self.tiles.op
        self.matrix = self.tiles.transforms.weight
        images, _, _, _, self.channels = self.op.sizes
        down, across = self.op.tiles
        self.count = images * down * across
        self.points = self.tiles.points

    def build(self, builder: Builder) -> None:
        """Insert the loops over channels, one for each row of points."""
        shape = (self.points, self.count)
        sums = allocate(builder, self.op, self.tiles.vector, shape, "sums")
        for row in range(self.points):
            self._start(builder, sums)
            inner, channel = open_loop(
                builder, self.tiles.counters, self.channels, "channel", unroll=False
            )
            at = LinearIndex(terms={channel: 1})
            if self.op.prefetch is not None:
                self._prefetch(inner, row, at)
            for column, weight in enumerate(self._transformed(inner, row, at)):
                self._multiply(inner, sums, (row, column), at, weight)
            inner.insert(scf.YieldOp())
            self._store(builder, sums, row)

    def _start(self, builder: Builder, sums: SSAValue) -> None:
        value = builder.insert(zeros(self.tiles.vector)).result

        def store(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            store_element(inner, value, sums, self._values(inner, indices))

        self._each(builder, (self.points, self.count), store)

    def _transformed(self, builder: Builder, row: int, channel: LinearIndex) -> list[SSAValue]:
        """Return a row of G g G^T."""
        columns: list[SSAValue] = []
        used = [down for down in range(KERNEL) if self.matrix[row][down]]
        factors = tuple(self.matrix[row][down] for down in used)
        for column in range(KERNEL):
            values = [self._filter(builder, channel, down, column) for down in used]
            columns += apply_matrix(builder, (factors,), values)
        return apply_matrix(builder, self.matrix, columns)

    def _filter(self, builder: Builder, channel: LinearIndex, down: int, across: int) -> SSAValue:
        places = (self.panel, channel, LinearIndex(down), LinearIndex(across), LinearIndex())
        at = self._values(builder, places)
        return load_row(builder, self.op.weights, at, self.tiles.vector)

    def _multiply(
        self,
        builder: Builder,
        sums: SSAValue,
        point: tuple[int, int],
        channel: LinearIndex,
        weight: SSAValue,
    ) -> None:
        row, column = point

        def add(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            (tile,) = indices
            number = LinearIndex(row * self.points + column)
            at = self._values(inner, (number, tile, channel))
            scalar = load_element(inner, self.inputs, at)
            value = broadcast(inner, scalar, self.tiles.lanes)
            slot = self._values(inner, (LinearIndex(column), tile))
            before = load_element(inner, sums, slot)
            after = arithmetic(inner, math.FmaOp, value, weight, before)
            store_element(inner, after, sums, slot)

        self._each(builder, (self.count,), add)

    def _store(self, builder: Builder, sums: SSAValue, row: int) -> None:
        def store(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            column, tile = indices
            value = load_element(inner, sums, self._values(inner, indices))
            point = LinearIndex(row * self.points) + column
            at = self._values(inner, (point, tile, LinearIndex()))
            store_row(inner, value, self.products, at)

        self._each(builder, (self.points, self.count), store)

    def _prefetch(self, builder: Builder, row: int, channel: LinearIndex) -> None:
        """Fetch a part of the next panel, as long as that of any other step of any row."""
        length = KERNEL**2 * self.tiles.lanes
        share = -(-length // self.points)
        first = channel.scaled(share) + LinearIndex(row * self.channels * share)
        for offset in range(0, share, LINE // BYTES):
            zeros = [LinearIndex()] * 3
            places = (self.panel + LinearIndex(1), *zeros, first + LinearIndex(offset))
            at = self._values(builder, places)
            builder.insert(PrefetchOp(self.op.weights, at, locality=SECOND_CACHE))

    def _values(self, builder: Builder, places: Sequence[LinearIndex]) -> list[SSAValue]:
        indices = IndexBuilder(builder, self.tiles.counters)
        return [indices.value(place) for place in places]

    def _each(self, builder: Builder, counts: Sequence[int], inside: Inside) -> None:
        names = ("column", "tile")[-len(counts) :]
        loops(builder, self.tiles.counters, counts, names, inside, unroll=True)


class LowerWinograd(Pattern):
    """gawee.winograd outs(%m) -> loops of transforms, and a gawee.kernel of matrix products"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: WinogradOp, rewriter: PatternRewriter) -> None:
        if op.output is None:
            self.missed(op, "expected operands on buffers, got tensors; bufferize comes first")
            return
        fill_outside(rewriter, op)
        nest = WinogradNest(op)
        if op.split_by_channel:
            nest.build_by_channel(rewriter)
        else:
            nest.build_by_tiles(rewriter)
        rewriter.erase(op)


class WinogradNest:
    """Builds the loops of one op on buffers."""

    def __init__(self, op: WinogradOp):
        self.op = op
        self.tiles = TileLoops(op)
        self.counters = self.tiles.counters
        images, self.features, _, _, self.channels = op.sizes
        down, across = op.tiles
        self.count = images * down * across
        self.lanes = self.tiles.lanes
        self.points = self.tiles.points**2
        self.element = op.sum_type
        self.width = self.lanes * op.depth // self.channels
        """Elements of the products, numbers or words, of a vector of input channels."""

    # Some tiles at a time: everything between the transforms stays in a core's own cache.

    def build_by_tiles(self, builder: Builder) -> None:
        """Build the loop over blocks of tiles, which threads share."""
        block = self.op.block.value.data
        blocks = -(-self.count // block)

        def one_block(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            def body(inside: Builder, count: int) -> None:
                self._tiles(inside, indices[0].scaled(block), count)

            whole = min(block, self.count)
            rest = self.count % block or whole
            with_last_iteration(inner, self.counters, indices[0], blocks, (rest, whole), body)

        parallel_loop(builder, self.counters, (blocks,), one_block)

    def _tiles(self, builder: Builder, first: LinearIndex, count: int) -> None:
        groups = self.channels // self.lanes
        shape = (self.points, groups, count, self.width)
        inputs = allocate(builder, self.op, self.element, shape, "inputs")
        features = self.op.algorithm.covered(self.features)
        products = allocate(
            builder, self.op, self.element, (self.points, count, features), "products"
        )

        def transform(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            group, tile = indices
            self._input(inner, first + tile, (group, tile, LinearIndex()), group, inputs)

        # Along a row of tiles, all that is read and written are streams that processors foresee.
        loops(builder, self.counters, (groups, count), ("channels", "tile"), transform)
        point, tile, feature, channel = (AffineExpr.dimension(dim) for dim in range(4))
        panel = self.op.panel
        input_map = (point, channel // self.width, tile, channel % self.width)
        weight_map = (point, feature // panel, channel, feature % panel)
        maps = (input_map, weight_map)
        self._multiply(builder, inputs, self.op.weights, maps, products, features)

        def finish(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            tile, group = indices
            self._output(inner, first + tile, tile, group, group, products)

        groups = self.features // self.lanes
        loops(builder, self.counters, (count, groups), ("tile", "channels"), finish)

    # Some output channels at a time: each weight is read once, one after the other.

    def build_by_channel(self, builder: Builder) -> None:
        """Build the transform of all tiles, then the loop over panels of output channels."""
        inputs = self.op.scratch
        assert inputs is not None, "bufferize gives the op scratch memory"

        def transform(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            tile, group = indices
            self._input(inner, tile, (tile, group.scaled(self.width)), group, inputs)

        counts = (self.count, self.channels // self.lanes)
        parallel_loop(builder, self.counters, counts, transform)
        panels = self.features // self.op.panel
        parallel_loop(builder, self.counters, (panels,), self._panel)

    def _panel(self, builder: Builder, indices: Sequence[LinearIndex]) -> None:
        panel = self.op.panel
        inputs = self.op.scratch
        assert inputs is not None
        products = allocate(
            builder, self.op, self.element, (self.points, self.count, panel), "products"
        )
        if self.op.filters is not None:
            FilterProducts(self.tiles, indices[0], inputs, products).build(builder)
        else:
            self._multiply_panel(builder, indices[0], inputs, products)
        groups = panel // self.lanes

        def finish(inner: Builder, places: Sequence[LinearIndex]) -> None:
            tile, own = places
            group = indices[0].scaled(groups) + own
            self._output(inner, tile, tile, group, own, products)

        loops(builder, self.counters, (self.count, groups), ("tile", "channels"), finish)

    def _multiply_panel(
        self, builder: Builder, number: LinearIndex, inputs: SSAValue, products: SSAValue
    ) -> None:
        at = IndexBuilder(builder, self.counters).value(number)
        panel = self.op.panel
        shape = (self.points, self.op.depth, panel)
        weights = _panel_of(builder, self.op.weights, at, shape)
        point, tile, feature, channel = (AffineExpr.dimension(dim) for dim in range(4))
        maps = (point, tile, channel), (AffineExpr.constant(0), point, channel, feature)
        self._multiply(builder, inputs, weights, maps, products, panel)

    # The three steps.

    def _input(
        self,
        builder: Builder,
        tile: LinearIndex,
        row: Sequence[LinearIndex],
        group: LinearIndex,
        inputs: SSAValue,
    ) -> None:
        def store(inner: Builder, point: LinearIndex, value: SSAValue) -> None:
            at = [IndexBuilder(inner, self.counters).value(place) for place in (point, *row)]
            if self.op.of_integers:
                words = VectorType(self.element, [self.width])
                value = inner.insert(vector.BitcastOp(value, words)).result
            store_row(inner, value, inputs, at)

        self.tiles.build_input(builder, self.tiles.position(builder, tile), group, store)

    def _output(
        self,
        builder: Builder,
        tile: LinearIndex,
        row: LinearIndex,
        group: LinearIndex,
        column: LinearIndex,
        products: SSAValue,
    ) -> None:
        def load(inner: Builder, point: LinearIndex) -> SSAValue:
            places = (point, row, column.scaled(self.lanes))
            at = [IndexBuilder(inner, self.counters).value(place) for place in places]
            return load_row(inner, products, at, self.tiles.vector)

        self.tiles.build_output(builder, self.tiles.position(builder, tile), group, load)

    def _multiply(
        self,
        builder: Builder,
        inputs: SSAValue,
        weights: SSAValue,
        maps: tuple[tuple[AffineExpr, ...], tuple[AffineExpr, ...]],
        products: SSAValue,
        features: int,
    ) -> None:
        """Multiply the transformed inputs and weights: one matrix product for each point.

        `maps` say where inputs and weights are, by point, tile, output and input channel.
        """
        point, tile, feature, _ = (AffineExpr.dimension(dim) for dim in range(4))
        count = shape_of(products)[1]
        panel, rows = self.op.panel, min(self.op.rows.value.data, count)
        vector = Loop(2, self.op.algorithm.product_lanes)
        outer = [Loop(0)]
        outer += [Loop(2, panel)] if panel < features else []
        # The innermost loop that goes to other weights: they lie in the order of its iterations.
        prefetch = Prefetch(1, outer[-1].dim) if self.op.algorithm.prefetch else None
        outer += [Loop(1, rows)] if rows < count else []
        kernel = KernelOp(
            [inputs, weights],
            products,
            bounds=(self.points, count, features, self.op.depth),
            reductions=1,
            maps=[
                *(AffineMap(4, 0, each) for each in maps),
                AffineMap(4, 0, (point, tile, feature)),
            ],
            initial=IntegerAttr(0, i32) if self.op.of_integers else FloatAttr(0.0, f32),
            accumulate=_multiply_add(self.element),
            finish=_sum_alone(self.element),
            schedule=Schedule((*outer, Loop(3)), vector, prefetch=prefetch),
        )
        builder.insert(kernel)


def _panel_of(
    builder: Builder, weights: SSAValue, number: SSAValue, shape: Sequence[int]
) -> SSAValue:
    """Return a view of one panel of weights."""
    sizes = (1, *shape)
    offsets = [number, 0, 0, 0]
    source = memref_type(weights)
    type = memref.SubviewOp.infer_result_type(source, [0] * 4, sizes, [1] * 4)
    dynamic = MemRefType(type.element_type, type.get_shape(), _any_offset(type))
    view = memref.SubviewOp.get(weights, offsets, list(sizes), [1] * 4, dynamic)
    return builder.insert(view).result


def _any_offset(type: MemRefType[Attribute]) -> StridedLayoutAttr:
    strides = type.get_strides()
    assert strides is not None
    return StridedLayoutAttr(strides, None)


def _multiply_add(element: Attribute) -> Region:
    block = Block(arg_types=[element] * 3)
    builder = Builder(InsertPoint.at_end(block))
    lhs, rhs, total = block.args
    if element == i32:
        product = insert_product(builder, WordProduct(PAIRS, lhs, rhs))
        total = builder.insert(arith.AddiOp(total, product)).result
    else:
        product = builder.insert(arith.MulfOp(lhs, rhs)).result
        total = builder.insert(arith.AddfOp(total, product)).result
    builder.insert(YieldOp(total))
    return Region(block)


def _sum_alone(element: Attribute) -> Region:
    block = Block(arg_types=[element] * 3)
    Builder(InsertPoint.at_end(block)).insert(YieldOp(block.args[-1]))
    return Region(block)


@dataclass(frozen=True)
class LowerWinogradToLoops(RewritePass):
    """Lower Winograd's convolution to loops.

    1. By tiles: threads share blocks of tiles. A block's inputs are transformed, multiplied by all
       weights and transformed back; what is in between stays in one core's cache.
    2. By channel: threads transform the inputs of all tiles into scratch memory, then share panels
       of output channels. Each weight is read once, in the order in which it is stored.
    3. Weights that are 3x3 filters are transformed in registers while they are multiplied.
    4. All other products are one `gawee.kernel`, which `lower-kernels-to-loops` lowers like any
       other.

    Requires: ops on buffers (`bufferize` comes first).

    rewrite:
        gawee.winograd outs(%y)
        ->
        scf.parallel %block { B^T d B; gawee.kernel parallel [36, 14, 64] reduce [64]; A^T M A }
    """

    name = "lower-winograd-to-loops"
    numerics: ClassVar[Numerics] = REASSOCIATES
    patterns = (LowerWinograd,)
    removes = (WinogradOp,)
    takes_open_sizes: ClassVar[bool] = True
    revisits = False
