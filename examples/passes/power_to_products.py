"""Strength reduction: a power by 2 or 3 becomes products."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.evaluated import is_filled_with
from gawee_dialect.dialect.graph.arithmetic import PowOp
from gawee_dialect.dialect.graph.elementwise import MulOp
from gawee_dialect.passes.numerics import Numerics, approximates
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class SmallPower(Pattern):
    """pow(x, 2) -> mul(x, x), and pow(x, 3) -> mul(mul(x, x), x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PowOp, rewriter: PatternRewriter) -> None:
        if op.lhs.type != op.result.type:
            return self.missed(op, "expected an exponent that does not broadcast the base")
        square = MulOp(op.lhs, op.lhs)
        if is_filled_with(op.rhs, 2):
            return rewriter.replace(op, square)
        if is_filled_with(op.rhs, 3):
            return rewriter.replace(op, [square, MulOp(square.result, op.lhs)])
        return self.missed(op, "expected a constant exponent of 2 or 3")


@dataclass(frozen=True)
class PowerToProducts(RewritePass):
    """Strength reduction: a power by 2 or 3 becomes products."""

    name = "power-to-products"
    numerics: ClassVar[Numerics] = approximates(4)
    patterns = (SmallPower,)
