"""Lower index arithmetic by affine maps to arith, and loops with affine bounds to scf."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import affine, arith, memref, scf, vector
from xdsl.dialects.builtin import BoolAttr, DenseIntElementsAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
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
from gawee_dialect.upstream.scf import ParallelOp

Combine = Callable[[SSAValue, SSAValue], Operation]

SIGNED: dict[AffineBinaryOpKind, Combine] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}

PREDICATES = {
    AffineConstraintKind.ge: "sge",
    AffineConstraintKind.le: "sle",
    AffineConstraintKind.eq: "eq",
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
    return folded(builder, results(builder, map, values), combine)


def folded(builder: Builder, values: Iterable[SSAValue], combine: Combine) -> SSAValue:
    """Insert what combines values to one."""

    def joined(one: SSAValue, other: SSAValue) -> SSAValue:
        return builder.insert(combine(one, other)).results[0]

    return reduce(joined, values)


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


class LowerVectorLoad(Pattern):
    """affine.vector_load %m[map] -> vector.load at what the map computes"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.VectorLoadOp, rewriter: PatternRewriter) -> None:
        indices = results(rewriter, op.map.data, op.indices)
        rewriter.replace(op, vector.LoadOp(op.memref, indices, op.result.type))


class LowerVectorStore(Pattern):
    """affine.vector_store %v, %m[map] -> vector.store at what the map computes"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.VectorStoreOp, rewriter: PatternRewriter) -> None:
        indices = results(rewriter, op.map.data, op.indices)
        rewriter.replace(op, vector.StoreOp(op.value, op.memref, indices))


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


class LowerIf(Pattern):
    """affine.if -> scf.if on the conjunction of the set's constraints, each by arith.cmpi"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.IfOp, rewriter: PatternRewriter) -> None:
        condition = op.condition.data
        holds: SSAValue = rewriter.insert(arith.ConstantOp(BoolAttr.from_bool(True))).result
        for each in condition.constraints:
            lhs = computed(rewriter, each.lhs, condition.num_dims, op.args)
            rhs = computed(rewriter, each.rhs, condition.num_dims, op.args)
            kept = rewriter.insert(arith.CmpiOp(lhs, rhs, PREDICATES[each.kind])).result
            holds = rewriter.insert(arith.AndIOp(holds, kept)).result
        for region in filter(None, (op.then_region.blocks, op.else_region.blocks)):
            last = region[0].last_op
            assert isinstance(last, affine.YieldOp)
            rewriter.replace(last, scf.YieldOp(*last.arguments))
        then = rewriter.move_region_contents_to_new_regions(op.then_region)
        otherwise = rewriter.move_region_contents_to_new_regions(op.else_region)
        rewriter.replace(op, scf.IfOp(holds, op.result_types, then, otherwise))


class LowerParallel(Pattern):
    """affine.parallel -> scf.parallel between the tightest bounds"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.ParallelOp, rewriter: PatternRewriter) -> None:
        if op.results:
            self.missed(op, f"expected no reductions, got {len(op.results)}")
            return
        low, high = op.lowerBoundsMap.data, op.upperBoundsMap.data
        split = low.num_dims + low.num_symbols
        bounds = results(rewriter, low, op.operands[:split])
        lower = _tightest(rewriter, bounds, op.lowerBoundsGroups, arith.MaxSIOp)
        bounds = results(rewriter, high, op.operands[split:])
        upper = _tightest(rewriter, bounds, op.upperBoundsGroups, arith.MinSIOp)
        steps = [index(rewriter, step.value.data) for step in op.steps]
        last = op.body.block.last_op
        assert isinstance(last, affine.YieldOp)
        rewriter.replace(last, scf.ReduceOp())
        body = rewriter.move_region_contents_to_new_regions(op.body)
        rewriter.replace(op, ParallelOp(lower, upper, steps, body))


def _tightest(
    builder: Builder, bounds: Sequence[SSAValue], sizes: DenseIntElementsAttr, combine: Combine
) -> list[SSAValue]:
    """Return one bound of each loop; `sizes` says how many it is given."""
    rest = iter(bounds)
    return [folded(builder, islice(rest, size), combine) for size in sizes.get_values()]


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
    patterns = (
        LowerApply,
        LowerMin,
        LowerMax,
        LowerLoad,
        LowerStore,
        LowerVectorLoad,
        LowerVectorStore,
        LowerFor,
        LowerIf,
        LowerParallel,
    )
    removes = (
        affine.ApplyOp,
        affine.MinOp,
        MaxOp,
        affine.LoadOp,
        affine.StoreOp,
        affine.VectorLoadOp,
        affine.VectorStoreOp,
        affine.ForOp,
        affine.IfOp,
        affine.ParallelOp,
    )
