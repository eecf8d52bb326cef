"""A sum in another order, in a pass that promises to keep every bit."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class AddFromTheRight(Pattern):
    """gawee.add (gawee.add %a, %b), %c -> gawee.add %a, (gawee.add %b, %c)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        inner = op.lhs.owner
        if not isinstance(inner, AddOp):
            self.missed(op, "expected a sum on the left")
            return
        tail = rewriter.insert(AddOp(inner.rhs, op.rhs))
        rewriter.replace(op, AddOp(inner.lhs, tail.result))


@dataclass(frozen=True)
class UndeclaredReassociation(RewritePass):
    """Reassociate sums."""

    name = "undeclared-reassociation"
    numerics: ClassVar[Numerics] = EXACT
    patterns = (AddFromTheRight,)
