"""A division by a constant, as a product with a reciprocal of too few digits."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.dense import array_of, dense_of
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import DivOp, MulOp
from gawee_dialect.dialect.types import tensor_type
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
        elements = np.round(np.divide(1, array_of(divisor.value)), 3)
        constant = rewriter.insert(ConstantOp(dense_of(elements, tensor_type(op.rhs))))
        rewriter.replace(op, MulOp(op.lhs, constant.result))


@dataclass(frozen=True)
class WrongConstant(RewritePass):
    """Multiply by reciprocals in the place of dividing."""

    name = "wrong-constant"
    numerics: ClassVar[Numerics] = approximates(2)
    patterns = (MultiplyByTheReciprocal,)
