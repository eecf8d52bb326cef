"""Random pipelines: the compiler's own, with passes left out, added and moved, and random choices.

What may be left out and what may change places is said here; all else keeps its order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import groupby
from random import Random

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from gawee_dialect.code_options import EXACT, FAST, CodeOptions
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import ScheduleAttr
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.graph.cse import CommonSubexpressionElimination
from gawee_dialect.passes.graph.unroll_scan import UnrollScan
from gawee_dialect.passes.insertion import Insertion, with_insertions
from gawee_dialect.passes.pass_manager import leaf_passes
from gawee_dialect.passes.pipelines import (
    buffers_to_loops,
    kernels_to_loops,
    loops_to_llvm,
    to_kernels,
    to_wide_linalg,
)
from gawee_dialect.passes.tensors.assign_schedules import AssignSchedules, accesses_of
from gawee_dialect.passes.tensors.bufferize import Bufferize
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.target.description import HOST
from gawee_dialect.target.machine import Machine
from gawee_dialect.tuning.candidates import schedules

OPTIONAL = frozenset(
    (
        *("canonicalize", "cse", "fold-batch-norm", "fold-conv-add", "fuse-attention"),
        *("assign-layouts", "hoist-parameter-computation", "hoist-loop-invariants"),
        *("hoist-allocas", "lower-quant-ops", "sink-dequantize", "split-prepare"),
        *("trim-conv-kernels", "widen-sums"),
    )
)
"""Passes without which a module can be lowered as well."""

ANYWHERE = ("canonicalize", "cse")
EXCHANGEABLE: Sequence[frozenset[str]] = (
    frozenset(
        (
            *("fold-batch-norm", "fold-conv-add", "trim-conv-kernels", "fuse-attention"),
            *("unroll-scan", "inline", "lower-quant-ops", "sink-dequantize", *ANYWHERE),
        )
    ),
    frozenset(("decompose-aggregated-ops", "lower-affine", *ANYWHERE)),
    frozenset(("hoist-loop-invariants", "hoist-parameter-computation", *ANYWHERE)),
    frozenset(("hoist-allocas", *ANYWHERE)),
    frozenset(("expand-math", "convert-scf-to-openmp")),
)
"""Passes that may come in any order where they follow one another."""

LEFT_OUT, ADDED, SHUFFLED, RESCHEDULED = 0.2, 0.1, 0.4, 0.5

TARGETS = (HOST, HOST, "haswell", "skylake-avx512", "generic-avx2")
SCHEDULES = 8


class Depth(IntEnum):
    """How far a graph is lowered."""

    TENSORS = 0
    LOOPS = 1
    NATIVE = 2


FIRST_OF_STAGE = {
    "bufferize": Depth.LOOPS,
    "expand-math": Depth.NATIVE,
    "convert-scf-to-openmp": Depth.NATIVE,
    "convert-to-llvm": Depth.NATIVE,
}


@dataclass(frozen=True)
class Stage:
    """Passes after which a module can be run, and what that is called in counts."""

    name: str
    passes: tuple[ModulePass, ...]
    is_run: bool = True


@dataclass(frozen=True)
class RandomSchedules(ModulePass):
    """Give some kernels one of the schedules that the tuner would try."""

    name = "random-schedules"
    seed: int
    target: str = HOST

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        random, processor = Random(self.seed), Machine(self.target, 2).processor
        analysis = ParameterAnalysis()
        for kernel in _kernels(op):
            if random.random() < 0.7:
                known = schedules(accesses_of(kernel, analysis), processor, SCHEDULES)
                kernel.schedule = ScheduleAttr(random.choice(known))


def _kernels(module: ModuleOp) -> Iterator[KernelOp]:
    """Yield the kernels on tensors of every function."""
    for function in module.ops:
        if isinstance(function, FuncOp) and function.body.blocks:
            ops = function.body.block.ops
            kernels = (op for op in ops if isinstance(op, KernelOp))
            yield from (kernel for kernel in kernels if kernel.result is not None)


def random_pipeline(
    draw: Draw, depth: Depth, insertions: Sequence[Insertion] = ()
) -> Sequence[Stage]:
    """Choose a pipeline from a graph to a depth, a user's own passes put in where their place is.

    Raises GaweeError where a place is there more than once.
    """
    # What others are scheduled for, this processor may not have.
    target = HOST if depth is Depth.NATIVE else draw.one_of(TARGETS)
    options = CodeOptions(
        algorithms=draw.one_of((FAST, FAST, EXACT)),
        target=target,
        num_threads=draw.integer(1, 3),
        parallel=draw.chance(),
        trust_indices=draw.chance(0.8),
    )
    plain = draw.chance(0.3)
    tensors = to_wide_linalg(trust_indices=options.trust_indices) if plain else to_kernels(options)
    loops = (Bufferize(), *buffers_to_loops(kernels=False)) if plain else kernels_to_loops()
    made_for = draw.one_of((None, target, target))
    processor = options.machine.processor
    if processor.byte_tiles or processor.bf16_tiles:  # which no code for any processor has
        made_for = target
    native = loops_to_llvm(parallel=options.parallel, expand_math=draw.chance(), target=made_for)
    parts = (tensors, loops, native)[: depth + 1]
    own = [replace(each, required=False) for each in insertions]
    passes = with_insertions([*leaf_passes([each for part in parts for each in part])], own)
    varied = _shuffled(_varied(passes, draw, target), draw)
    return [*_stages(varied, "linalg" if plain else "kernels", depth)]


def check_places(insertions: Sequence[Insertion]) -> None:
    """Raise GaweeError for a place that no pipeline has, or that one has more than once."""
    if not insertions:
        return
    plain = (*to_wide_linalg(), Bufferize(), *buffers_to_loops(kernels=False), *loops_to_llvm())
    by_kernels = (*to_kernels(CodeOptions()), *kernels_to_loops(), *loops_to_llvm())
    for each in insertions:
        if each.name in {other.name for other in leaf_passes(plain)}:
            with_insertions(plain, [each])
        else:
            with_insertions(by_kernels, [each])


def _stages(passes: Sequence[ModulePass], first: str, depth: Depth) -> Iterator[Stage]:
    """Yield the parts of a pipeline; on the way to machine code loops are not interpreted."""
    names = {Depth.TENSORS: first, Depth.LOOPS: "loops", Depth.NATIVE: "machine code"}
    parts: dict[Depth, list[ModulePass]] = {Depth.TENSORS: []}
    for each in passes:
        reached = max(max(parts), FIRST_OF_STAGE.get(each.name, Depth.TENSORS))
        parts.setdefault(reached, []).append(each)
    for reached, part in parts.items():
        is_run = reached is depth or reached is Depth.TENSORS
        yield Stage(names[reached], tuple(part), is_run)


def _varied(passes: Sequence[ModulePass], draw: Draw, target: str) -> Sequence[ModulePass]:
    """Return passes without some, and with others in between that may come anywhere."""
    found: list[ModulePass] = [UnrollScan()] if draw.chance(ADDED) else []
    for each in passes:
        if each.name in OPTIONAL and draw.chance(LEFT_OUT):
            continue
        if isinstance(each, AssignSchedules) and draw.chance(RESCHEDULED):
            found.append(RandomSchedules(draw.integer(0, 1 << 30), target))
        found.append(each)
        if draw.chance(ADDED):
            found.append(draw.one_of((CanonicalizePass(), CommonSubexpressionElimination())))
    return found


def _shuffled(passes: Sequence[ModulePass], draw: Draw) -> Sequence[ModulePass]:
    """Return passes with some of those exchanged whose order means nothing."""
    for names in EXCHANGEABLE:
        runs = [(inside, [*run]) for inside, run in groupby(passes, lambda p: p.name in names)]
        passes = [
            each
            for inside, run in runs
            for each in (draw.permuted(run) if inside and draw.chance(SHUFFLED) else run)
        ]
    return passes
