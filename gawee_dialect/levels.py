"""The levels of the IR that a network can be run at, and how to get there."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import verify_module
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.universe import make_context


class Level(StrEnum):
    """What executes: the graph as it is, or what the pipeline makes of it at a later stage."""

    GAWEE = "gawee"
    LINALG = "linalg"
    LOOPS = "loops"
    LLVM = "llvm"


def passes_to(
    level: Level, *, fast_math: str | None = None, parallel: bool = True
) -> Sequence[ModulePass]:
    """Return the passes from a graph to a level; `parallel` code needs an OpenMP runtime."""
    from gawee_dialect.passes import pipelines

    builders: dict[Level, Callable[[], Sequence[ModulePass]]] = {
        Level.GAWEE: tuple,
        Level.LINALG: pipelines.to_linalg,
        Level.LOOPS: pipelines.to_loops,
        Level.LLVM: lambda: pipelines.to_llvm(fast_math, parallel=parallel),
    }
    return builders[level]()


def lower_to(
    module: ModuleOp,
    level: Level,
    *,
    fast_math: str | None = None,
    parallel: bool = True,
    verify_each: bool = True,
) -> ModuleOp:
    """Return a copy of a graph, lowered to a level; raises GaweeError where it cannot be.

    Without `verify_each`, the graph is verified and what passes make of it is not.
    """
    lowered = module.clone()
    if not verify_each:
        verify_module(lowered)
    passes = passes_to(level, fast_math=fast_math, parallel=parallel)
    run_passes(make_context(), lowered, passes, verify_each=verify_each)
    return lowered
