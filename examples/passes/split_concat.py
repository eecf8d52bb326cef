"""Split a concatenation of many tensors into a chain of pairs."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class CatOfMany(Pattern):
    """cat(a, b, c) -> cat(cat(a, b), c)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) < 3:
            return self.missed(op, f"expected three inputs or more, got {len(op.inputs)}")
        *others, last = op.inputs
        dim = op.dim.value.data
        before = CatOp(others, dim=dim)
        rewriter.replace(op, [before, CatOp([before.result, last], dim=dim)])


@dataclass(frozen=True)
class SplitConcat(RewritePass):
    """Split a concatenation of many tensors into a chain of pairs."""

    name = "split-concat"
    numerics: ClassVar[Numerics] = EXACT
    patterns = (CatOfMany,)
