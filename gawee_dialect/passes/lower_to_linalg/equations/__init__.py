"""Ops that are defined by index notation: a structured op for each reduction and each equation."""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.index_notation import IndexNotationOp
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerIndexNotation(Pattern):
    """an op with a body in index notation -> linalg.generic, one a reduction and one an equation

    Elements at sums of multiples of indices are read by maps, through tensor.pad where they may be
    outside; others at positions that are computed.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IndexNotationOp, rewriter: PatternRewriter) -> None:
        # Only modules with such ops load what reads them.
        from gawee_dialect.opdesc.described_op import BodyOp
        from gawee_dialect.passes.lower_to_linalg.equations.steps import lower_steps

        assert isinstance(op, BodyOp)
        if op.results:
            rewriter.name_hint = op.results[0].name_hint
        rewriter.replace(op, (), lower_steps(rewriter, op))
