"""Random pipelines: the compiler's own, with passes left out, added, and choices made at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from gawee_dialect.code_options import EXACT, FAST, CodeOptions
from gawee_dialect.dialect.kernel import KernelOp
from gawee_dialect.dialect.schedule import ScheduleAttr
from gawee_dialect.passes.assign_schedules import AssignSchedules, accesses_of
from gawee_dialect.passes.canonicalize import CanonicalizePass
from gawee_dialect.passes.parameter_analysis import ParameterAnalysis
from gawee_dialect.passes.pipelines import (
    loops_to_llvm,
    to_kernels,
    to_linalg,
    to_llvm,
    to_loops_by_kernels,
)
from gawee_dialect.target.description import HOST, find_processor
from gawee_dialect.tuning.candidates import schedules

OPTIONAL = (
    *("canonicalize", "cse", "fold-batch-norm", "fold-conv-add", "fuse-attention"),
    *("assign-layouts", "hoist-parameter-computation", "hoist-allocas", "widen-sums"),
)
"""Passes without which a module can be lowered as well."""

TARGETS = (HOST, HOST, "haswell", "skylake-avx512", "generic-avx2")
SCHEDULES = 8


@dataclass(frozen=True)
class RandomSchedules(ModulePass):
    """Give some kernels one of the schedules that the tuner would try."""

    name = "random-schedules"
    seed: int
    target: str = HOST

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        random, processor = Random(self.seed), find_processor(self.target, 2)
        analysis = ParameterAnalysis()
        for function in op.ops:
            if not isinstance(function, FuncOp) or not function.body.blocks:
                continue
            for kernel in function.body.block.ops:
                if (
                    isinstance(kernel, KernelOp)
                    and kernel.result is not None
                    and random.random() < 0.7
                ):
                    known = schedules(accesses_of(kernel, analysis), processor, SCHEDULES)
                    kernel.schedule = ScheduleAttr(random.choice(known))


@dataclass(frozen=True)
class RandomPipeline:
    """A pipeline, and how it was chosen: what a message says to make it again."""

    passes: tuple[ModulePass, ...]
    text: str

    @property
    def is_native(self) -> bool:
        """Whether it ends in machine code."""
        return self.passes[-1].name == "convert-to-llvm"


def random_pipeline(random: Random, *, native: bool) -> RandomPipeline:
    """Choose a pipeline from a graph to linalg or kernels, or down to machine code."""
    # What others are scheduled for, this processor may not have.
    target = HOST if native else random.choice(TARGETS)
    options = CodeOptions(
        algorithms=random.choice((FAST, FAST, EXACT)),
        target=target,
        num_threads=random.choice((1, 2, 3)),
        parallel=random.random() < 0.5,
    )
    expand = random.random() < 0.5
    ways = {
        "linalg": lambda: to_linalg(),
        "kernels": lambda: to_kernels(options),
    }
    if native:
        llvm = loops_to_llvm(parallel=options.parallel, expand_math=expand)
        ways = {
            "plain": lambda: to_llvm(options, expand_math=expand),
            "by kernels": lambda: (*to_loops_by_kernels(options), *llvm),
        }
    name = random.choice(sorted(ways))
    kept = [each for each in ways[name]() if each.name not in OPTIONAL or random.random() < 0.8]
    passes = [*_varied(kept, random, target)]
    return RandomPipeline(
        tuple(passes), f"{name} for {target}: {', '.join(p.name for p in passes)}"
    )


def _varied(passes: Sequence[ModulePass], random: Random, target: str) -> Sequence[ModulePass]:
    """Return passes with others in between, that may come anywhere."""
    found: list[ModulePass] = []
    for each in passes:
        if isinstance(each, AssignSchedules) and random.random() < 0.5:
            found.append(RandomSchedules(random.randrange(1 << 30), target))
        found.append(each)
        if random.random() < 0.1:
            found.append(random.choice((CanonicalizePass(), CommonSubexpressionElimination())))
    return found
