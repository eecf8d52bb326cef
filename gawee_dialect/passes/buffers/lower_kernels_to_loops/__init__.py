"""Lower kernels on buffers to loops over vectors and scalars, as their schedules say."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.analysis.kernel_kind import combiner_of
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.passes.buffers.lower_kernels_to_loops.loop_nest import LoopNest
from gawee_dialect.passes.buffers.lower_kernels_to_loops.outside import fill_outside
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class LowerKernel(Pattern):
    """gawee.kernel outs(%m) -> loops { unrolled loops over a register tile }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        if op.output is None:
            self.missed(op, "expected operands on buffers, got tensors; bufferize comes first")
            return
        schedule = op.schedule
        vector = None if schedule is None else schedule.data.vector
        if vector is not None and vector.dim >= op.num_parallel and combiner_of(op) is None:
            reason = "expected a reduction whose order is free, got another 'accumulate'"
            self.missed(op, f"vector = {vector}: {reason}")
            return
        fill_outside(rewriter, op, op.outside)
        LoopNest(op).build(rewriter)
        rewriter.erase(op)


@dataclass(frozen=True)
class LowerKernelsToLoops(RewritePass):
    """Lower kernels on buffers to loops over vectors and scalars, as their schedules say.

    1. The schedule's loops become `scf.for`, the parallel ones together one `scf.parallel`. Where
       a step does not divide a size, the last iteration is built for the rest.
    2. The register tile is an array of accumulators on the stack; small loops over it carry
       `gawee.unroll`, so the IR stays compact, and LLVM moves the array to registers.
    3. An operand that is contiguous along the vector's dimension is loaded as a vector, one that
       does not depend on it as a scalar; any other lane by lane. Where it is contiguous along
       another dimension, of which the tile has as many points as lanes, it is loaded along that
       one, and the square of vectors is turned in registers.
    4. A vector along a reduction accumulates in every lane, several in accumulators of their own;
       these, and then halves of the last one, are combined at the end. Of zeros the extreme is
       any, whatever their signs.
    5. A sum of more than 8192 terms in f32 is taken in blocks of a few steps, which totals in f64
       add up.
    6. Elements around the points are filled first, row by row.
    7. Where the schedule has tiles, ops of the amx dialect multiply whole ones, if the body adds up
       products of bytes or of bf16 that lie so; all else is computed in vectors.

    Requires: kernels on buffers (`bufferize` comes first).

    rewrite:
        gawee.kernel parallel [4, 32] reduce [7] ...
          schedule #gawee.schedule<loops = [d0, d2], vector = d1 by 16>
        ->
        scf.for %d0 { %accumulators = memref.alloca() : memref<2xvector<16xf32>>
          scf.for %d2 { scf.for %t1 = 0 to 2 { math.fma } {gawee.unroll = "full"} } }
    """

    name = "lower-kernels-to-loops"
    numerics: ClassVar[Numerics] = REASSOCIATES
    patterns = (LowerKernel,)
    removes = (KernelOp,)
    revisits = False
    takes_open_sizes: ClassVar[bool] = True
