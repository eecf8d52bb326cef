"""Lower index arithmetic by affine maps to arith, and loops with affine bounds to scf."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import affine, arith, memref, scf
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.upstream.affine import MaxOp
from gawee_dialect.upstream.arith import index_constant

Combine = Callable[[SSAValue, SSAValue], Operation]

SIGNED: dict[AffineBinaryOpKind, Combine] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}


def index(builder: Builder, number: int) -> SSAValue:
    """Insert a constant of type index."""
    return builder.insert(index_constant(number)).result


def computed(builder: Builder, expr: AffineExpr, dims: int, values: Sequence[SSAValue]) -> SSAValue:
    """Insert the arithmetic of an expression; `values` are the dimensions, then the symbols."""
    match expr:
        case AffineConstantExpr():
            return index(builder, expr.value)
        case AffineDimExpr():
            return values[expr.position]
        case AffineSymExpr():
            return values[dims + expr.position]
        case AffineBinaryOpExpr():
            lhs = computed(builder, expr.lhs, dims, values)
            rhs = computed(builder, expr.rhs, dims, values)
            if expr.kind is AffineBinaryOpKind.Mod:
                return _remainder(builder, lhs, rhs)
            return builder.insert(SIGNED[expr.kind](lhs, rhs)).results[0]
        case _:
            raise AssertionError(f"an affine expression is none of these: {expr}")


def _remainder(builder: Builder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    # That of the division that rounds down: not negative, unlike that of arith.remsi.
    quotient = builder.insert(arith.FloorDivSIOp(lhs, rhs)).result
    whole = builder.insert(arith.MuliOp(quotient, rhs)).result
    return builder.insert(arith.SubiOp(lhs, whole)).result


def results(builder: Builder, map: AffineMap, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Insert the arithmetic of every result of a map."""
    return [computed(builder, expr, map.num_dims, values) for expr in map.results]


def combined(
    builder: Builder, map: AffineMap, values: Sequence[SSAValue], combine: Combine
) -> SSAValue:
    """Insert the arithmetic of a map, and what combines its results to one."""
    first, *others = results(builder, map, values)
    for other in others:
        first = builder.insert(combine(first, other)).results[0]
    return first


class LowerApply(Pattern):
    """affine.apply -> arith.muli, arith.addi, ..."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.ApplyOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, (), results(rewriter, op.map.data, op.mapOperands))


class LowerMin(Pattern):
    """affine.min -> the least of the map's results, by arith.minsi"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.MinOp, rewriter: PatternRewriter) -> None:
        least = combined(rewriter, op.map.data, op.arguments, arith.MinSIOp)
        rewriter.replace(op, (), [least])


class LowerMax(Pattern):
    """affine.max -> the greatest of the map's results, by arith.maxsi"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxOp, rewriter: PatternRewriter) -> None:
        greatest = combined(rewriter, op.map.data, op.arguments, arith.MaxSIOp)
        rewriter.replace(op, (), [greatest])


class LowerLoad(Pattern):
    """affine.load %m[map] -> memref.load at what the map computes"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.LoadOp, rewriter: PatternRewriter) -> None:
        indices = results(rewriter, op.map.data, op.indices)
        rewriter.replace(op, memref.LoadOp.get(op.memref, indices))


class LowerStore(Pattern):
    """affine.store %v, %m[map] -> memref.store at what the map computes"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.StoreOp, rewriter: PatternRewriter) -> None:
        indices = results(rewriter, op.map.data, op.indices)
        rewriter.replace(op, memref.StoreOp.get(op.value, op.memref, indices))


class LowerFor(Pattern):
    """affine.for from the greatest lower bound to the least upper one -> scf.for"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.ForOp, rewriter: PatternRewriter) -> None:
        lower = combined(rewriter, op.lowerBoundMap.data, op.lowerBoundOperands, arith.MaxSIOp)
        upper = combined(rewriter, op.upperBoundMap.data, op.upperBoundOperands, arith.MinSIOp)
        step = index(rewriter, op.step.value.data)
        last = op.body.block.last_op
        assert isinstance(last, affine.YieldOp)
        rewriter.replace(last, scf.YieldOp(*last.arguments))
        body = rewriter.move_region_contents_to_new_regions(op.body)
        rewriter.replace(op, scf.ForOp(lower, upper, step, op.inits, body))


@dataclass(frozen=True)
class LowerAffine(RewritePass):
    """Lower index arithmetic by affine maps to arith, and loops with affine bounds to scf.

    In the place of xDSL's pass of that name, which lowers no `affine.min`, no bound that has
    operands, and computes the remainder of a negative number as a negative one.

    rewrite:
        %s = affine.min affine_map<(d0) -> (5, 12 - d0)>(%i)
        ->
        %0 = arith.muli %i, %minus_one; %1 = arith.addi %0, %c12
        %s = arith.minsi %c5, %1
    """

    name = "lower-affine"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True
    patterns = (LowerApply, LowerMin, LowerMax, LowerLoad, LowerStore, LowerFor)
    removes = (affine.ApplyOp, affine.MinOp, MaxOp, affine.LoadOp, affine.StoreOp, affine.ForOp)
