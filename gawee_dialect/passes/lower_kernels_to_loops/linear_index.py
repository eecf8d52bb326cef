"""Indices as sums of multiples of loop counters, so that quotients disappear while compiling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from gawee_dialect.passes.lower_linalg_to_loops import constant_index


@dataclass(frozen=True)
class LinearIndex:
    """constant + lane * (number of the vector lane) + sum of coefficient * loop counter."""

    constant: int = 0
    lane: int = 0
    terms: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def __add__(self, other: "LinearIndex") -> "LinearIndex":
        terms = dict(self.terms)
        for counter, coefficient in other.terms.items():
            terms[counter] = terms.get(counter, 0) + coefficient
        kept = {counter: c for counter, c in terms.items() if c != 0}
        return LinearIndex(self.constant + other.constant, self.lane + other.lane, kept)

    def scaled(self, factor: int) -> "LinearIndex":
        """Return a multiple."""
        if factor == 0:
            return LinearIndex()
        terms = {counter: c * factor for counter, c in self.terms.items()}
        return LinearIndex(self.constant * factor, self.lane * factor, terms)

    def at_lane(self, number: int) -> "LinearIndex":
        """Return the index of one lane."""
        return LinearIndex(self.constant + self.lane * number, 0, self.terms)


@dataclass
class Counters:
    """The loop counters in scope: each runs from 0 to below its trip count; lanes likewise."""

    trip_counts: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    lanes: int = 1

    def range_of(self, index: LinearIndex) -> tuple[int, int]:
        """Return the least and greatest value of an index."""
        parts = [index.lane * (self.lanes - 1)]
        parts += [c * (self.trip_counts[counter] - 1) for counter, c in index.terms.items()]
        low = sum(part for part in parts if part < 0)
        high = sum(part for part in parts if part > 0)
        return index.constant + low, index.constant + high

    def split(self, index: LinearIndex, divisor: int) -> tuple[LinearIndex, LinearIndex] | None:
        """Return quotient and remainder of a division, None where they are not linear."""
        quotient = {n: c // divisor for n, c in index.terms.items() if c % divisor == 0}
        rest = {n: c for n, c in index.terms.items() if c % divisor}
        whole_lanes = index.lane % divisor == 0
        remainder = LinearIndex(index.constant % divisor, 0 if whole_lanes else index.lane, rest)
        low, high = self.range_of(remainder)
        if low // divisor != high // divisor:
            return None
        shift = low // divisor
        lanes = index.lane // divisor if whole_lanes else 0
        return (
            LinearIndex(index.constant // divisor + shift, lanes, quotient),
            remainder + LinearIndex(-shift * divisor),
        )


class IndexBuilder:
    """Evaluates affine expressions over loop counters at one place of a function."""

    def __init__(self, builder: Builder, counters: Counters):
        self.builder = builder
        self.counters = counters

    def evaluate(self, expr: AffineExpr, dims: Sequence[LinearIndex]) -> LinearIndex | None:
        """Return the value of an expression; None where it is not the same sum for every lane."""
        match expr:
            case AffineConstantExpr():
                return LinearIndex(expr.value)
            case AffineDimExpr():
                return dims[expr.position]
            case AffineBinaryOpExpr():
                lhs, rhs = self.evaluate(expr.lhs, dims), self.evaluate(expr.rhs, dims)
                return None if lhs is None or rhs is None else self._combine(expr.kind, lhs, rhs)
            case _:
                raise AssertionError(f"kernels have no symbols: {expr}")

    def _combine(
        self, kind: AffineBinaryOpKind, lhs: LinearIndex, rhs: LinearIndex
    ) -> LinearIndex | None:
        if kind is AffineBinaryOpKind.Add:
            return lhs + rhs
        if kind is AffineBinaryOpKind.Mul:
            return rhs.scaled(lhs.constant) if _is_constant(lhs) else lhs.scaled(rhs.constant)
        divisor = rhs.constant
        if kind is AffineBinaryOpKind.CeilDiv:
            lhs, kind = lhs + LinearIndex(divisor - 1), AffineBinaryOpKind.FloorDiv
        parts = self.counters.split(lhs, divisor)
        if parts is not None:
            return parts[0 if kind is AffineBinaryOpKind.FloorDiv else 1]
        return None if lhs.lane else self._divide(kind, lhs, divisor)

    def _divide(self, kind: AffineBinaryOpKind, lhs: LinearIndex, divisor: int) -> LinearIndex:
        """Divide at run time: the result counts like a loop of its own."""
        low, high = self.counters.range_of(lhs)
        assert low >= 0, "maps of kernels stay inside their operands"
        floor = kind is AffineBinaryOpKind.FloorDiv
        op = arith.DivUIOp if floor else arith.RemUIOp
        operands = self.value(lhs), constant_index(self.builder, divisor)
        result = self.builder.insert(op(*operands)).result
        self.counters.trip_counts[result] = high // divisor + 1 if floor else divisor
        return LinearIndex(terms={result: 1})

    def value(self, index: LinearIndex) -> SSAValue:
        """Insert the arithmetic of an index that is the same for every lane."""
        assert index.lane == 0
        total: SSAValue | None = None
        for counter, coefficient in index.terms.items():
            part = counter
            if coefficient != 1:
                factor = constant_index(self.builder, coefficient)
                part = self.builder.insert(arith.MuliOp(counter, factor)).result
            total = part if total is None else self.builder.insert(arith.AddiOp(total, part)).result
        if total is None:
            return constant_index(self.builder, index.constant)
        if index.constant:
            offset = constant_index(self.builder, index.constant)
            total = self.builder.insert(arith.AddiOp(total, offset)).result
        return total


def _is_constant(index: LinearIndex) -> bool:
    return not index.terms and not index.lane


def delinearized(
    builder: IndexBuilder, counter: SSAValue, counts: Sequence[int]
) -> list[LinearIndex]:
    """Split one counter over all points of several loops into a counter of each."""
    found: list[LinearIndex] = []
    all_points = AffineExpr.dimension(0)
    for position, count in enumerate(counts):
        later = prod(counts[position + 1 :])
        point = all_points // later % count
        index = builder.evaluate(point, [LinearIndex(terms={counter: 1})])
        assert index is not None
        found.append(index)
    return found
