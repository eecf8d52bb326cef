"""What a kernel's loops do to the addresses of its operands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineMap,
)

from gawee_dialect.analysis.kernel_kind import multiplied_inputs
from gawee_dialect.dialect.affine_range import used_dims, value_range
from gawee_dialect.dialect.kernels.kernel import KernelOp, shape_of
from gawee_dialect.dialect.kernels.schedule import Loop

BYTES = 4
"""Of an element, where the model counts memory: f32, what schedules are made for."""


class Lanes:
    """How far apart neighbouring points along a dimension are, as far along it as was asked."""

    def __init__(self, map: AffineMap, shape: tuple[int, ...], dim: int) -> None:
        strides = [prod(shape[index + 1 :]) for index in range(len(shape))]
        self._dim, self._point = dim, [0] * map.num_dims
        self._moving = [
            (expr, stride)
            for expr, stride in zip(map.results, strides, strict=True)
            if dim in expr.used_dims()
        ]
        self._last: int | None = None
        """The offset of the last point that was looked at; None where all are alike."""
        if all(isinstance(expr, AffineDimExpr) for expr, _ in self._moving):
            self._step = sum(stride for _, stride in self._moving)
        else:
            self._last = self._offset(1)
            self._step = self._last - self._offset(0)
        self._reach, self._varies = 2, False

    def _offset(self, lane: int) -> int:
        self._point[self._dim] = lane
        return sum(stride * expr.eval(self._point, []) for expr, stride in self._moving)

    def step(self, lanes: int) -> int | None:
        """Return what is between any two neighbours of so many lanes; None where that varies."""
        while self._last is not None and self._reach < lanes and not self._varies:
            before, self._last = self._last, self._offset(self._reach)
            if self._last - before == self._step:
                self._reach += 1
            else:
                self._varies = True
        alike = self._last is None or lanes <= self._reach
        return self._step if alike and lanes >= 2 else None


@dataclass(frozen=True)
class Operand:
    """One operand of one kernel: what the loops make of it."""

    value: SSAValue
    map: AffineMap
    in_accumulate: bool
    in_finish: bool
    is_parameter: bool
    """Whether it depends on parameters alone, so that its layout is free."""
    is_widened: bool = False
    """Whether sums take its floats in a wider type: each that is loaded is converted."""

    @cached_property
    def dims(self) -> frozenset[int]:
        """The dimensions that it depends on."""
        return frozenset(used_dims(self.map))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return shape_of(self.value)

    @cached_property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @cached_property
    def packed(self) -> dict[Loop | None, bool]:
        """Whether it is copied into the order in which a vector reads it, as far as was asked."""
        return {}

    @cached_property
    def _lanes(self) -> dict[int, Lanes]:
        # A map takes longer to hash than all else that the cost model computes for a tile.
        return {}

    def step(self, dim: int, lanes: int) -> int | None:
        """Return how far apart neighbouring lanes along a dimension are."""
        if dim not in self._lanes:
            self._lanes[dim] = Lanes(self.map, self.shape, dim)
        return self._lanes[dim].step(lanes)

    @cached_property
    def _regions(self) -> dict[tuple[int, ...], int]:
        return {}

    def region(self, extents: tuple[int, ...]) -> int:
        """Return how many elements there are between those that so many points lead to."""
        if extents not in self._regions:
            ranges = [value_range(expr, extents) for expr in self.map.results]
            self._regions[extents] = prod(most - least + 1 for least, most in ranges)
        return self._regions[extents]

    def is_in_halves(self, dim: int, lanes: int) -> bool:
        """Whether each half of a vector's lanes lies side by side, and the two are apart."""
        return self.block_of(dim) * 2 == lanes and self.step(dim, lanes // 2) == 1

    def visits_each_once(self, sizes: Sequence[int]) -> bool:
        """Whether different points of its dimensions are different elements."""
        return prod(sizes[dim] for dim in self.dims) <= self.elements

    def block_of(self, dim: int) -> int:
        """Return in blocks of how many points a dimension is stored; 1 where it is not."""
        for result in self.map.results:
            for expr in result.dfs():
                match expr:
                    case AffineBinaryOpExpr(
                        kind=AffineBinaryOpKind.FloorDiv,
                        lhs=AffineDimExpr(position=position),
                        rhs=AffineConstantExpr(value=value),
                    ) if position == dim:
                        return value
                    case _:
                        pass
        return 1


@dataclass(frozen=True)
class KernelAccesses:
    """A kernel, its operands, and how much each point computes."""

    op: KernelOp
    inputs: Sequence[Operand]
    output: Operand
    runs_once: bool
    """Whether all that it reads is known early, so that it runs before any input comes."""
    in_pairs: bool = False
    """Whether lanes are along no reduction: a step of each lane takes two neighbours there."""

    @staticmethod
    def of(op: KernelOp, known_early: Sequence[bool]) -> "KernelAccesses":
        """Look at a kernel; `known_early` says of each input whether it depends on no other."""
        runs_once = all(known_early)
        accumulated = op.accumulate.block.args if op.accumulate.blocks else ()
        finished = op.finish.block.args
        maps = op.maps
        inputs = [
            Operand(
                value,
                maps[index],
                bool(accumulated) and bool(accumulated[index].uses),
                bool(finished[index].uses),
                known_early[index] and not runs_once,
                bool(accumulated) and bool(_conversions(accumulated[index])),
            )
            for index, value in enumerate(op.inputs)
        ]
        output = Operand(op.target, maps[-1], False, True, False)
        return KernelAccesses(op, inputs, output, runs_once)

    @cached_property
    def accumulate_ops(self) -> int:
        """How many vector instructions a point of the reduction takes; a multiply-add is one.

        Conversions of what is loaded are part of the loads: a tile has fewer of them than points.
        """
        if not self.op.accumulate.blocks:
            return 0
        if self.op.accumulator_type == i32 and multiplied_inputs(self.op) is not None:
            return 1
        count = _count(self.op.accumulate)
        converted = sum(map(_conversions, self.op.accumulate.block.args))
        return max(1, count - _products(self.op.accumulate) - converted)

    @cached_property
    def finish_ops(self) -> int:
        """How many vector instructions finishing a point takes."""
        return _count(self.op.finish)

    @cached_property
    def sizes(self) -> Sequence[int]:
        """How many points each dimension has."""
        return self.op.sizes

    @cached_property
    def num_parallel(self) -> int:
        """How many dimensions are not reduced; they come first."""
        return self.op.num_parallel

    @cached_property
    def reductions(self) -> range:
        """The dimensions that are reduced."""
        return range(self.num_parallel, len(self.sizes))


COSTS: Mapping[str, int] = {
    "arith.constant": 0,
    "gawee.yield": 0,
    "arith.divf": 4,
    "math.sqrt": 6,
    "math.exp": 10,
    "math.log": 12,
    "math.erf": 16,
    "math.tanh": 16,
}
"""Vector instructions that ops stand for; others are one."""


def _count(region: Region) -> int:
    return sum(COSTS.get(op.name, 1) for op in region.block.ops)


def _conversions(argument: SSAValue) -> int:
    """Count the ops that convert an input to a wider float."""
    return sum(isinstance(use.operation, arith.ExtFOp | arith.SIToFPOp) for use in argument.uses)


def _products(region: Region) -> int:
    """Count the products that sums take in."""
    return sum(isinstance(op, arith.MulfOp) for op in region.block.ops)
