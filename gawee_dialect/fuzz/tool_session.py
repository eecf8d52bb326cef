"""Random programs through random passes of another tool: what was tried, and what is wrong.

Which passes of MLIR may follow each other, and what ends a pipeline, depends on the program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from time import time

from gawee_dialect.diagnostics import GaweeError, first_line
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.oracle import Done, Finding
from gawee_dialect.fuzz.session import Tried
from gawee_dialect.fuzz.tool_numbers import BlockProgram, MapProgram, WideProgram
from gawee_dialect.fuzz.tool_programs import LoopProgram, Program, ScalarProgram
from gawee_dialect.fuzz.tool_structures import (
    AffineProgram,
    TensorProgram,
    VectorProgram,
    ViewProgram,
)
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.execute import Engine
from gawee_dialect.instruments.tool.check import check_pipeline, whole
from gawee_dialect.instruments.tool.pipeline import Tool, pass_of, split_pipeline
from gawee_dialect.instruments.tool.reproducer import (
    CrashingTool,
    issue_text,
    lit_test,
    prepare,
    readable,
    reduced,
    smaller,
)
from gawee_dialect.reduce.failure import OutOfTime, time_limit
from gawee_dialect.whole_file import write_file

ANYWHERE = (
    *("canonicalize", "cse", "sccp", "loop-invariant-code-motion", "control-flow-sink"),
    *("int-range-optimizations", "arith-unsigned-when-equivalent", "remove-dead-values", "mem2reg"),
    "sroa,mem2reg",
    "arith-int-range-narrowing{int-bitwidths-supported=8,16,32}",
)
_BUFFERIZE = (
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map%s}"
)
BUFFERS = (
    *(_BUFFERIZE % "", _BUFFERIZE % "", _BUFFERIZE % " analysis-heuristic=top-down"),
    _BUFFERIZE % " analysis-heuristic=bottom-up-from-terminators",
    *(_BUFFERIZE % f" analysis-heuristic=fuzzer analysis-fuzzer-seed={n}" for n in (1, 2)),
)
BLOCKS = (
    *("sccp", "canonicalize", "int-range-optimizations", "remove-dead-values", "cse"),
    *("lift-cf-to-scf", "lift-cf-to-scf,convert-scf-to-cf", "arith-unsigned-when-equivalent"),
    *("convert-arith-to-llvm", "convert-index-to-llvm", "convert-cf-to-llvm"),
    "canonicalize{region-simplify=aggressive}",
)
WIDE = (
    "arith-emulate-wide-int{widest-int-supported=32}",
    "arith-int-range-narrowing{int-bitwidths-supported=8,16,32}",
    *("int-range-optimizations", "arith-expand", "canonicalize", "arith-unsigned-when-equivalent"),
)
MAPS = (
    *(
        "canonicalize",
        "func.func(affine-simplify-structures)",
        "func.func(affine-simplify-min-max)",
    ),
    *("affine-expand-index-ops", "affine-expand-index-ops-as-affine", "lower-affine", "cse"),
    *("int-range-optimizations", "arith-unsigned-when-equivalent", "sccp"),
    "arith-int-range-narrowing{int-bitwidths-supported=8,16,32}",
)
ON_MEMORY = (
    *("func.func(buffer-hoisting)", "func.func(buffer-loop-hoisting)"),
    *("func.func(promote-buffers-to-stack)", "fold-memref-alias-ops", "normalize-memrefs"),
    *("expand-strided-metadata", "flatten-memref", "resolve-shaped-type-result-dims"),
    *("memref-expand", "reify-result-shapes", "buffer-deallocation-pipeline"),
)
LOOPS = (
    *("func.func(scf-for-loop-peeling)", "func.func(scf-for-loop-peeling{peel-front=1})"),
    *("scf-for-loop-canonicalization", "scf-for-loop-range-folding", "scf-for-to-while"),
    *("func.func(scf-for-loop-specialization)", "loop-invariant-subset-hoisting"),
    *("scf-parallel-loop-fusion", "func.func(scf-parallel-loop-specialization)"),
    "func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=2})",
    "func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=3 no-min-max-bounds})",
    *("scf-forall-to-for", "scf-parallel-for-to-nested-fors"),
    *("func.func(affine-raise-from-memref)", "convert-scf-to-cf"),
    "convert-scf-to-cf,lift-cf-to-scf",
    "func.func(test-scf-parallel-loop-collapsing{collapsed-indices-0=0})",
)
AFFINE = (
    *(f"func.func(affine-loop-unroll{{unroll-factor={n}}})" for n in (2, 3)),
    *(
        "func.func(affine-loop-unroll{unroll-factor=4 unroll-up-to-factor})",
        "func.func(affine-loop-unroll{cleanup-unroll})",
    ),
    *(f"func.func(affine-loop-unroll-jam{{unroll-jam-factor={n}}})" for n in (2, 3)),
    *(
        "func.func(affine-loop-tile{tile-size=2})",
        "func.func(affine-loop-tile{tile-size=3 separate})",
    ),
    *("func.func(affine-loop-fusion)", "func.func(affine-loop-fusion{maximal})"),
    *(
        "func.func(affine-loop-fusion{mode=producer})",
        "func.func(affine-loop-fusion{mode=sibling})",
    ),
    *("func.func(affine-scalrep)", "func.func(affine-loop-normalize)"),
    "func.func(affine-loop-normalize{promote-single-iter})",
    *("func.func(affine-simplify-structures)", "func.func(affine-loop-coalescing)"),
    *("func.func(affine-loop-invariant-code-motion)", "func.func(affine-simplify-min-max)"),
    *("func.func(affine-parallelize)", "func.func(affine-parallelize{parallel-reductions})"),
    "func.func(affine-data-copy-generate{generate-dma=false fast-mem-space=0})",
    "func.func(affine-super-vectorize{virtual-vector-size=4})",
    "func.func(affine-super-vectorize{virtual-vector-size=2 vectorize-reductions})",
    "func.func(affine-parallelize),lower-affine",
    *(
        "affine-expand-index-ops",
        "affine-expand-index-ops-as-affine",
        "affine-fold-memref-alias-ops",
    ),
    *("lower-affine", "lower-affine,func.func(affine-raise-from-memref)"),
)
TENSORS = (
    *("linalg-generalize-named-ops", "linalg-fuse-elementwise-ops", "linalg-fold-unit-extent-dims"),
    *("linalg-specialize-generic-ops", "linalg-inline-scalar-operands", "linalg-morph-ops"),
    *("linalg-fold-into-elementwise", "eliminate-empty-tensors", "fold-tensor-subset-ops"),
    *(
        "func.func(linalg-detensorize{aggressive-mode})",
        "convert-tensor-to-linalg",
        "loop-invariant-subset-hoisting",
    ),
    *("linalg-morph-ops{named-to-category}", "linalg-morph-ops{generic-to-named}"),
    *("linalg-morph-ops{named-to-generic}", "convert-elementwise-to-linalg"),
)
VECTORS = (
    *(
        "convert-vector-to-scf",
        "convert-vector-to-scf{full-unroll=true}",
        "func.func(lower-vector-mask)",
    ),
    *(
        "func.func(lower-vector-multi-reduction)",
        "fold-memref-alias-ops",
        "expand-strided-metadata",
    ),
    "func.func(lower-vector-multi-reduction{lowering-strategy=inner-reduction})",
    *(
        "flatten-memref",
        "convert-vector-to-llvm",
        "func.func(lower-vector-to-from-elements-to-shuffle-tree)",
    ),
)
FROM_TENSORS = (
    "convert-linalg-to-loops",
    "convert-linalg-to-affine-loops",
    "convert-linalg-to-parallel-loops",
)

PASSES: Mapping[type[Program], Sequence[str]] = {
    ScalarProgram: (*ANYWHERE, "arith-expand", "math-expand-ops"),
    LoopProgram: (*ANYWHERE, *LOOPS, *LOOPS, *ON_MEMORY),
    AffineProgram: (*AFFINE, *AFFINE, *AFFINE, *ANYWHERE, *ON_MEMORY),
    ViewProgram: (*ON_MEMORY, *ON_MEMORY, *ANYWHERE, "convert-scf-to-cf"),
    TensorProgram: (*TENSORS, *TENSORS, *ANYWHERE),
    VectorProgram: (*VECTORS, *ANYWHERE, "canonicalize"),
    BlockProgram: BLOCKS,
    WideProgram: (WIDE[0], *WIDE),
    MapProgram: MAPS,
}
"""What a program's pipeline is drawn from."""


