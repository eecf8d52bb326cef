"""Fuse a relu into the clip that reads it."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class ClipOfRelu(Pattern):
    """clip(relu(x), low, high) -> clip(x, max(low, 0), high)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ClipOp, rewriter: PatternRewriter) -> None:
        relu = op.input.owner
        if not isinstance(relu, ReluOp):
            return self.missed(op, "expected its input to be a gawee.relu")
        low, high = op.bounds
        if high is not None and high < 0:
            return self.missed(op, f"expected a maximum of 0 or more, got {high}")
        rewriter.replace(op, ClipOp(relu.input, min=max(low or 0.0, 0.0), max=high))


@dataclass(frozen=True)
class FuseReluIntoClip(RewritePass):
    """Fuse a relu into the clip that reads it."""

    name = "fuse-relu-into-clip"
    numerics: ClassVar[Numerics] = EXACT
    patterns = (ClipOfRelu,)
