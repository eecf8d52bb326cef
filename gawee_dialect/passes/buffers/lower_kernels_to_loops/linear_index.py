"""Indices as sums of multiples of loop counters, so that quotients disappear while compiling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.linear_form import LinearForm, Range, evaluate
from gawee_dialect.dialect.open_size import OpenSize, SizeName, greatest, is_open
from gawee_dialect.passes.buffers.lower_kernels_to_loops.quick_ops import arithmetic
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import form_value


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
        return None if index.lane else self._divide(kind, index, divisor)

    def _divide(self, kind: AffineBinaryOpKind, lhs: LinearIndex, divisor: int) -> LinearIndex:
        """Divide at run time: the result counts like a loop of its own."""
        low, high = lhs.range(self.counters.range_of)
        assert low >= 0, "maps of kernels stay inside their operands"
        floor = kind is AffineBinaryOpKind.FloorDiv
        op = arith.DivUIOp if floor else arith.RemUIOp
        operands = self.value(lhs), constant_index(self.builder, divisor)
        result = arithmetic(self.builder, op, *operands)
        self.counters.trip_counts[result] = high // divisor + 1 if floor else divisor
        return LinearIndex(terms={result: 1})

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
