"""Ops that are defined by equations: a structured op for each reduction and each equation."""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.passes.graph.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerEquations(Pattern):
    """an op that is defined by equations -> linalg.generic, one a reduction and one an equation

    Elements at sums of multiples of indices are read by maps, through tensor.pad where they may be
    outside; others at positions that are computed.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: EquationOp, rewriter: PatternRewriter) -> None:
        if isinstance(op, ElementwiseOp):  # the axes of its equation are any number
            self.missed(op, "expected an op that is not elementwise")
            return
        # Only modules with such ops load what reads them.
        from gawee_dialect.passes.graph.lower_to_linalg.equations.steps import lower_steps

        views = zip(op.operands, op.views(), strict=True)
        operands = [reshaped(rewriter, value, shape) for value, shape in views]
        elements = [element_type(result) for result in op.results]
        meaning = op.meaning()
        names = [result.name_hint for result in op.results]
        hints = dict(zip(meaning.program.outputs, names, strict=True))
        results = lower_steps(rewriter, meaning, operands, elements, hints)
        made = zip(results, op.results, strict=True)
        rewriter.replace(op, (), [reshaped(rewriter, v, tensor_shape(r)) for v, r in made])
