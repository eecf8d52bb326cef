"""Merge a slice of a slice into one."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class SliceOfSlice(Pattern):
    """slice(slice(x)) -> slice(x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter) -> None:
        inner = op.input.owner
        if not isinstance(inner, SliceOp):
            return self.missed(op, "expected its input to be another slice")
        axes = list(zip(*inner.box(), *op.box(), strict=True))
        merged = SliceOp(
            inner.input,
            offsets=[start + begin * step for start, _, step, begin, _, _ in axes],
            sizes=op.sizes.get_values(),
            strides=[step * by for _, _, step, _, _, by in axes],
        )
        rewriter.replace(op, merged)


@dataclass(frozen=True)
class MergeSlices(RewritePass):
    """Merge a slice of a slice into one."""

    name = "merge-slices"
    numerics: ClassVar[Numerics] = EXACT
    patterns = (SliceOfSlice,)
