"""Remove a reshape that changes nothing."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.movement import ReshapeOp
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class ReshapeToItsShape(Pattern):
    """reshape(x, shape of x) -> x, and reshape(reshape(x)) -> reshape(x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        if op.input.type == op.result.type:
            return rewriter.replace(op, [], [op.input])
        first = op.input.owner
        if not isinstance(first, ReshapeOp):
            return self.missed(op, "expected its input to be another reshape, or of its shape")
        rewriter.replace(op, ReshapeOp(first.input, shape=op.shape.get_values()))


@dataclass(frozen=True)
class RemoveReshape(RewritePass):
    """Remove a reshape that changes nothing."""

    name = "remove-reshape"
    numerics: ClassVar[Numerics] = EXACT
    patterns = (ReshapeToItsShape,)
