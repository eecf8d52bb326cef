"""The levels of the IR that a network can be run at, and how to get there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError, nearest, verify_module
from gawee_dialect.dialect.kernel import KernelOp
from gawee_dialect.dialect.structured_kernel import StructuredKernel
from gawee_dialect.passes.insertion import with_insertions, without_passes
from gawee_dialect.passes.pass_manager import leaf_passes, run_passes
from gawee_dialect.universe import make_context


class Level(StrEnum):
    """What executes: the module as it is, or what the pipeline makes of it at a later stage."""

    GAWEE = "gawee"
    LINALG = "linalg"
    KERNELS = "kernels"
    BUFFERS = "buffers"
    LOOPS = "loops"
    LLVM = "llvm"

    @classmethod
    def _missing_(cls, value: object) -> "Level":
        known = [each.value for each in cls]
        hint = nearest(str(value), known)
        raise GaweeError(
            Diagnostic(f"unknown level '{value}'; supported: {', '.join(known)}", hint=hint)
        )

    @property
    def order(self) -> int:
        """How far from the graph the level is."""
        return tuple(Level).index(self)


def level_of(module: ModuleOp) -> Level:
    """Return the level that a module is at: the first of those that its functions are at."""
    functions = [op for op in module.ops if op.name in ("func.func", "llvm.func")]
    levels = [_level_of_function(each) for each in functions if each.regions[0].blocks]
    return min(levels, key=lambda level: level.order, default=Level.GAWEE)


def _level_of_function(function: Operation) -> Level:
    if not isinstance(function, FuncOp):
        return Level.LLVM
    ops = _inside(function)
    types = (value.type for op in ops for value in op.results)
    # What no op of it made is an argument, of the function or of a block that an op has.
    if any(isinstance(type, TensorType) for type in (*function.function_type.inputs, *types)):
        return _level_on_tensors(ops)
    structured = any(map(_is_structured, {type(op): op for op in ops}.values()))
    return Level.BUFFERS if structured else Level.LOOPS


def _inside(function: FuncOp) -> list[Operation]:
    """Return the ops of a function, in any order: a walk in theirs takes three times as long."""
    found: list[Operation] = []
    blocks = list(function.body.blocks)
    while blocks:
        for op in blocks.pop().ops:
            found.append(op)
            for region in op.regions:
                blocks += region.blocks
    return found


def _level_on_tensors(ops: Iterable[Operation]) -> Level:
    ops = [op for op in ops if _is_structured(op)]
    kernels = [op for op in ops if isinstance(op, StructuredKernel)]
    if any("schedule" in op.properties or not isinstance(op, KernelOp) for op in kernels):
        return Level.KERNELS
    graph = any(op.dialect_name() == "gawee" and op not in kernels for op in ops)
    return Level.GAWEE if graph or not ops else Level.LINALG


def _is_structured(op: Operation) -> bool:
    """Whether an op computes whole tensors or buffers, which loops do element by element."""
    return isinstance(op, LinalgStructuredOperation) or op.dialect_name() == "gawee"


def passes_to(
    level: Level, options: CodeOptions | None = None, start: Level = Level.GAWEE
) -> Sequence[ModulePass]:
    """Return the passes that are left to a level for a module at `start`, with the user's own.

    Level gawee is the module as it is. Raises GaweeError for any other level that the module is
    past, and where a pass is to be put in at a place that there is not.
    """
    from gawee_dialect.passes import pipelines

    chosen = options or CodeOptions()
    if level in (Level.GAWEE, start):
        return with_insertions((), chosen.passes)
    if level.order < start.order:
        later = ", ".join(each for each in Level if each.order > start.order)
        raise GaweeError(
            Diagnostic(
                f"cannot go back to level '{level}' from a module at level '{start}'",
                hint=f"as it is (gawee), or later: {later or 'none'}",
            )
        )
    plain = chosen.algorithms == PLAIN
    on_tensors = start.order <= Level.LINALG.order
    if level is Level.LINALG:
        return _chosen(pipelines.to_linalg(), chosen)
    if level is Level.KERNELS:
        return _chosen(pipelines.to_kernels(chosen), chosen)
    kernels = not (plain and on_tensors)
    first: Sequence[ModulePass] = ()
    if on_tensors:
        first = (
            pipelines.to_kernels(chosen)
            if kernels
            else pipelines.to_wide_linalg(trust_indices=chosen.trust_indices)
        )
    stages: dict[Level, Sequence[ModulePass]] = {
        Level.KERNELS: first,
        Level.BUFFERS: (pipelines.Bufferize(),),
        Level.LOOPS: pipelines.buffers_to_loops(kernels=kernels),
        Level.LLVM: (
            # Who writes loops by hand may allocate.
            *((pipelines.PlanMemory(),) if start is Level.LOOPS else ()),
            *pipelines.loops_to_llvm(
                chosen.fast_math, parallel=chosen.parallel, expand_math=not plain
            ),
        ),
    }
    passes = [
        each
        for stage, its_passes in stages.items()
        if start.order < stage.order <= level.order
        for each in its_passes
    ]
    return _chosen(passes, chosen)


def _chosen(passes: Sequence[ModulePass], options: CodeOptions) -> Sequence[ModulePass]:
    return without_passes(with_insertions(passes, options.passes), options.without)


@dataclass(frozen=True)
class NativeStages:
    """The passes from a graph to the llvm dialect, cut where tensors end and where loops do."""

    to_tensors: Sequence[ModulePass]
    to_loops: Sequence[ModulePass]
    to_llvm: Sequence[ModulePass]


def native_stages(options: CodeOptions, start: Level = Level.GAWEE) -> NativeStages:
    """Return the passes to native code in their stages, for who stops between them."""
    from gawee_dialect.passes import pipelines

    passes = passes_to(Level.LLVM, options, start)
    last = tuple(type(each) for each in pipelines.loops_to_llvm())
    llvm = next((at for at, each in enumerate(passes) if isinstance(each, last)), len(passes))
    bufferize = (at for at, each in enumerate(passes) if isinstance(each, pipelines.Bufferize))
    memory = next(bufferize, 0)
    return NativeStages(passes[:memory], passes[memory:llvm], passes[llvm:])


def kernel_stages(
    options: CodeOptions, start: Level = Level.GAWEE
) -> tuple[Sequence[ModulePass], Sequence[ModulePass]]:
    """Return the passes to the llvm dialect, cut where kernels are functions and memory is planned.

    The passes after that look at one function at a time.
    """
    from gawee_dialect.passes import pipelines

    passes = passes_to(Level.LLVM, options, start)
    kinds = [type(each) for each in passes]
    cut = kinds.index(pipelines.PlanMemory) + 1 if pipelines.PlanMemory in kinds else len(kinds)
    return passes[:cut], passes[cut:]


def places() -> set[str]:
    """Return the names of the passes beside which others can go in, at any level."""
    from gawee_dialect.passes import pipelines

    plain = CodeOptions(algorithms=PLAIN)
    passes = (*pipelines.to_llvm_by_kernels(CodeOptions()), *pipelines.to_llvm(plain))
    return {each.name for each in leaf_passes(passes)}


def lower_to(
    module: ModuleOp,
    level: Level | str,
    options: CodeOptions | None = None,
    *,
    verify_each: bool = True,
) -> ModuleOp:
    """Return a copy of a module, lowered to a level by the passes that are left to it.

    Without `verify_each`, the module is verified and what passes make of it is not. Raises
    GaweeError where it cannot be lowered.
    """
    passes = passes_to(Level(level), options, level_of(module))
    return _lowered(module, passes, verify_each=verify_each)


def lower_to_functions(module: ModuleOp, options: CodeOptions) -> ModuleOp:
    """Return a copy of a module, lowered by the first of its `kernel_stages`.

    The module is verified and what passes make of it is not. Raises GaweeError where it cannot be
    lowered.
    """
    passes, _ = kernel_stages(options, level_of(module))
    return _lowered(module, passes, verify_each=False)


def _lowered(module: ModuleOp, passes: Sequence[ModulePass], *, verify_each: bool) -> ModuleOp:
    lowered = module.clone()
    if passes and not verify_each:
        verify_module(lowered)
    if passes:
        run_passes(make_context(), lowered, passes, verify_each=verify_each)
    return lowered
