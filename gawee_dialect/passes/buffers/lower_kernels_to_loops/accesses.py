"""Elements of a buffer for all lanes of a vector: one load where they lie side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.kernels.kernel import element_of
from gawee_dialect.passes.buffers.lower_kernels_to_loops.linear_index import (
    LANE,
    IndexBuilder,
    LinearIndex,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.quick_ops import load_element
from gawee_dialect.passes.buffers.lower_linalg_to_loops.loop_order import strides_of
from gawee_dialect.passes.graph.lower_to_linalg.tensors import zero
from gawee_dialect.upstream.memref import PrefetchOp

FIRST_CACHE = 3
"""The locality of what is read soon."""


@dataclass(frozen=True)
class Lanes:
    """How many lanes a vector has, and how many of them belong to points."""

    count: int
    active: int
    number: SSAValue | None = None
    """How many belong to points where a run says it; all accesses are to rows then."""

    @property
    def partial(self) -> bool:
        """Whether the last lanes are idle."""
        return self.active < self.count or self.number is not None

    def type(self, element: Attribute) -> Attribute:
        """Return the type of an element in every lane."""
        return element if self.count == 1 else VectorType(element, [self.count])

    def mask(self, builder: Builder) -> SSAValue:
        """Make the vector that says which lanes are active."""
        type = VectorType(i1, [self.count])
        if self.number is not None:
            return builder.insert(
                vector.CreateMaskOp.build(operands=[[self.number]], result_types=[type])
            ).mask_vector
        values = [lane < self.active for lane in range(self.count)]
        return builder.insert(
            arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, values))
        ).result


SCALAR = Lanes(1, 1)


@dataclass
class Access:
    """Where the lanes of one operand are at one point of a nest."""

    builder: Builder
    buffer: SSAValue
    map: AffineMap
    dims: Sequence[LinearIndex]
    indices: IndexBuilder
    lanes: Lanes

    def __post_init__(self) -> None:
        found = [self.indices.evaluate(expr, self.dims) for expr in self.map.results]
        known = [index for index in found if index is not None]
        self._linear = known if len(known) == len(found) else None

    @property
    def is_uniform(self) -> bool:
        """Whether every lane is the same element."""
        return self._linear is not None and all(index.lane == 0 for index in self._linear)

    @property
    def is_in_row(self) -> bool:
        """Whether the lanes lie side by side in one row of the buffer."""
        if self._linear is None or not self._linear:
            return False
        *leading, last = self._linear
        # All lanes on the last axis: a vector of MLIR never leaves its row.
        in_row = all(index.lane == 0 for index in leading)
        return in_row and last.lane == 1 and strides_of(self.buffer)[-1] == 1

    def _at(self, lane: int = 0) -> list[SSAValue]:
        dims = [index.at_lane(lane) for index in self.dims]
        places = (self.indices.evaluate(expr, dims) for expr in self.map.results)
        return [self.indices.value(place) for place in places if place is not None]

    def load(self) -> SSAValue:
        """Return the element, as a scalar where it is the same in every lane.

        Idle lanes are zero.
        """
        insert = self.builder.insert
        if self.lanes.count == 1 or self.is_uniform:
            return load_element(self.builder, self.buffer, self._at())
        element = element_of(self.buffer)
        type = VectorType(element, [self.lanes.count])
        if self.is_in_row and not self.lanes.partial:
            return insert(vector.LoadOp(self.buffer, self._at(), type)).result
        halves = self._halves()
        if halves is not None:
            return self._joined([half.load() for half in halves])
        start = insert(vector.BroadcastOp(zero(self.builder, element), type)).vector
        if self.is_in_row:
            mask = self.lanes.mask(self.builder)
            load = vector.MaskedLoadOp(self.buffer, self._at(), mask, start, type)
            return insert(load).result
        for lane in range(self.lanes.active):
            value = load_element(self.builder, self.buffer, self._at(lane))
            start = insert(vector.InsertOp(value, start, [lane])).result
        return start

    # Lanes in two rows, as of 16 channels that are stored in blocks of 8.

    def _halves(self) -> list["Access"] | None:
        """Return the access of each half of the lanes, where each lies side by side."""
        count = self.lanes.count // 2
        if self.is_in_row or self.is_uniform or count < 2:
            return None
        indices = IndexBuilder(self.builder, replace(self.indices.counters, lanes=count))
        found: list[Access] = []
        for first in range(0, self.lanes.active, count):
            dims = [index.at_lane(first) + LANE.scaled(index.lane) for index in self.dims]
            lanes = Lanes(count, min(count, self.lanes.active - first))
            found.append(replace(self, dims=dims, indices=indices, lanes=lanes))
        return found if all(half.is_in_row for half in found) else None

    def _joined(self, halves: Sequence[SSAValue]) -> SSAValue:
        """Put halves side by side; one without active lanes is not there, and zero."""
        low, high = halves[0], halves[-1]
        if len(halves) == 1:
            element = element_of(self.buffer)
            type = VectorType(element, [self.lanes.count // 2])
            high = self.builder.insert(vector.BroadcastOp(zero(self.builder, element), type)).vector
        return self._picked(low, high, range(self.lanes.count))

    def _half_of(self, value: SSAValue, number: int) -> SSAValue:
        count = self.lanes.count // 2
        return self._picked(value, value, range(number * count, (number + 1) * count))

    def _picked(self, low: SSAValue, high: SSAValue, lanes: range) -> SSAValue:
        """Return a vector of some lanes of two."""
        order = DenseArrayBase.from_list(i64, list(lanes))
        type = VectorType(element_of(self.buffer), [len(lanes)])
        return self.builder.insert(vector.ShuffleOp(low, high, order, result_type=type)).result

    def prefetch(self) -> None:
        """Begin to fetch the line of the first lane, where the others lie beside it."""
        if self.is_in_row:
            self.builder.insert(PrefetchOp(self.buffer, self._at(), locality=FIRST_CACHE))

    def store(self, value: SSAValue) -> None:
        """Store a scalar, or the active lanes of a vector."""
        insert = self.builder.insert
        if self.lanes.count == 1:
            insert(memref.StoreOp.get(value, self.buffer, self._at()))
        elif (halves := self._halves()) is not None:
            for number, half in enumerate(halves):
                half.store(self._half_of(value, number))
        elif not self.is_in_row:
            for lane in range(self.lanes.active):
                element = insert(vector.ExtractOp(value, [lane], element_of(self.buffer))).result
                insert(memref.StoreOp.get(element, self.buffer, self._at(lane)))
        elif self.lanes.partial:
            mask = self.lanes.mask(self.builder)
            insert(vector.MaskedStoreOp(self.buffer, self._at(), mask, value))
        else:
            insert(vector.StoreOp(value, self.buffer, self._at()))
