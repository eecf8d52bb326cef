"""What can't be lowered: Python values that a tracer left behind."""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp
from gawee_dialect.passes.rewrite_pass import Pattern


class RejectPythonValue(Pattern):
    """gawee.getattr, gawee.getitem -> declined: a Python value has no tensor meaning"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GetAttrOp | GetItemOp, rewriter: PatternRewriter) -> None:
        self.missed(op, "leftover Python value; canonicalize folds those that are known")