KINDS: Mapping[str, type[Program]] = {kind.what.split()[-1]: kind for kind in PASSES}
"""Programs by the names that `--generators` takes."""


def random_pipeline(draw: Draw, kind: type[Program]) -> str:
    """Draw some passes in any order; tensors mostly end as loops over memory."""
    passes = [draw.one_of(PASSES[kind]) for _ in range(draw.integer(1, 4))]
    if kind is TensorProgram and draw.chance(0.7):
        passes += [draw.one_of(BUFFERS), *([draw.one_of(ON_MEMORY)] if draw.chance() else [])]
        if draw.chance(0.6):
            made = draw.one_of(FROM_TENSORS)
            more = AFFINE if "affine" in made else (*LOOPS, *ANYWHERE)
            passes += [made, *(draw.one_of(more) for _ in range(draw.integer(0, 2)))]
    return ",".join(passes)


WRONG, CRASH = "wrong", "crash"
REFUSED, UNLOCATED, SLOW = "refused", "not located", "too slow"
"""What is counted, and is no finding: a pass may refuse what it was not made for."""

SECONDS = 60.0
"""Of a program and its pipeline, by the clock."""

SECONDS_TO_REDUCE = 40.0

SPAN = 20
"""Trials of one process: each runs the tool some times."""


@dataclass(frozen=True)
class ToolTask:
    """Some trials: their numbers, and until what time of day."""

    numbers: range
    until: float

    @property
    def begun(self) -> int | None:
        """What began last is not known: a process that dies has its trials halved."""
        return None


