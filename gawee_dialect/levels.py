"""The levels of the IR that a network can be run at, and how to get there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.diagnostics import verify_module
from gawee_dialect.passes.insertion import with_insertions
from gawee_dialect.passes.pass_manager import leaf_passes, run_passes
from gawee_dialect.universe import make_context


class Level(StrEnum):
    """What executes: the graph as it is, or what the pipeline makes of it at a later stage."""

    GAWEE = "gawee"
    LINALG = "linalg"
    KERNELS = "kernels"
    LOOPS = "loops"
    LLVM = "llvm"


def passes_to(level: Level, options: CodeOptions | None = None) -> Sequence[ModulePass]:
    """Return the passes from a graph to a level, with those that the user puts in.

    Raises GaweeError where one is put in at a place that there is not.
    """
    from gawee_dialect.passes import pipelines

    chosen = options or CodeOptions()
    plain = chosen.algorithms == PLAIN
    builders: dict[Level, Callable[[], Sequence[ModulePass]]] = {
        Level.GAWEE: tuple,
        Level.LINALG: pipelines.to_linalg,
        Level.KERNELS: lambda: pipelines.to_kernels(chosen),
        Level.LOOPS: lambda: (
            pipelines.to_loops(trust_indices=chosen.trust_indices)
            if plain
            else pipelines.to_loops_by_kernels(chosen)
        ),
        Level.LLVM: lambda: (
            pipelines.to_llvm(chosen) if plain else pipelines.to_llvm_by_kernels(chosen)
        ),
    }
    return with_insertions(builders[level](), chosen.passes)


@dataclass(frozen=True)
class NativeStages:
    """The passes from a graph to the llvm dialect, cut where tensors end and where loops do."""

    to_tensors: Sequence[ModulePass]
    to_loops: Sequence[ModulePass]
    to_llvm: Sequence[ModulePass]


def native_stages(options: CodeOptions) -> NativeStages:
    """Return the passes to native code in their stages, for who stops between them."""
    from gawee_dialect.passes import pipelines

    passes = passes_to(Level.LLVM, options)
    last = tuple(type(each) for each in pipelines.loops_to_llvm())
    memory = next(at for at, each in enumerate(passes) if isinstance(each, pipelines.Bufferize))
    llvm = next(at for at, each in enumerate(passes) if isinstance(each, last))
    return NativeStages(passes[:memory], passes[memory:llvm], passes[llvm:])


def places() -> set[str]:
    """Return the names of the passes beside which others can go in, at any level."""
    from gawee_dialect.passes import pipelines

    plain = CodeOptions(algorithms=PLAIN)
    passes = (*pipelines.to_llvm_by_kernels(CodeOptions()), *pipelines.to_llvm(plain))
    return {each.name for each in leaf_passes(passes)}


def lower_to(
    module: ModuleOp,
    level: Level,
    options: CodeOptions | None = None,
    *,
    verify_each: bool = True,
) -> ModuleOp:
    """Return a copy of a graph, lowered to a level; raises GaweeError where it cannot be.

    Without `verify_each`, the graph is verified and what passes make of it is not.
    """
    lowered = module.clone()
    passes = passes_to(level, options)
    if passes and not verify_each:
        verify_module(lowered)
    if passes:
        run_passes(make_context(), lowered, passes, verify_each=verify_each)
    return lowered
