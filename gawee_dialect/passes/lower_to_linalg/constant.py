"""Constants to `arith.constant`."""

from xdsl.dialects import arith
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerConstant(Pattern):
    """gawee.constant dense<...> -> arith.constant dense<...>"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConstantOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, arith.ConstantOp(op.value))
