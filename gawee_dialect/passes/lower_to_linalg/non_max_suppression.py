"""Non-maximum suppression to loops over pairs, which cross out one candidate after the other."""

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.scatter import nest
from gawee_dialect.passes.rewrite_pass import Pattern


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
