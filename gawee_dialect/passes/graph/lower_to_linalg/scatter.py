"""Scatters to a loop nest over the updates, which writes one element after the other.

No structured op writes at computed positions, so these are `scf.for` loops that carry the tensor.
Every version of it is read before the next is made, so `bufferize` writes in place.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.graph.indexing import ScatterElementsOp, ScatterNdOp, ScatterOp
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.graph.lower_to_linalg.gather import from_start, positions_from_start
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant
from gawee_dialect.passes.rewrite_pass import Pattern

Step = Callable[[Scalars, Sequence[SSAValue], SSAValue], SSAValue]
"""Computes the next version of a tensor from the loop counters and the last version."""

COMBINE: Mapping[str, Callable[[Scalars, SSAValue, SSAValue], SSAValue]] = {
    "add": Scalars.add,
    "mul": Scalars.multiply,
    "max": Scalars.maximum,
    "min": Scalars.minimum,
}
"""What a reduction makes of what a position held and of an update to it."""


class LowerScatterElements(Pattern):
    """gawee.scatter_elements -> linalg.generic of positions, scf.for over updates { tensor.extract;
    tensor.insert }
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScatterElementsOp, rewriter: PatternRewriter) -> None:
        shape = tensor_shape(op.input)
        axis = op.axis.value.data % len(shape)

        along = positions_from_start(rewriter, op.indices, shape[axis])

        def step(scalars: Scalars, counters: Sequence[SSAValue], target: SSAValue) -> SSAValue:
            positions = list(counters)
            position = scalars.element(along, counters)
            positions[axis] = scalars.emit(arith.IndexCastOp(position, IndexType()))
            return _updated(scalars, op, target, positions, counters)

        result = nest(rewriter, tensor_shape(op.updates), op.input, step)
        rewriter.replace(op, (), [result])


class LowerScatterNd(Pattern):
    """gawee.scatter_nd -> scf.for over updates { tensor.extract; tensor.insert }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScatterNdOp, rewriter: PatternRewriter) -> None:
        shape = tensor_shape(op.input)
        *rows, named = tensor_shape(op.indices)

        def step(scalars: Scalars, counters: Sequence[SSAValue], target: SSAValue) -> SSAValue:
            row, inner = counters[: len(rows)], counters[len(rows) :]
            positions = [
                from_start(
                    scalars,
                    scalars.element(op.indices, [*row, scalars.index(part)]),
                    shape[part],
                )
                for part in indices_of(named)
            ]
            return _updated(scalars, op, target, [*positions, *inner], counters)

        result = nest(rewriter, tensor_shape(op.updates), op.input, step)
        rewriter.replace(op, (), [result])


def _updated(
    scalars: Scalars,
    op: ScatterOp,
    target: SSAValue,
    positions: Sequence[SSAValue],
    counters: Sequence[SSAValue],
) -> SSAValue:
    value = scalars.element(op.updates, counters)
    if op.reduction.data != "none":
        combine = COMBINE[op.reduction.data]
        value = combine(scalars, scalars.element(target, positions), value)
    return scalars.emit(tensor.InsertOp(value, target, positions))


def nest(builder: Builder, trip_counts: Sequence[int], init: SSAValue, step: Step) -> SSAValue:
    """Run a step for each point of a box in row-major order; returns the last version."""
    lower, one = constant(builder, 0, IndexType()), constant(builder, 1, IndexType())
    # A single step runs in a loop as well: outside of loops, nothing inserts elements.
    uppers = [constant(builder, count, IndexType()) for count in trip_counts or (1,)]

    def build(outside: Builder, counters: list[SSAValue], carried: SSAValue) -> SSAValue:
        if len(counters) == len(uppers):
            return step(Scalars(outside), counters[: len(trip_counts)], carried)
        block = Block(arg_types=[IndexType(), init.type])
        inside = Builder(InsertPoint.at_end(block))
        counter, version = block.args
        inside.insert(scf.YieldOp(build(inside, [*counters, counter], version)))
        upper = uppers[len(counters)]
        loop = scf.ForOp(lower, upper, one, [carried], Region(block))
        return outside.insert(loop).results[0]

    return build(builder, [], init)


# Non-maximum suppression to loops over pairs, which cross out one candidate after the other.


class LowerNonMaxSuppression(Pattern):
    """gawee.non_max_suppression -> scf.for over pairs { tensor.extract; tensor.insert }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NonMaxSuppressionOp, rewriter: PatternRewriter) -> None:
        def step(scalars: Scalars, counters: Sequence[SSAValue], kept: SSAValue) -> SSAValue:
            *batch, first, second = counters
            # Rows are walked in order: what is kept of `first` has been decided by its own.
            overlaps = scalars.element(op.overlaps, counters)
            later = scalars.less(first, second)
            strikes = scalars.emit(
                arith.AndIOp(
                    scalars.emit(arith.AndIOp(overlaps, later)),
                    scalars.element(kept, [*batch, first]),
                )
            )
            spared = scalars.emit(arith.XOrIOp(strikes, scalars.constant(1, i1)))
            mine = scalars.element(kept, [*batch, second])
            value = scalars.emit(arith.AndIOp(mine, spared))
            return scalars.emit(tensor.InsertOp(value, kept, [*batch, second]))

        result = nest(rewriter, tensor_shape(op.overlaps), op.candidates, step)
        rewriter.replace(op, (), [result])
