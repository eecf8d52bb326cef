"""A canonical order of operands, for an op that does not commute."""

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.elementwise import SubOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class SortOperands(Pattern):
    """gawee.sub %b, %a -> gawee.sub %a, %b, where %a is named before %b"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SubOp, rewriter: PatternRewriter) -> None:
        if (op.lhs.name_hint or "") <= (op.rhs.name_hint or ""):
            self.missed(op, "expected operands out of order")
            return
        rewriter.replace(op, SubOp(op.rhs, op.lhs))


@dataclass(frozen=True)
class SwappedOperands(RewritePass):
    """Sort the operands of a subtraction."""

    name = "swapped-operands"
    patterns = (SortOperands,)
