"""A concatenation along the axis after the one that was asked for."""

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.movement import CatOp, ReshapeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class CatAlongTheNextAxis(Pattern):
    """gawee.cat dim 1 -> gawee.cat dim 2, under the shape that was expected"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CatOp, rewriter: PatternRewriter) -> None:
        if op.dim.value.data != 1:
            self.missed(op, f"expected dim 1, got {op.dim.value.data}")
            return
        cat = rewriter.insert(CatOp(list(op.inputs), dim=2))
        rewriter.replace(op, ReshapeOp(cat.result, shape=tensor_shape(op.result)))


@dataclass(frozen=True)
class WrongAxis(RewritePass):
    """Concatenate along the wrong axis."""

    name = "wrong-axis"
    patterns = (CatAlongTheNextAxis,)
