"""The two transforms of Winograd's convolution, as loops over tiles and vectors of channels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.kernels.kernel import element_of
from gawee_dialect.dialect.kernels.winograd import WinogradOp
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    LANE,
    Access,
    Counters,
    IndexBuilder,
    Lanes,
    LinearIndex,
    delinearized,
    load_element,
    store_element,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.lanes import broadcast, run_region
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_tiles import (
    allocate,
    loops,
    open_loop,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.prefetch import LINE
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index
from gawee_dialect.passes.buffers.lower_winograd_to_loops.linear_transform import apply_matrix

Position = Sequence[LinearIndex]
"""Image, row and column of a tile, counted in tiles."""

PIXEL = 2, 3
"""The op's dims that are the row and the column of an output."""


@dataclass
class TileLoops:
    """Builds transforms of one op's tiles."""

    op: WinogradOp
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        self.size = self.op.tile.value.data
        whole = self.op.filters is not None
        transforms = self.op.transforms
        self.transforms = transforms.with_whole_weights if whole else transforms
        self.points = self.transforms.points
        self.lanes = self.op.lanes.value.data
        self.counters.lanes = self.lanes
        self.vector = VectorType(self.op.sum_type, [self.lanes])
        self.input_vector = VectorType(element_of(self.op.input), [self.lanes])
        self.whole = Lanes(self.lanes, self.lanes)

    def position(self, builder: Builder, tile: LinearIndex) -> Position:
        """Return where a tile is, from its number among all."""
        index_builder = IndexBuilder(builder, self.counters)
        number = index_builder.value(tile)
        if number not in self.counters.trip_counts:
            images, (down, across) = self.op.sizes[0], self.op.tiles
            self.counters.trip_counts[number] = images * down * across
        return delinearized(index_builder, number, (self.op.sizes[0], *self.op.tiles))

    def _access(
        self, builder: Builder, buffer: SSAValue, map_index: int, dims: Sequence[LinearIndex]
    ) -> Access:
        indices = IndexBuilder(builder, self.counters)
        return Access(builder, buffer, self.op.maps[map_index], dims, indices, self.whole)

    def _channels(self, group: LinearIndex) -> LinearIndex:
        return group.scaled(self.lanes) + LANE

    def _value(self, builder: Builder, index: LinearIndex) -> SSAValue:
        return IndexBuilder(builder, self.counters).value(index)

    # B^T d B

    def build_input(
        self,
        builder: Builder,
        position: Position,
        group: LinearIndex,
        store: Callable[[Builder, LinearIndex, SSAValue], None],
    ) -> None:
        """Transform the inputs of one tile and one vector of channels."""
        matrix, points = self.transforms.input, self.points
        image, row, column = position
        half = allocate(builder, self.op, self.input_vector, (points, points), "half")

        def at(inner: Builder, down: int, across: LinearIndex) -> Access:
            dims = (
                image,
                LinearIndex(),
                row.scaled(self.size) + LinearIndex(down),
                column.scaled(self.size) + across,
                self._channels(group),
            )
            return self._access(inner, self.op.input, 0, dims)

        if self.op.algorithm.prefetch_inputs:
            # The tile to the right begins where this one ends, but for what both read.
            pixels = max(1, LINE // (self.lanes * element_bytes(self.input_vector.element_type)))
            for down, across in product(range(points), range(points, points + self.size, pixels)):
                at(builder, down, LinearIndex(across)).prefetch()

        def columns(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            (across,) = indices
            values = [at(inner, down, across).load() for down in range(points)]
            for down, value in enumerate(apply_matrix(inner, matrix, values)):
                place = [constant_index(inner, down), self._value(inner, across)]
                store_element(inner, value, half, place)

        def rows(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            (down,) = indices
            values = self._row(inner, half, down, points)
            for across, value in enumerate(apply_matrix(inner, matrix, values)):
                store(inner, down.scaled(points) + LinearIndex(across), value)

        loops(builder, self.counters, (points,), ("across",), columns, unroll=True)
        loops(builder, self.counters, (points,), ("down",), rows, unroll=True)

    def _row(
        self, builder: Builder, array: SSAValue, row: LinearIndex, count: int
    ) -> list[SSAValue]:
        at = self._value(builder, row)
        places = ([at, constant_index(builder, column)] for column in range(count))
        return [load_element(builder, array, place) for place in places]

    # A^T M A, and what is done with the sums

    def build_output(
        self,
        builder: Builder,
        position: Position,
        group: LinearIndex,
        load: Callable[[Builder, LinearIndex], SSAValue],
    ) -> None:
        """Transform the products of one tile and one vector of channels; finish and store."""
        matrix, points = self.op.transforms.output, self.points
        half = allocate(builder, self.op, self.vector, (self.size, points), "half")

        def columns(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            (across,) = indices
            values = [load(inner, across + LinearIndex(down * points)) for down in range(points)]
            for down, value in enumerate(apply_matrix(inner, matrix, values)):
                place = [constant_index(inner, down), self._value(inner, across)]
                store_element(inner, value, half, place)

        loops(builder, self.counters, (points,), ("across",), columns, unroll=True)
        _, _, rows, width, _ = self.op.sizes
        if rows % self.size == 0 and width % self.size == 0:
            self._whole_tile(builder, half, position, group)
            return
        is_whole = self._fits(builder, position)
        whole, part = Block(), Block()
        builder.insert(scf.IfOp(is_whole, (), Region(whole), Region(part)))
        for block, build in ((whole, self._whole_tile), (part, self._part_of_tile)):
            inner = Builder(InsertPoint.at_end(block))
            build(inner, half, position, group)
            inner.insert(scf.YieldOp())

    def _fits(self, builder: Builder, position: Position) -> SSAValue:
        """Whether no output of a tile is outside."""
        fits: SSAValue | None = None
        for index, extent in zip(position[1:], self.op.sizes[2:4], strict=True):
            first = self._value(builder, index)
            whole = constant_index(builder, extent // self.size)
            inside = builder.insert(arith.CmpiOp(first, whole, "ult")).result
            fits = inside if fits is None else builder.insert(arith.AndIOp(fits, inside)).result
        assert fits is not None
        return fits

    def _whole_tile(
        self, builder: Builder, half: SSAValue, position: Position, group: LinearIndex
    ) -> None:
        first = self._output_dims(position, group, (LinearIndex(), LinearIndex()))
        ahead = self._load_others(builder, first, of_all_pixels=True)

        def row(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            (down,) = indices
            values = self._row(inner, half, down, self.points)
            results = apply_matrix(inner, self.op.transforms.output, values)
            for across, value in enumerate(results):
                dims = self._output_dims(position, group, (down, LinearIndex(across)))
                self._finish(inner, dims, value, ahead)

        loops(builder, self.counters, (self.size,), ("down",), row, unroll=True)

    def _part_of_tile(
        self, builder: Builder, half: SSAValue, position: Position, group: LinearIndex
    ) -> None:
        """Finish the outputs of a tile at the edge: loops with bounds known when they run."""
        results = allocate(builder, self.op, self.vector, (self.size, self.size), "results")

        def transform(inner: Builder, indices: Sequence[LinearIndex]) -> None:
            (down,) = indices
            values = self._row(inner, half, down, self.points)
            rows = apply_matrix(inner, self.op.transforms.output, values)
            for across, value in enumerate(rows):
                place = [self._value(inner, down), constant_index(inner, across)]
                store_element(inner, value, results, place)

        loops(builder, self.counters, (self.size,), ("down",), transform, unroll=True)
        ends = [
            self._rest(builder, index, extent)
            for index, extent in zip(position[1:], self.op.sizes[2:4], strict=True)
        ]
        first = self._output_dims(position, group, (LinearIndex(), LinearIndex()))
        ahead = self._load_others(builder, first, of_all_pixels=True)
        outer, down = open_loop(builder, self.counters, self.size, "down", upper=ends[0])
        inner, across = open_loop(outer, self.counters, self.size, "across", upper=ends[1])
        value = load_element(inner, results, [down, across])
        place = LinearIndex(terms={down: 1}), LinearIndex(terms={across: 1})
        self._finish(inner, self._output_dims(position, group, place), value, ahead)
        inner.insert(scf.YieldOp())
        outer.insert(scf.YieldOp())

    def _rest(self, builder: Builder, index: LinearIndex, extent: int) -> SSAValue:
        """Return how many outputs of a tile are inside along one axis."""
        first = self._value(builder, index.scaled(self.size))
        left = builder.insert(arith.SubiOp(constant_index(builder, extent), first)).result
        return builder.insert(arith.MinUIOp(left, constant_index(builder, self.size))).result

    def _output_dims(
        self, position: Position, group: LinearIndex, place: tuple[LinearIndex, LinearIndex]
    ) -> Sequence[LinearIndex]:
        """Return the op's dims at a row and a column of a tile."""
        image, row, column = position
        down, across = place
        return (
            image,
            self._channels(group),
            row.scaled(self.size) + down,
            column.scaled(self.size) + across,
            LinearIndex(),
        )

    def _load_others(
        self, builder: Builder, dims: Sequence[LinearIndex], *, of_all_pixels: bool
    ) -> dict[SSAValue, SSAValue]:
        """Load what is added to sums: what is the same for all pixels, such as a bias, or not."""
        operands = zip(self.op.others, self.op.finish.block.args, strict=False)
        return {
            argument: self._access(builder, value, number, dims).load()
            for number, (value, argument) in enumerate(operands, start=1)
            if argument.uses and used_dims(self.op.maps[number]).isdisjoint(PIXEL) == of_all_pixels
        }

    def _finish(
        self,
        builder: Builder,
        dims: Sequence[LinearIndex],
        total: SSAValue,
        ahead: Mapping[SSAValue, SSAValue],
    ) -> None:
        arguments = {**ahead, **self._load_others(builder, dims, of_all_pixels=False)}
        arguments[self.op.finish.block.args[-1]] = self._divided(builder, total)
        result = run_region(builder, self.op.finish, arguments, self.lanes)
        result = broadcast(builder, result, self.lanes)
        self._access(builder, self.op.target, len(self.op.maps) - 1, dims).store(result)

    def _divided(self, builder: Builder, total: SSAValue) -> SSAValue:
        """Return a sum of integers without what made their weights whole: no bit is lost."""
        bits = self.op.transforms.scale.bit_length() - 1
        if not bits:
            return total
        number = DenseIntOrFPElementsAttr.from_list(VectorType(i32, [self.lanes]), [bits])
        by = builder.insert(arith.ConstantOp(number)).result
        return builder.insert(arith.ShRSIOp(total, by)).result
