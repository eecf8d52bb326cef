"""Replace x * sigmoid(x) by silu(x)."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.activation import SigmoidOp, SiluOp
from gawee_dialect.dialect.graph.elementwise import MulOp
from gawee_dialect.passes.numerics import Numerics, approximates
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class MulBySigmoid(Pattern):
    """mul(x, sigmoid(x)) -> silu(x), operands in either order"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MulOp, rewriter: PatternRewriter) -> None:
        for x, gate in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if isinstance(gate.owner, SigmoidOp) and gate.owner.input is x:
                return rewriter.replace(op, SiluOp(x))
        return self.missed(op, "expected one factor to be the sigmoid of the other")


@dataclass(frozen=True)
class SigmoidToSilu(RewritePass):
    """Replace x * sigmoid(x) by silu(x)."""

    name = "sigmoid-to-silu"
    numerics: ClassVar[Numerics] = approximates(4)
    patterns = (MulBySigmoid,)
