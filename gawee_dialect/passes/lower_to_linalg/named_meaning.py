"""What can't be lowered: described ops whose meaning is a Python function, or none."""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.named_meaning import NamedMeaningOp
from gawee_dialect.passes.rewrite_pass import Pattern


class RejectNamedMeaning(Pattern):
    """an op with a Python function for a meaning -> declined: nothing compiles Python"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NamedMeaningOp, rewriter: PatternRewriter) -> None:
        if op.has_function():
            reason = "its meaning is a Python function, which runs in the interpreter alone"
            self.missed(op, f"{reason}; a 'body', 'mlir' or 'run' in its description is compiled")
        else:
            self.missed(op, "expected ops of the core set, which lower-opdesc makes")