@dataclass(frozen=True)
class ToolSession:
    """Trials that a seed and a number say all of: a program, and a pipeline of the tool."""

    tool: Tool
    seed: int = 0
    passes: str | None = None
    """The pipeline of all programs; random ones where there is none."""

    kinds: Sequence[type[Program]] = tuple(PASSES)

    def trial(self, number: int) -> tuple[str, str, str]:
        """Return what is drawn, a program and a pipeline."""
        draw = Draw(Random(f"{self.seed} {number}"))
        kind = draw.one_of(self.kinds)
        text = kind(draw).text()
        return kind.what, text, self.passes or random_pipeline(draw, kind)

    def run(self, task: ToolTask) -> Tried:
        """Try some numbers."""
        tried = Tried()
        if self.passes is not None:
            texts = [self.trial(number)[1] for number in task.numbers]
            prepare(texts, whole(self.passes), self.tool, 2 * [Engine.NATIVE.value])
        for number in task.numbers:
            if time() >= task.until:
                break
            what, text, pipeline = self.trial(number)
            tried.drawn[what] += 1
            try:
                with time_limit(SECONDS):
                    found = self._found(text, pipeline, tried.done)
            except OutOfTime:
                tried.done[SLOW] += 1
                continue
            if found is not None:
                tried.add(number, found)
        return tried

    def _found(self, text: str, pipeline: str, done: Done) -> Finding | None:
        try:
            found = check_pipeline(text, pipeline, self.tool, at_once=True)
            if found.failure is None:
                unchecked = sum("not run" in step.note for step in found.steps[1:])
                done["not run" if unchecked else "the same"] += 1
                return None
            found = check_pipeline(text, pipeline, self.tool)
        except GaweeError as error:
            return self._refusal(error, done)
        if found.failure is None:
            done[UNLOCATED] += 1
            return None
        done[WRONG] += 1
        failure = found.failure
        return Finding(WRONG, failure.pass_name, failure.diagnostics[0].message)

    def require_taken(self, tried: Tried, number: int) -> None:
        """Raise GaweeError where the tool refused all that was tried, with what it says of one."""
        refused = tried.done[REFUSED]
        if not refused or refused != tried.drawn.total():
            return
        _, text, pipeline = self.trial(number)
        try:
            check_pipeline(text, pipeline, self.tool, at_once=True)
        except GaweeError as error:
            said = first_line(error)
            name = self.tool.name
            what = f"expected '{name}' to run a program, it refused all {refused}; number {number}"
            raise GaweeError(f"{what}: {said}") from error

    def _refusal(self, error: GaweeError, done: Done) -> Finding | None:
        message = error.diagnostics[0].message
        if "a crash" not in message or not message.startswith("pass '"):
            done[REFUSED] += 1
            return None
        done[CRASH] += 1
        return Finding(CRASH, message.partition("a crash: ")[2], message)

    # What is made of findings.

    def write(self, number: int, finding: Finding, folder: Path) -> Sequence[Path]:
        """Make a finding small, and write a test and the text of a report; returns the files."""
        _, text, pipeline = self.trial(number)
        found = None if finding.kind == CRASH else check_pipeline(text, pipeline, self.tool)
        if found is None or found.failure is None:
            test, issue = self._crash(text, pipeline, finding)
        else:
            small = reduced(found, self.tool, CheckSettings(), SECONDS_TO_REDUCE)
            test, issue = lit_test(small, self.tool), issue_text(small, self.tool)
        name = f"{finding.kind}_{sha256(finding.cause.encode()).hexdigest()[:10]}"
        files = folder / f"{name}.mlir", folder / f"{name}.md"
        folder.mkdir(parents=True, exist_ok=True)
        for path, said in zip(files, (test, issue), strict=True):
            write_file(path, said.encode())
        return files

    def _crash(self, text: str, pipeline: str, finding: Finding) -> tuple[str, str]:
        """Return a test and a report of a pass that crashes, of the whole pipeline if none does."""
        before = text = self.tool.run(text, "builtin.module()")
        alone = pipeline
        for each in split_pipeline(pipeline):
            try:
                text = self.tool.run(text, each)
            except GaweeError:
                before, alone = text, each
                break
        crash = CrashingTool(alone, self.tool, finding.cause)
        small = readable(smaller(before, crash, SECONDS_TO_REDUCE), self.tool)
        lines = (f"# `{pass_of(alone)}`: {finding.kind}", "", finding.message, "", "```mlir")
        report = (*lines, small.strip(), "```", "", f"    {self.tool.command(alone)}", "")
        test = f"// RUN: {self.tool.name} %s --pass-pipeline='{alone}'\n\n{small.strip()}\n"
        return test, "\n".join(report)
