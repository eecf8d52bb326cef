"""The levels of the IR that a network can be run at, and how to get there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.algorithms import FAST, PLAIN, require_algorithms
from gawee_dialect.diagnostics import verify_module
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.target.description import HOST
from gawee_dialect.universe import make_context


class Level(StrEnum):
    """What executes: the graph as it is, or what the pipeline makes of it at a later stage."""

    GAWEE = "gawee"
    LINALG = "linalg"
    KERNELS = "kernels"
    LOOPS = "loops"
    LLVM = "llvm"


@dataclass(frozen=True)
class CodeOptions:
    """What code is made from a graph."""

    fast_math: str | None = None
    """LLVM's flags for float ops, such as `contract` or `fast`."""
    algorithms: str = FAST
    """`fast` kernels, `exact` ones, which compute each sum as it is defined, or `plain` loops."""
    target: str = HOST
    """The processor that kernels are scheduled for, by name."""
    parallel: bool = True
    """Whether loops are shared among threads; such code needs an OpenMP runtime."""
    schedules: str | None = None
    """A file of choices for kernels, as `gawee-tune` writes it."""

    def __post_init__(self) -> None:
        require_algorithms(self.algorithms)


def passes_to(level: Level, options: CodeOptions | None = None) -> Sequence[ModulePass]:
    """Return the passes from a graph to a level."""
    from gawee_dialect.passes import pipelines

    chosen = options or CodeOptions()
    kernels = chosen.target, chosen.algorithms, chosen.schedules
    plain = chosen.algorithms == PLAIN
    builders: dict[Level, Callable[[], Sequence[ModulePass]]] = {
        Level.GAWEE: tuple,
        Level.LINALG: pipelines.to_linalg,
        Level.KERNELS: lambda: pipelines.to_kernels(*kernels),
        Level.LOOPS: lambda: (
            pipelines.to_loops() if plain else pipelines.to_loops_by_kernels(*kernels)
        ),
        Level.LLVM: lambda: (
            pipelines.to_llvm(chosen.fast_math, parallel=chosen.parallel)
            if plain
            else pipelines.to_llvm_by_kernels(
                chosen.target,
                chosen.algorithms,
                chosen.fast_math,
                parallel=chosen.parallel,
                schedules=chosen.schedules,
            )
        ),
    }
    return builders[level]()


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
