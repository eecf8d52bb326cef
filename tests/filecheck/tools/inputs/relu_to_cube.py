"""A pass, an op and an instrument, for the tests of --load and --watch."""

import sys
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.dialect.types import element_type
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


@irdl_op_definition
class CubeOp(IRDLOperation):
    """The third power of every element."""

    name = "mine.cube"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"


class ReluToCube(Pattern):
    """gawee.relu -> mine.cube, for f32"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        element = str(element_type(op.input))
        if element != "f32":
            return self.missed(op, f"expected element type f32, got {element}")
        cube = CubeOp(operands=[op.input], result_types=[op.output.type])
        rewriter.replace(op, cube)


@dataclass(frozen=True)
class ReluToCubePass(RewritePass):
    """Turn relu into the third power."""

    name = "relu-to-cube"
    patterns = (ReluToCube,)


class Misses(Instrument):
    """Prints what was declined."""

    def pattern_missed(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        print(f"Misses: {op.name}: {reason}", file=sys.stderr)
