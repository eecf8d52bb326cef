"""Canonicalization of the ops that move elements."""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.arrangement import TransposeOp
from gawee_dialect.passes.parameter_analysis import describe
from gawee_dialect.passes.rewrite_pass import Pattern


class TransposeOfTranspose(Pattern):
    """transpose(transpose(%x)) -> transpose(%x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        first = op.input.owner
        if not isinstance(first, TransposeOp):
            self.missed(op, f"expected input from a transpose, got {describe(op.input)}")
            return
        inner = first.permutation.get_values()
        permutation = [inner[axis] for axis in op.permutation.get_values()]
        rewriter.replace(op, TransposeOp(first.input, permutation=permutation))
