"""Write the steps of scans out, one after the other."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.scan import ScanOp, write_steps
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class WriteSteps(Pattern):
    """gawee.scan -> its body for every step, on slices of the sequences; gawee.cat of all made"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScanOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, (), write_steps(rewriter, op))


@dataclass(frozen=True)
class UnrollScan(RewritePass):
    """Write the steps of every scan out, one after the other.

    As it is done for formats that have no loops. The graph grows by the body for every step.

    rewrite:
        %last, %all = gawee.scan steps 2 initial(%h) over(%x) { %n = gawee.add %state, %now }
        ->
        %1 = gawee.add %h, (%x at 0); %last = gawee.add %1, (%x at 1); %all = gawee.cat %1, %last
    """

    name = "unroll-scan"
    numerics: ClassVar[Numerics] = EXACT
    patterns = (WriteSteps,)
    removes = (ScanOp,)
