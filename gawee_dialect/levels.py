"""The levels of the IR that a network can be run at, and how to get there."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.analysis.level import Level, level_of
from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError, verify_module
from gawee_dialect.passes.insertion import with_insertions, without_passes
from gawee_dialect.passes.pass_manager import leaf_passes, run_passes, takes_open_sizes
from gawee_dialect.universe import make_context


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
            # Loops that are written by hand may have affine bounds, and allocate.
            *((pipelines.LowerAffine(), pipelines.PlanMemory()) if start is Level.LOOPS else ()),
            *pipelines.loops_to_llvm(
                chosen.fast_math,
                parallel=chosen.parallel,
                expand_math=not plain,
                target=None if plain else chosen.target,
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


def makes_open_code(module: ModuleOp, options: CodeOptions) -> bool:
    """Whether all passes from a module to the llvm dialect take sizes that are open; ours do."""
    if not options.passes:
        return True  # and they need not be loaded, where the code is kept or made in a copy
    passes = passes_to(Level.LLVM, options, level_of(module))
    return all(map(takes_open_sizes, leaf_passes(passes)))


def _chosen(passes: Sequence[ModulePass], options: CodeOptions) -> Sequence[ModulePass]:
    return without_passes(with_insertions(passes, options.passes), options.without)


@dataclass(frozen=True)
class NativeStages:
    """The passes from a graph to the llvm dialect, cut where tensors end and where loops do."""

    to_tensors: Sequence[ModulePass]
    to_loops: Sequence[ModulePass]
    to_llvm: Sequence[ModulePass]


def native_stages(options: CodeOptions, start: Level = Level.GAWEE) -> NativeStages:
    """Return the passes to native code in their stages, for callers that stop between them."""
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
