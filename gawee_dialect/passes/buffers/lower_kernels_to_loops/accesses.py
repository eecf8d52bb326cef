"""Elements of a buffer for all lanes of a vector: one load where they lie side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import gcd, prod

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    MemRefType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.linear_form import LinearForm, Range, evaluate
from gawee_dialect.dialect.open_size import OpenSize, SizeName, greatest, is_open
from gawee_dialect.dialect.types import vector_of
from gawee_dialect.hints import isa
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index
from gawee_dialect.passes.buffers.lower_linalg_to_loops.loop_order import strides_of
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import form_value
from gawee_dialect.passes.graph.lower_to_linalg.tensors import zero
from gawee_dialect.upstream.arith import arithmetic
from gawee_dialect.upstream.memref import PrefetchOp

# Indices as sums of multiples of loop counters, so that quotients disappear while compiling.


class Lane(Enum):
    """The number of the vector lane, of which each lane has its own."""

    NUMBER = "lane"


@dataclass(frozen=True)
class LinearIndex(LinearForm[SSAValue | Lane]):
    """A sum of multiples of loop counters and of the number of the vector lane."""

    @property
    def lane(self) -> int:
        """How far apart neighbouring lanes are."""
        return self.terms.get(Lane.NUMBER, 0)

    def at_lane(self, number: int) -> "LinearIndex":
        """Return the index of one lane."""
        counters = dict(self.terms)
        counters.pop(Lane.NUMBER, None)
        return LinearIndex(self.constant + self.lane * number, counters)


LANE = LinearIndex(terms={Lane.NUMBER: 1})


@dataclass
class Counters:
    """The loop counters in scope: each runs from 0 to below its trip count; lanes likewise."""

    trip_counts: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Of a loop whose trip count is open the greatest one."""
    lanes: int = 1
    names: Mapping[SizeName, SSAValue] = field(default_factory=dict[SizeName, SSAValue])
    """The values of the names that sizes are forms of."""

    def range_of(self, atom: SSAValue | Lane) -> Range:
        """Return the least and greatest value of a counter or of the lane."""
        return 0, (self.lanes if isinstance(atom, Lane) else self.trip_counts[atom]) - 1


def counters_of(op: StructuredKernel) -> Counters:
    """Return the counters of a nest for a kernel: none yet, and its names."""
    if not isinstance(op, KernelOp) or not op.counts:
        return Counters()
    return Counters(names=dict(zip(op.names, op.counts, strict=True)))


def size_index(builder: Builder, counters: Counters, size: int) -> SSAValue:
    """Insert what computes a size of the names in scope; a number is a constant."""
    if isinstance(size, OpenSize):
        return form_value(builder, size, counters.names.__getitem__)
    return constant_index(builder, size)


