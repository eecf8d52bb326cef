"""Compute the exponential of a constant when the network is compiled."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.dense import array_of, dense_of
from gawee_dialect.dialect.evaluated import constant_of
from gawee_dialect.dialect.graph.arithmetic import ExpOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.passes.numerics import FOLDS_CONSTANTS, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class ExpOfConstant(Pattern):
    """exp(constant) -> constant"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExpOp, rewriter: PatternRewriter) -> None:
        value = constant_of(op.input)
        if value is None:
            return self.missed(op, "expected its input to be a constant")
        folded = dense_of(np.exp(array_of(value)), tensor_type(op.result))
        rewriter.replace(op, ConstantOp(folded))


@dataclass(frozen=True)
class FoldExp(RewritePass):
    """Compute the exponential of a constant when the network is compiled."""

    name = "fold-exp"
    numerics: ClassVar[Numerics] = FOLDS_CONSTANTS
    patterns = (ExpOfConstant,)
