"""The compiler on one page: which passes run, in which order, and why there."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from gawee_dialect.passes.bufferize import Bufferize
from gawee_dialect.passes.canonicalize import CanonicalizePass
from gawee_dialect.passes.convert_to_llvm import ConvertToLLVM
from gawee_dialect.passes.expand_math import ExpandMath
from gawee_dialect.passes.fold_batch_norm import FoldBatchNorm
from gawee_dialect.passes.fold_conv_add import FoldConvAdd
from gawee_dialect.passes.hoist_parameter_computation import HoistParameterComputation
from gawee_dialect.passes.lower_linalg_to_loops import LowerLinalgToLoops
from gawee_dialect.passes.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.outline_kernels import OutlineKernels
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.passes.plan_memory import PlanMemory


def optimize() -> Sequence[ModulePass]:
    """Return the passes from a graph as it was read to a smaller graph that means the same."""
    return (
        CanonicalizePass(),  # identities and Python leftovers stand between nodes that should fold
        FoldBatchNorm(),  # needs a convolution and its batch_norm adjacent
        FoldConvAdd(),  # after batch_norm: an add behind it has become adjacent
        CanonicalizePass(),  # what the folds wrote of constants alone
    )


def to_linalg() -> Sequence[ModulePass]:
    """Return the passes from a graph to linalg on tensors, weights prepared once."""
    return (
        *optimize(),
        LowerToLinalg(),  # after folding: fewer ops to lower
        CanonicalizePass(),  # scalars that several ops share
        HoistParameterComputation(),  # last on tensors: sees all that depends on weights alone
    )


def to_loops() -> Sequence[ModulePass]:
    """Return the passes from a graph to loops over scalars in memory."""
    return (
        *to_linalg(),
        Bufferize(),  # last moment at which values tell who reads what
        OutlineKernels(),  # before memory is shared: arguments of one call must not overlap
        PlanMemory(),  # after outlining: a call touches all its buffers at once
        LowerLinalgToLoops(),  # one nest for each distinct kernel
        CommonSubexpressionElimination(),  # index arithmetic that loads and stores repeat
    )


def to_llvm(fast_math: str | None = None, *, expand_math: bool = False) -> Sequence[ModulePass]:
    """Return the passes from a graph to the llvm dialect."""
    return (
        *to_loops(),
        *([ExpandMath()] if expand_math else []),  # after all else reads math ops
        ConvertToLLVM(fast_math=fast_math),  # everything at once: no half-converted types between
    )


@dataclass(frozen=True)
class GaweeOptimize(Pipeline):
    """Simplify a graph without changing what it computes.

    rewrite:
        gawee.conv; gawee.batch_norm; gawee.identity   ->   gawee.conv
    """

    name = "gawee-optimize"

    def passes(self) -> Sequence[ModulePass]:
        return optimize()


@dataclass(frozen=True)
class GaweeToLinalg(Pipeline):
    """Simplify a graph and lower it to linalg on tensors, with weight arithmetic in @prepare.

    rewrite:
        gawee.conv   ->   tensor.pad; linalg.broadcast; linalg.conv_2d_nchw_fchw
    """

    name = "gawee-to-linalg"

    def passes(self) -> Sequence[ModulePass]:
        return to_linalg()


@dataclass(frozen=True)
class GaweeToLoops(Pipeline):
    """Lower a graph to loops over scalars, intermediates in one planned workspace.

    rewrite:
        gawee.conv   ->   func.call @conv_2d_nchw_fchw_0, a private function of scf.for nests
    """

    name = "gawee-to-loops"

    def passes(self) -> Sequence[ModulePass]:
        return to_loops()


@dataclass(frozen=True)
class GaweeToLLVM(Pipeline):
    """Lower a graph to the llvm dialect.

    rewrite:
        gawee.conv   ->   llvm.call @conv_2d_nchw_fchw_0
    """

    name = "gawee-to-llvm"

    fast_math: str | None = None
    """LLVM fast-math flags on float ops, such as `contract` or `fast`; none by default."""

    expand_math: bool = False
    """Compute exp, exp2, log, tanh and erf by arithmetic, which is vectorised, not by libm."""

    def passes(self) -> Sequence[ModulePass]:
        return to_llvm(self.fast_math, expand_math=self.expand_math)