class IndexBuilder:
    """Evaluates affine expressions over loop counters at one place of a function."""

    def __init__(self, builder: Builder, counters: Counters):
        self.builder = builder
        self.counters = counters

    def evaluate(self, expr: AffineExpr, dims: Sequence[LinearIndex]) -> LinearIndex | None:
        """Return the value of an expression; None where it is not the same sum for every lane."""

        def leaf(part: AffineConstantExpr | AffineDimExpr) -> LinearIndex:
            if isinstance(part, AffineConstantExpr):
                return LinearIndex(part.value)
            return dims[part.position]

        return evaluate(expr, leaf, self._divided)

    def _divided(
        self, kind: AffineBinaryOpKind, index: LinearIndex, divisor: int
    ) -> LinearIndex | None:
        parts = index.split(divisor, self.counters.range_of)
        if parts is not None:
            return parts[0 if kind is AffineBinaryOpKind.FloorDiv else 1]
        divide = self._divide_lanes if index.lane else self._divide
        return divide(kind, index, divisor)

    def _divide_lanes(
        self, kind: AffineBinaryOpKind, index: LinearIndex, divisor: int
    ) -> LinearIndex | None:
        """Divide the first lane's index at run time, where all lanes are in its part.

        (16 * %d1 + lane) floordiv 64 is %d1 floordiv 4 for all of 16 lanes.
        """
        lanes = LinearIndex(terms={Lane.NUMBER: index.lane})
        first = index.at_lane(0)
        run = gcd(divisor, first.constant, *first.terms.values())
        low, high = lanes.range(self.counters.range_of)
        if low < 0 or high >= run:
            return None
        parts, _ = first.parts(run)
        part = self._divided(kind, parts, divisor // run)
        if part is None or kind is AffineBinaryOpKind.FloorDiv:
            return part
        return part.scaled(run) + lanes

    def _divide(self, kind: AffineBinaryOpKind, lhs: LinearIndex, divisor: int) -> LinearIndex:
        """Divide at run time: the result counts like a loop of its own.

        What is less than a common factor stays outside: (16 * %i + 3) mod 64 is
        16 * (%i mod 4) + 3, so that neighbours are neighbours behind the division too.
        """
        factor = gcd(divisor, *lhs.terms.values())
        whole, rest = lhs.parts(factor)
        low, high = whole.range(self.counters.range_of)
        assert low >= 0, "maps of kernels stay inside their operands"
        floor, divisor = kind is AffineBinaryOpKind.FloorDiv, divisor // factor
        op = arith.DivUIOp if floor else arith.RemUIOp
        operands = self.value(whole), constant_index(self.builder, divisor)
        result = arithmetic(self.builder, op, *operands)
        self.counters.trip_counts[result] = high // divisor + 1 if floor else divisor
        index = LinearIndex(terms={result: 1})
        return index if floor else index.scaled(factor) + rest

    def value(self, index: LinearIndex) -> SSAValue:
        """Insert the arithmetic of an index that is the same for every lane."""
        total: SSAValue | None = None
        for counter, coefficient in index.terms.items():
            assert not isinstance(counter, Lane)
            part = counter
            if coefficient != 1:
                factor = constant_index(self.builder, coefficient)
                part = arithmetic(self.builder, arith.MuliOp, counter, factor)
            if total is not None:
                part = arithmetic(self.builder, arith.AddiOp, total, part)
            total = part
        if total is None:
            return constant_index(self.builder, index.constant)
        if index.constant:
            offset = constant_index(self.builder, index.constant)
            total = arithmetic(self.builder, arith.AddiOp, total, offset)
        return total


def delinearized(
    builder: IndexBuilder, counter: SSAValue, counts: Sequence[int]
) -> list[LinearIndex]:
    """Split one counter over all points of several loops into a counter of each."""
    if is_open(counts):
        return _delinearized_at_run_time(builder, counter, counts)
    found: list[LinearIndex] = []
    all_points = AffineExpr.dimension(0)
    for position, count in enumerate(counts):
        later = prod(counts[position + 1 :])
        point = all_points // later % count
        index = builder.evaluate(point, [LinearIndex(terms={counter: 1})])
        assert index is not None
        found.append(index)
    return found


def _delinearized_at_run_time(
    builder: IndexBuilder, counter: SSAValue, counts: Sequence[int]
) -> list[LinearIndex]:
    found: list[LinearIndex] = []
    for position, count in reversed(list(enumerate(counts))):
        index = counter
        if position:
            size = size_index(builder.builder, builder.counters, count)
            index = arithmetic(builder.builder, arith.RemUIOp, counter, size)
            counter = arithmetic(builder.builder, arith.DivUIOp, counter, size)
        builder.counters.trip_counts[index] = greatest(count)
        found.insert(0, LinearIndex(terms={index: 1}))
    return found


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

    @property
    def is_whole(self) -> bool:
        """Whether this is a vector all of whose lanes belong to points."""
        return self.count > 1 and not self.partial

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
        self.linear = known if len(known) == len(found) else None
        """The place along each axis, None where one is no sum."""

    @property
    def is_uniform(self) -> bool:
        """Whether every lane is the same element."""
        return self.linear is not None and all(index.lane == 0 for index in self.linear)

    @property
    def is_in_row(self) -> bool:
        """Whether the lanes lie side by side in one row of the buffer."""
        if self.linear is None or not self.linear:
            return False
        *leading, last = self.linear
        # All lanes on the last axis: a vector of MLIR never leaves its row.
        in_row = all(index.lane == 0 for index in leading)
        return in_row and last.lane == 1 and strides_of(self.buffer)[-1] == 1

    def at(self, lane: int = 0) -> list[SSAValue]:
        """Insert the place of a lane along each axis."""
        dims = [index.at_lane(lane) for index in self.dims]
        places = (self.indices.evaluate(expr, dims) for expr in self.map.results)
        return [self.indices.value(place) for place in places if place is not None]

    def load(self) -> SSAValue:
        """Return the element, as a scalar where it is the same in every lane.

        Idle lanes are zero.
        """
        insert = self.builder.insert
        if self.lanes.count == 1 or self.is_uniform:
            return load_element(self.builder, self.buffer, self.at())
        element = element_of(self.buffer)
        type = vector_of(element, self.lanes.count)
        if self.is_in_row and not self.lanes.partial:
            return load_row(self.builder, self.buffer, self.at(), type)
        halves = self._halves()
        if halves is not None:
            return self._joined([half.load() for half in halves])
        start = insert(vector.BroadcastOp(zero(self.builder, element), type)).vector
        if self.is_in_row:
            mask = self.lanes.mask(self.builder)
            load = vector.MaskedLoadOp(self.buffer, self.at(), mask, start, type)
            return insert(load).result
        for lane in range(self.lanes.active):
            value = load_element(self.builder, self.buffer, self.at(lane))
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
            self.builder.insert(PrefetchOp(self.buffer, self.at(), locality=FIRST_CACHE))

    def store(self, value: SSAValue) -> None:
        """Store a scalar, or the active lanes of a vector."""
        insert = self.builder.insert
        if self.lanes.count == 1:
            store_element(self.builder, value, self.buffer, self.at())
        elif (halves := self._halves()) is not None:
            for number, half in enumerate(halves):
                half.store(self._half_of(value, number))
        elif not self.is_in_row:
            for lane in range(self.lanes.active):
                element = insert(vector.ExtractOp(value, [lane], element_of(self.buffer))).result
                store_element(self.builder, element, self.buffer, self.at(lane))
        elif self.lanes.partial:
            mask = self.lanes.mask(self.builder)
            insert(vector.MaskedStoreOp(self.buffer, self.at(), mask, value))
        else:
            store_row(self.builder, value, self.buffer, self.at())


def load_pair(first: Access, second: Access) -> Sequence[SSAValue]:
    """Load what two accesses read: at once where the second is beside the first in each lane."""
    value = _loaded_at_once(first, second)
    if value is None:
        return first.load(), second.load()
    insert = first.builder.insert
    element, count = element_of(first.buffer), first.lanes.count
    if first.is_uniform:
        return [insert(vector.ExtractOp(value, [part], element)).result for part in (0, 1)]
    type, both = VectorType(element, [count]), range(2 * count)
    orders = (DenseArrayBase.from_list(i64, list(both[part::2])) for part in (0, 1))
    return [
        insert(vector.ShuffleOp(value, value, order, result_type=type)).result for order in orders
    ]


def _loaded_at_once(first: Access, second: Access) -> SSAValue | None:
    """Insert the load of a vector of pairs, one for each lane; None where they lie otherwise."""
    if not first.linear or not second.linear or first.lanes.partial:
        return None
    (*leading, last), (*others, behind) = first.linear, second.linear
    count = 1 if first.is_uniform else first.lanes.count
    in_row = leading == others and not any(index.lane for index in leading)
    if not in_row or behind != last + LinearIndex(1) or strides_of(first.buffer)[-1] != 1:
        return None
    if last.lane != (0 if count == 1 else 2):
        return None
    type = VectorType(element_of(first.buffer), [2 * count])
    return load_row(first.builder, first.buffer, first.at(), type)


# The ops that loops of kernels are full of, made without sorting what each constructor is given.
#
# xDSL's constructors look up how an op is put together; here it is known: no operand is optional,
# and flags are those that an op has where none are said.


def load_element(builder: Builder, buffer: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
    """Insert a load of an element."""
    assert isa(buffer.type, MemRefType[Attribute])
    element = buffer.type.element_type
    made = memref.LoadOp.create(operands=(buffer, *indices), result_types=(element,))
    return builder.insert(made).results[0]


def store_element(
    builder: Builder, value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue]
) -> None:
    """Insert a store of an element."""
    builder.insert(memref.StoreOp.create(operands=(value, buffer, *indices)))


def load_row(
    builder: Builder, buffer: SSAValue, indices: Sequence[SSAValue], type: Attribute
) -> SSAValue:
    """Insert a load of a vector of elements side by side."""
    made = vector.LoadOp.create(operands=(buffer, *indices), result_types=(type,))
    return builder.insert(made).result


def store_row(
    builder: Builder, value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue]
) -> None:
    """Insert a store of a vector to elements side by side."""
    builder.insert(vector.StoreOp.create(operands=(value, buffer, *indices)))


def counted_loop(
    builder: Builder, lower: SSAValue, upper: SSAValue, step: SSAValue, body: Region
) -> scf.ForOp:
    """Insert a loop that carries nothing."""
    return builder.insert(scf.ForOp.create(operands=(lower, upper, step), regions=(body,)))


def end_iteration(builder: Builder) -> None:
    """Insert the end of the body of a loop that carries nothing."""
    builder.insert(scf.YieldOp.create())
