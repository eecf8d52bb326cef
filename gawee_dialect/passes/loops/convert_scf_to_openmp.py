"""Give the iterations of parallel loops to a team of threads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import omp, scf
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

NONE: Sequence[SSAValue] = ()
"""The values of a clause that is absent."""


def is_inside_parallel_loop(op: Operation) -> bool:
    """Whether a loop around an op is parallel already, converted or not."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ParallelOp | omp.ParallelOp):
            return True
        parent = parent.parent_op()
    return False


class ConvertParallelLoop(Pattern):
    """scf.parallel (..) {..}  ->  omp.parallel { omp.wsloop { omp.loop_nest (..) {..} } }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ParallelOp, rewriter: PatternRewriter) -> None:
        if op.initVals:
            return self.missed(op, f"expected no reductions, got {len(op.initVals)}")
        if is_inside_parallel_loop(op):
            return self.missed(op, "expected a loop that no parallel loop is around")
        bounds = (op.lowerBound, op.upperBound, op.step)
        rank = len(op.lowerBound)
        body = rewriter.move_region_contents_to_new_regions(op.body)
        reduce = body.block.last_op
        assert reduce is not None
        rewriter.replace(reduce, omp.YieldOp())
        nest = omp.LoopNestOp(
            operands=bounds,
            # Without it stock tools give only the outermost loop to the team.
            properties={"collapse_num_loops": IntegerAttr(rank, i64)} if rank > 1 else {},
            regions=[body],
        )
        loop = omp.WsLoopOp(operands=[NONE] * 7, regions=[Region(Block([nest]))])
        team = omp.ParallelOp(
            operands=[NONE] * 6, regions=[Region(Block([loop, omp.TerminatorOp()]))]
        )
        rewriter.replace(op, team)


@dataclass(frozen=True)
class ConvertScfToOpenMP(RewritePass):
    """Give the iterations of outermost parallel loops to a team of threads.

    All loops of a nest are one space of iterations. A parallel loop inside of another one stays
    where it is: its iterations run one after the other.

    It takes the place of xDSL's pass of the name, whose text stock tools read as a nest of which
    only the outermost loop is shared out.

    rewrite:
        scf.parallel (%i, %j) = (%a, %b) to (%c, %d) step (%s, %t) {
          ..
          scf.reduce
        }
        ->
        omp.parallel {
          omp.wsloop {
            omp.loop_nest (%i, %j) : index = (%a, %b) to (%c, %d) step (%s, %t) collapse(2) {
              ..
              omp.yield
            }
          }
          omp.terminator
        }
    """

    name = "convert-scf-to-openmp"
    takes_open_sizes: ClassVar[bool] = True

    patterns: ClassVar = (ConvertParallelLoop,)
    revisits = False
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
