"""A rewrite of convolutions that forgets the optional operand."""

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class ForgetBias(Pattern):
    """gawee.conv %x, %w bias %b -> gawee.conv %x, %w"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        if op.bias is None:
            self.missed(op, "expected a bias, got none")
            return
        rewriter.replace(
            op,
            ConvOp(
                op.input,
                op.weight,
                strides=op.strides.get_values(),
                padding=op.padding.get_values(),
                dilations=op.dilations.get_values(),
                groups=op.groups.value.data,
            ),
        )


@dataclass(frozen=True)
class DroppedBias(RewritePass):
    """Drop the biases of convolutions."""

    name = "dropped-bias"
    patterns = (ForgetBias,)
