"""Lower structured ops on buffers to loops over scalars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_bounds import Index, size_of
from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.buffers.lower_linalg_to_loops.loop_order import (
    loop_order,
    sized_by,
    static_trip_counts,
)
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.upstream import linalg
from gawee_dialect.upstream.arith import index_constant

BINARY_OPS = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    # Loop counters and sizes are not negative, so the unsigned division is the floor.
    AffineBinaryOpKind.FloorDiv: arith.DivUIOp,
    AffineBinaryOpKind.Mod: arith.RemUIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivUIOp,
}


def constant_index(builder: Builder, value: int) -> SSAValue:
    """Return a constant of type index, one for each value at the top of the function."""
    function = builder.insertion_point.block.parent_op()
    while function is not None and type(function) is not FuncOp:
        function = function.parent_op()
    assert isinstance(function, FuncOp)
    top = function.body.first_block
    assert top is not None
    op = top.first_op
    while type(op) is arith.ConstantOp:  # dozens for each number: `isinstance` would take thrice
        number = op.properties["value"]
        if type(number) is IntegerAttr and number.value.data == value:
            if type(number.type) is IndexType:
                return op.result
        op = op.next_op
    constant = index_constant(value)
    assert top.first_op is not None
    top.insert_op_before(constant, top.first_op)
    hand_on_location(function, constant)
    return constant.result


def build_affine(builder: Builder, expr: AffineExpr, dims: Sequence[SSAValue | int]) -> SSAValue:
    """Insert the arithmetic of an affine expression over loop counters; an int is a constant."""
    match expr:
        case AffineDimExpr():
            dim = dims[expr.position]
            return constant_index(builder, dim) if isinstance(dim, int) else dim
        case AffineConstantExpr():
            return constant_index(builder, expr.value)
        case AffineBinaryOpExpr():
            return _build_binary(builder, expr, dims)
        case _:
            raise AssertionError(f"structured ops have no symbols: {expr}")


def _build_binary(
    builder: Builder, expr: AffineBinaryOpExpr, dims: Sequence[SSAValue | int]
) -> SSAValue:
    neutral = {AffineBinaryOpKind.Add: 0, AffineBinaryOpKind.Mul: 1}.get(expr.kind)
    for side, other in ((expr.lhs, expr.rhs), (expr.rhs, expr.lhs)):
        if neutral is not None and _constant_of(side, dims) == neutral:
            return build_affine(builder, other, dims)
    lhs = build_affine(builder, expr.lhs, dims)
    rhs = build_affine(builder, expr.rhs, dims)
    return builder.insert(BINARY_OPS[expr.kind](lhs, rhs)).result


def _constant_of(expr: AffineExpr, dims: Sequence[SSAValue | int]) -> int | None:
    if isinstance(expr, AffineConstantExpr):
        return expr.value
    if isinstance(expr, AffineDimExpr):
        dim = dims[expr.position]
        return dim if isinstance(dim, int) else None
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.Mul:
        sides = (_constant_of(expr.lhs, dims), _constant_of(expr.rhs, dims))
        return 0 if 0 in sides else None
    return None


def loop_sizes(builder: Builder, op: LinalgStructuredOperation) -> list[Index]:
    """Return the trip count of every loop: a number, or the size of what the loop indexes alone."""
    counts = static_trip_counts(op)
    found: dict[int, Index] = {dim: n for dim, n in enumerate(counts) if n is not None}
    for dim, buffer, axis in sized_by(op):
        if dim in found:
            continue
        size = size_of(buffer, axis)
        if size is None:
            size = builder.insert(memref.DimOp(buffer, constant_index(builder, axis))).result
        found[dim] = size
    return [found[dim] for dim in range(len(counts))]


@dataclass
class LoopNest:
    """The loops of one structured op, built from the outermost to the innermost."""

    op: LinalgStructuredOperation
    order: Sequence[int]
    trip_counts: Sequence[Index]
    dims: list[SSAValue | int]

    def build(self, builder: Builder) -> None:
        """Insert the nest; reductions that run innermost keep their value in a register."""
        iterators = [attr.data for attr in self.op.get_iterator_types()]
        split = len(self.order)
        while split and iterators[self.order[split - 1]] is not IteratorType.PARALLEL:
            split -= 1
        if not self._stay(self.order[split:]):
            split = len(self.order)
        self._build_parallel(builder, self.order[:split], self.order[split:])

    def _stay(self, loops: Sequence[int]) -> bool:
        """Whether every result is one element, and is accumulated, while these loops run."""
        maps = [map for map, _ in self._operands()[self._inputs :]]
        moved = any(dim in loops for map in maps for dim in used_dims(map))
        return not moved and all(self._is_read(index) for index in range(len(maps)))

    def _build_parallel(
        self, builder: Builder, loops: Sequence[int], reductions: Sequence[int]
    ) -> None:
        if not loops:
            self._build_element(builder, reductions)
            return
        with_counter = self._open(builder, loops[0], ())
        self._build_parallel(with_counter.builder, loops[1:], reductions)
        with_counter.close(())

    def _build_element(self, builder: Builder, reductions: Sequence[int]) -> None:
        """Load the results, run the reductions over them, store them."""
        places = [
            (value, self._indices(builder, map)) for map, value in self._operands()[self._inputs :]
        ]
        carried = [
            builder.insert(memref.LoadOp.get(value, indices)).res if self._is_read(index) else None
            for index, (value, indices) in enumerate(places)
        ]
        results = self._build_reductions(builder, reductions, carried)
        for result, (value, indices) in zip(results, places, strict=True):
            builder.insert(memref.StoreOp.get(result, value, indices))

    def _build_reductions(
        self, builder: Builder, loops: Sequence[int], carried: Sequence[SSAValue | None]
    ) -> Sequence[SSAValue]:
        if not loops:
            return self._build_body(builder, carried)
        values = [value for value in carried if value is not None]
        loop = self._open(builder, loops[0], values)
        inner = iter(loop.carried)
        inside = [None if value is None else next(inner) for value in carried]
        results = self._build_reductions(loop.builder, loops[1:], inside)
        return loop.close(results)

    def _open(self, builder: Builder, dim: int, carried: Sequence[SSAValue]) -> "OpenLoop":
        if self.trip_counts[dim] == 1:
            self.dims[dim] = 0
            return OpenLoop(builder, None, carried)
        body = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        body.args[0].name_hint = f"d{dim}"
        count = self.trip_counts[dim]
        lower, step = constant_index(builder, 0), constant_index(builder, 1)
        upper = constant_index(builder, count) if isinstance(count, int) else count
        loop = builder.insert(scf.ForOp(lower, upper, step, carried, Region(body)))
        self.dims[dim] = body.args[0]
        return OpenLoop(Builder(InsertPoint.at_end(body)), loop, body.args[1:])

    # The scalar body.

    @property
    def _inputs(self) -> int:
        return len(self.op.inputs)

    def _operands(self) -> list[tuple[AffineMap, SSAValue]]:
        maps = [attr.data for attr in self.op.get_indexing_maps()]
        return list(zip(maps, self.op.operands, strict=True))

    def _is_read(self, result: int) -> bool:
        return bool(self.op.body.block.args[self._inputs + result].uses)

    def _indices(self, builder: Builder, map: AffineMap) -> list[SSAValue]:
        return [build_affine(builder, expr, self.dims) for expr in map.results]

    def _build_body(
        self, builder: Builder, carried: Sequence[SSAValue | None]
    ) -> Sequence[SSAValue]:
        arguments = self.op.body.block.args
        values: dict[SSAValue, SSAValue] = {}
        for argument, (map, operand) in zip(arguments, self._operands()[: self._inputs]):
            if argument.uses:
                values[argument] = self._load(builder, map, operand)
        for argument, value in zip(arguments[self._inputs :], carried, strict=True):
            if value is not None:
                values[argument] = value
        for inner in self.op.body.block.ops:
            if isinstance(inner, linalg.YieldOp):
                return [values.get(value, value) for value in inner.operands]
            if isinstance(inner, linalg.IndexOp):
                dim = self.dims[inner.dim.value.data]
                values[inner.result] = constant_index(builder, dim) if isinstance(dim, int) else dim
            else:
                builder.insert(inner.clone(values))
        raise AssertionError("a structured op's body ends in linalg.yield")

    def _load(self, builder: Builder, map: AffineMap, operand: SSAValue) -> SSAValue:
        if not isinstance(operand.type, MemRefType):
            return operand
        return builder.insert(memref.LoadOp.get(operand, self._indices(builder, map))).res


@dataclass
class OpenLoop:
    """A loop whose body is being built; no loop at all where the trip count is one."""

    builder: Builder
    loop: scf.ForOp | None
    carried: Sequence[SSAValue]

    def close(self, results: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """End the body with the values to carry; return what the loop leaves."""
        if self.loop is None:
            return results
        self.builder.insert(scf.YieldOp(*results))
        return self.loop.results


class LowerStructuredOp(Pattern):
    """linalg.op on memrefs -> scf.for nest { memref.load; scalar body; memref.store }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LinalgStructuredOperation, rewriter: PatternRewriter) -> None:
        if op.results:
            self.missed(op, "expected operands on buffers, got tensors; bufferize comes first")
            return
        trip_counts = loop_sizes(rewriter, op)
        order = loop_order(op)
        if 0 not in trip_counts:
            dims: list[SSAValue | int] = [0] * len(order)
            LoopNest(op, order, trip_counts, dims).build(rewriter)
        rewriter.erase(op)


class LowerCopy(Pattern):
    """memref.copy %a, %b -> linalg.copy, which then becomes loops"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.CopyOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, linalg.CopyOp((op.source,), (op.destination,), ()))


@dataclass(frozen=True)
class LowerLinalgToLoops(RewritePass):
    """Lower structured ops on buffers to loops over scalars.

    Parallel loops run outside reductions, except that the loop along which the most operands are
    contiguous runs innermost. A reduction that runs innermost carries its value from one iteration
    to the next instead of through memory. Loops of one iteration disappear.

    Requires: structured ops on memrefs (`bufferize` comes first). A size that is not static is a
    bound of a loop.

    rewrite:
        linalg.matmul ins(%a, %b) outs(%c)
        ->
        scf.for %m { scf.for %n {
          %0 = memref.load %c[%m, %n]
          %1 = scf.for %k iter_args(%sum = %0) { ... }
          memref.store %1, %c[%m, %n]
        } }
    """

    name = "lower-linalg-to-loops"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True
    patterns = (LowerStructuredOp, LowerCopy)
    removes = (LinalgStructuredOperation, memref.CopyOp)
