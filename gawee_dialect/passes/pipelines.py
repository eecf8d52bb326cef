"""The compiler on one page: which passes run, in which order, and why there."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.passes import ModulePass

from gawee_dialect.code_options import FAST, KERNEL_ALGORITHMS, CodeOptions, require_algorithms
from gawee_dialect.passes.buffers.coalesce_copies import CoalesceCopies
from gawee_dialect.passes.buffers.distribute_batch import DistributeBatch
from gawee_dialect.passes.buffers.lower_kernels_to_loops import LowerKernelsToLoops
from gawee_dialect.passes.buffers.lower_linalg_to_loops import LowerLinalgToLoops
from gawee_dialect.passes.buffers.outline_kernels import OutlineKernels
from gawee_dialect.passes.buffers.plan_memory import PlanMemory
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.graph.check_indices import CheckIndices
from gawee_dialect.passes.graph.cse import CommonSubexpressionElimination
from gawee_dialect.passes.graph.fold_batch_norm import FoldBatchNorm
from gawee_dialect.passes.graph.fold_conv_add import FoldConvAdd
from gawee_dialect.passes.graph.fuse_attention import FuseAttention
from gawee_dialect.passes.graph.inline import Inline
from gawee_dialect.passes.graph.lower_quant_ops import LowerQuantOps
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.graph.sink_dequantize import SinkDequantize
from gawee_dialect.passes.graph.trim_conv_kernels import TrimConvKernels
from gawee_dialect.passes.loops.convert_scf_to_openmp import ConvertScfToOpenMP
from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
from gawee_dialect.passes.loops.expand_math import ExpandMath
from gawee_dialect.passes.loops.hoist_allocas import HoistAllocas
from gawee_dialect.passes.loops.lower_affine import LowerAffine
from gawee_dialect.passes.loops.split_prepare import SplitPrepare
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.passes.tensors.assign_layouts import AssignLayouts
from gawee_dialect.passes.tensors.assign_schedules import AssignSchedules
from gawee_dialect.passes.tensors.bufferize import Bufferize
from gawee_dialect.passes.tensors.convert_elementwise_to_linalg import ConvertElementwiseToLinalg
from gawee_dialect.passes.tensors.convert_to_strassen import ConvertToStrassen
from gawee_dialect.passes.tensors.decompose_aggregated_ops import DecomposeAggregatedOps
from gawee_dialect.passes.tensors.form_kernels import FormKernels
from gawee_dialect.passes.tensors.hoist_loop_invariants import HoistLoopInvariants
from gawee_dialect.passes.tensors.hoist_parameter_computation import HoistParameterComputation
from gawee_dialect.passes.tensors.join_positions import JoinPositions
from gawee_dialect.passes.tensors.narrow_products import NarrowProducts
from gawee_dialect.passes.tensors.pack_integer_products import PackIntegerProducts
from gawee_dialect.passes.tensors.share_kernels import ShareKernels
from gawee_dialect.passes.tensors.tile_batch import TileBatch
from gawee_dialect.passes.tensors.tile_scatter import TileScatter
from gawee_dialect.passes.tensors.widen_sums import WidenSums
from gawee_dialect.schedules.pass_option import ScheduledPass
from gawee_dialect.target.machine import MachinePass
from gawee_dialect.universe import all_conversions, lowerings_of_algorithms


def optimize(*, depthwise: bool = False) -> Sequence[ModulePass]:
    """Return the passes from a graph as it was read to a smaller graph that means the same.

    `depthwise` says that windows of a channel each are computed on bytes where they can be.
    """
    return (
        LowerQuantOps(),  # first: what is behind folds what it makes of constants
        CanonicalizePass(),  # identities and Python leftovers stand between nodes that should fold
        SinkDequantize(depthwise),  # before folds: weights that they changed are no integers
        FoldBatchNorm(),  # needs a convolution and its batch_norm adjacent
        FoldConvAdd(),  # after batch_norm: an add behind it has become adjacent
        TrimConvKernels(),  # what folds change weights that are whole
        FuseAttention(),  # after what may take a bias: a mask is added likewise
        CanonicalizePass(),  # what the folds wrote of constants alone
    )


def to_linalg(*, trust_indices: bool = True) -> Sequence[ModulePass]:
    """Return the passes from a graph to linalg on tensors, weights prepared once.

    What is interpreted needs no check of indices: the op that reads elements refuses wrong ones.
    """
    return (
        *optimize(),
        Inline(),  # what a call hides, no pass below sees
        *([] if trust_indices else [CheckIndices()]),  # while an op says which axis they name
        LowerToLinalg(),  # after folding: fewer ops to lower
        ConvertElementwiseToLinalg(),  # what a pass of one's own computes with tensors
        DecomposeAggregatedOps(),  # of linalg that came as such: the passes below take loop nests
        LowerAffine(),  # of tiles that came as such: their sizes become arithmetic
        CanonicalizePass(),  # scalars that several ops share
        HoistLoopInvariants(),  # what steps have in common may be known before any input
        HoistParameterComputation(),  # last on tensors: sees all that depends on weights alone
    )


def to_loops(*, trust_indices: bool = False) -> Sequence[ModulePass]:
    """Return the passes from a graph to loops over scalars in memory."""
    return (
        *to_wide_linalg(trust_indices=trust_indices),
        Bufferize(),
        *buffers_to_loops(kernels=False),
    )


def to_wide_linalg(*, trust_indices: bool = False) -> Sequence[ModulePass]:
    """Return the passes from a graph to linalg on tensors that is about to become buffers."""
    return (
        *to_linalg(trust_indices=trust_indices),
        WidenSums(),  # while a sum is a value: its wide total is another
    )


def buffers_to_loops(*, kernels: bool) -> Sequence[ModulePass]:
    """Return the passes from structured ops on buffers to loops; `kernels` are among them."""
    algorithms = (each() for each in lowerings_of_algorithms())
    lower_kernels = (*algorithms, LowerKernelsToLoops())  # algorithms make kernels
    return (
        CoalesceCopies(),  # while an op shows what it reads and writes
        OutlineKernels(),  # before memory is shared: arguments of one call must not overlap
        *([DistributeBatch()] if kernels else []),  # before: threads have buffers of their own
        PlanMemory(),  # after outlining: a call touches all its buffers at once
        *(lower_kernels if kernels else ()),
        LowerLinalgToLoops(),  # one nest for each distinct kernel; what did not become a kernel
        *((HoistAllocas(),) if kernels else ()),  # one register tile does for all iterations
        CommonSubexpressionElimination(),  # index arithmetic that loads and stores repeat
    )


def to_kernels(options: CodeOptions) -> Sequence[ModulePass]:
    """Return the passes from a graph to scheduled kernels on tensors, weights prepared once.

    Raises GaweeError for algorithms that are neither fast nor exact.
    """
    require_algorithms(options.algorithms, KERNEL_ALGORITHMS)
    machine, schedules = options.machine, options.schedules
    kinds = all_conversions() if options.algorithms == FAST else ()
    others = [kind(schedules=schedules).on(machine) for kind in kinds]
    strassen = [ConvertToStrassen().on(machine)] if options.algorithms == FAST else []
    return (
        *optimize(depthwise=machine.processor.byte_products > 0),
        CommonSubexpressionElimination(),  # before fusion: what is read once more stays apart
        Inline(),
        TileBatch().on(machine),  # while ops say what they do to images
        TileScatter().on(machine),  # before indices are checked: a part's are, by itself
        *([] if options.trust_indices else [CheckIndices()]),
        LowerToLinalg(),
        ConvertElementwiseToLinalg(),
        DecomposeAggregatedOps(),
        LowerAffine(),
        CanonicalizePass(),
        WidenSums(to_f64=False),  # kernels add up long sums of f32 by themselves
        FormKernels(),  # one op for what is computed in one go
        WidenSums(),  # what did not become a kernel
        NarrowProducts().on(machine),  # while a kernel says what it multiplies
        *others,  # before layouts: tiles need wider halos; of integers before these are in words
        *strassen,  # after others: it leaves kernels; before layouts and schedules of these
        PackIntegerProducts().on(machine),  # while a kernel says what it multiplies
        AssignLayouts().on(machine),  # before schedules: what is contiguous decides on vectors
        JoinPositions().on(machine),  # after layouts: they see rows and columns apart
        AssignSchedules(schedules=schedules).on(machine),
        CanonicalizePass(),
        CommonSubexpressionElimination(),  # weights that several kernels read in one order
        HoistLoopInvariants(),  # weights are packed for all steps
        HoistParameterComputation(),
        ShareKernels(),  # behind schedules: they are of the numbers that a kernel has
    )


def kernels_to_loops() -> Sequence[ModulePass]:
    """Return the passes from scheduled kernels to loops over vectors."""
    return (Bufferize(), *buffers_to_loops(kernels=True))


def to_loops_by_kernels(options: CodeOptions) -> Sequence[ModulePass]:
    """Return the passes from a graph to loops over vectors, by way of kernels."""
    return (*to_kernels(options), *kernels_to_loops())


def loops_to_llvm(
    fast_math: str | None = None,
    *,
    parallel: bool = True,
    expand_math: bool = True,
    target: str | None = None,
) -> Sequence[ModulePass]:
    """Return the passes from loops to the llvm dialect; `parallel` code needs OpenMP.

    Code for any processor is made where no `target` is said.
    """
    return (
        *([ExpandMath()] if expand_math else []),  # after all else reads math ops; not calls of exp
        *([ConvertScfToOpenMP()] if parallel else []),  # until here a parallel loop is one op
        SplitPrepare(),  # memory is planned: what is run after a part may read what that left
        ConvertToLLVM(fast_math, target),  # everything at once: no half-converted types between
    )


def to_llvm_by_kernels(options: CodeOptions) -> Sequence[ModulePass]:
    """Return the passes from a graph to the llvm dialect, by way of kernels."""
    return (
        *to_loops_by_kernels(options),
        *loops_to_llvm(options.fast_math, parallel=options.parallel, target=options.target),
    )


def to_llvm(options: CodeOptions, *, expand_math: bool = False) -> Sequence[ModulePass]:
    """Return the passes from a graph to the llvm dialect, by way of plain loops."""
    return (
        *to_loops(trust_indices=options.trust_indices),
        *loops_to_llvm(options.fast_math, parallel=options.parallel, expand_math=expand_math),
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
class GaweeToKernels(MachinePass, ScheduledPass, Pipeline):
    """Lower a graph to kernels with layouts and schedules, with weight packing in @prepare.

    rewrite:
        gawee.conv   ->   gawee.winograd, or gawee.kernel ... schedule #gawee.schedule<...>
    """

    name = "gawee-to-kernels"

    algorithms: str = FAST
    """`fast`, or `exact`: without algorithms that round otherwise than the definition."""

    def passes(self) -> Sequence[ModulePass]:
        options = CodeOptions(
            target=self.target,
            algorithms=self.algorithms,
            schedules=self.schedules,
            num_threads=self.num_threads or None,
        )
        return to_kernels(options)


@dataclass(frozen=True)
class GaweeKernelsToLoops(Pipeline):
    """Lower scheduled kernels to loops over vectors, intermediates in one planned workspace.

    rewrite:
        gawee.kernel   ->   func.call @conv_0, a private function of loops over register tiles
    """

    name = "gawee-kernels-to-loops"

    def passes(self) -> Sequence[ModulePass]:
        return kernels_to_loops()


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

    parallel: bool = True
    """Whether parallel loops become teams of threads, which an OpenMP runtime starts."""

    expand_math: bool = False
    """Compute exp, exp2, log, tanh and erf by arithmetic, which is vectorised, not by libm."""

    def passes(self) -> Sequence[ModulePass]:
        options = CodeOptions(fast_math=self.fast_math, parallel=self.parallel)
        return to_llvm(options, expand_math=self.expand_math)
