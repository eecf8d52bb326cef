"""Swap a transpose and the unary op that reads it, so that pairs of transposes meet."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.elementwise import UnaryOp
from gawee_dialect.dialect.graph.movement import TransposeOp
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class UnaryOfTranspose(Pattern):
    """unary(transpose(x)) -> transpose(unary(x))"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: UnaryOp, rewriter: PatternRewriter) -> None:
        transpose = op.input.owner
        if not isinstance(transpose, TransposeOp) or not op.input.has_one_use():
            return self.missed(op, "expected its input to be a transpose with one use")
        above = type(op).create(
            operands=[transpose.input],
            properties=dict(op.properties),
            result_types=[transpose.input.type],
        )
        permutation = transpose.permutation.get_values()
        rewriter.replace(op, [above, TransposeOp(above.results[0], permutation=permutation)])


@dataclass(frozen=True)
class SinkTranspose(RewritePass):
    """Swap a transpose and the unary op that reads it, so that pairs of transposes meet."""

    name = "sink-transpose"
    numerics: ClassVar[Numerics] = EXACT
    patterns = (UnaryOfTranspose,)
