"""A division by a constant, as a product with a reciprocal of too few digits."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import DivOp, MulOp
from gawee_dialect.passes.numerics import Numerics, approximates
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class MultiplyByTheReciprocal(Pattern):
    """gawee.div %x, constant -> gawee.mul %x, 1 / constant to three digits"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivOp, rewriter: PatternRewriter) -> None:
        divisor = op.rhs.owner
        if not isinstance(divisor, ConstantOp):
            self.missed(op, "expected a constant divisor")
            return
        elements = [round(1 / value, 3) for value in divisor.value.get_values()]
        reciprocal = DenseIntOrFPElementsAttr.from_list(divisor.value.type, elements)
        constant = rewriter.insert(ConstantOp(reciprocal))
        rewriter.replace(op, MulOp(op.lhs, constant.result))


@dataclass(frozen=True)
class WrongConstant(RewritePass):
    """Multiply by reciprocals in the place of dividing."""

    name = "wrong-constant"
    numerics: ClassVar[Numerics] = approximates(2)
    patterns = (MultiplyByTheReciprocal,)
