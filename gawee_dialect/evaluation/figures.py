"""Figures of a build, as evaluators give them: of its code, of its results, of the time of a run.

Those of machine code need no run: bytes, and what LLVM's assembly holds. Where the time of a run is
measured, candidates take turns, and each is loaded anew for every turn. The processor's counters
are read by `perf_event_open` (Linux): events of this process in user mode, which
`perf_event_paranoid` up to 2 allows. Virtual machines often have no counters at all.
"""

import ctypes
import os
import platform
import re
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from statistics import median

from llvmlite import binding

from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.analysis.work import total
from gawee_dialect.backend.code_generation import emit_assembly
from gawee_dialect.backend.jit import optimized_module
from gawee_dialect.backend.program import Program
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures
from gawee_dialect.evaluation.machine import BusyThreads, peak_memory
from gawee_dialect.evaluation.turns import WARM_UP, Referee, RunTimes, Turn, take_turns, time_turn
from gawee_dialect.instruments.check.compare import Tolerance, changed_signature, compare
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.prove.each import ProveEach, Verdict
from gawee_dialect.levels import Level
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.target.machine import find_processor

INSTRUCTION = re.compile(r"^\t[a-z]\w*", re.MULTILINE)
"""A line of assembly that is neither a label nor a directive."""

SPILLED, RELOADED = (
    re.compile(r"-byte (?:Folded )?Spill\b"),
    re.compile(r"-byte (?:Folded )?Reload\b"),
)
"""LLVM's comments on registers that did not suffice."""


def text_bytes(code: bytes) -> int:
    """Return the bytes of machine code in an object file, without tables and names."""
    found = binding.ObjectFileRef.from_data(code).sections()
    return sum(section.size() for section in found if section.is_text())


class Code(Evaluator[Build]):
    """Bytes of code, and LLVM's static figures: instructions, and registers spilled to memory."""

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [code_figures(each.program) for each in candidates]


def code_figures(program: Program) -> Figures:
    """Return the figures of a program; raises GaweeError."""
    parsed, machine = optimized_module(program.module, program.target, jit=True)
    machine.set_asm_verbosity(True)
    text = emit_assembly(machine, parsed)
    return {
        "code_bytes": sum(map(text_bytes, program.code.objects)),
        "instructions": len(INSTRUCTION.findall(text)),
        "spills": len(SPILLED.findall(text)),
        "reloads": len(RELOADED.findall(text)),
    }


# Whether passes change what is computed, in exact arithmetic: the verdicts of --prove-each.


class Proof(Evaluator[Build]):
    """How many passes to loops are proved, how many only checked, and whether one is wrong."""

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        prove = ProveEach()
        try:
            with instrumented(prove):
                build.model.lowered(Level.LOOPS, build.options)
        except CheckFailure:
            return {"valid": False}
        verdicts = [step.verdict for step in prove.steps]
        proved = sum(each in (Verdict.PROVED, Verdict.UNCHANGED) for each in verdicts)
        return {"proved": proved, "checked": len(verdicts) - proved, "valid": True}


# What a network costs by its kernels, before any of them runs.


class Cost(Evaluator[Build]):
    """FLOPs and bytes of the kernels, and the least seconds that one core needs, kernel by kernel.

    The limit of a kernel is that of `annotate-cost`: FLOPs at the rate of multiply-adds, or bytes
    at the rate of the nearest memory that holds them.
    """

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        processor = find_processor(build.options.target)
        main = find_function(build.model.lowered(Level.KERNELS, build.options))
        assert main is not None
        works = [work for op in main.body.block.ops if (work := op_work(op)) is not None]
        all_work = total(works)
        return {
            "flops": all_work.flops,
            "moved_bytes": all_work.bytes,
            "predicted_seconds": sum(limit_of(each, processor).seconds for each in works),
        }


# How much memory a network needs: what was planned, and the most that the process ever had.


class Memory(Evaluator[Build]):
    """Bytes: the workspace, prepared and bound weights, and the process's peak while it runs.

    The peak is None where the system does not report it; it is that of all that the process holds.
    """

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        compiled, inputs = build.compiled, build.inputs
        forget_peak()
        compiled.run(inputs)
        use = compiled.memory
        return {
            "workspace_bytes": use.workspace,
            "prepared_bytes": use.prepared,
            "weight_bytes": use.parameters,
            "peak_bytes": peak_memory() or None,
        }


def forget_peak() -> None:
    """Have the system count the most memory of this process anew, where it can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return  # the peak is then that since the process began


# Whether code computes what the graph says: the comparison of --check-each.


class Validity(Evaluator[Build]):
    """The largest difference to the graph run in NumPy, as a part of the output's magnitude."""

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        expected = build.model.run(build.inputs, Level.GAWEE)
        outputs = build.compiled.run(build.inputs)
        changed = changed_signature(outputs, expected)
        if changed is not None:
            return {"difference": None, "valid": False}
        tolerance = Tolerance((REASSOCIATES,))
        found = [compare(outputs[name], expected[name], tolerance) for name in expected]
        return {
            "difference": max((each.relative for each in found if each is not None), default=0.0),
            "valid": not any(each is not None and each.is_wrong for each in found),
        }


@dataclass
class Time(Evaluator[Build]):
    """Seconds of a run, and the ratio to the first candidate.

    Code and weights are loaded anew for each turn, so that the noise that is stated has in it what
    depends on where they happen to lie.
    """

    rounds: int = 7
    runs: int = 5
    """Of a turn, at least."""
    seconds: float = 1.0
    """After which fewer runs of a turn will do."""
    least_seconds: float = 0.1
    """Of a turn."""
    referee: Referee = field(default_factory=lambda: Referee(patience=10.0))
    pin: bool = False
    """Whether threads are bound to processors after a turn's warm-up, until the process ends."""

    def times(self, candidates: Sequence[Build]) -> Sequence[RunTimes]:
        """Return the times of candidates that took turns; raises GaweeError."""
        subjects = [lambda each=each: self._turn(each) for each in candidates]
        self.referee.threads = max((each.compiled.num_threads for each in candidates), default=1)
        return [RunTimes(turns) for turns in take_turns(subjects, self.rounds, self.referee)]

    def _turn(self, build: Build) -> Turn:
        compiled, inputs = build.load(), build.inputs
        if self.pin:
            threads = BusyThreads.start()
            for _ in range(WARM_UP):
                compiled.run(inputs)
            threads.pin(compiled.num_threads)
        return time_turn(
            lambda: compiled.run(inputs),
            self.runs,
            self.seconds,
            warm_up=WARM_UP,
            least_seconds=self.least_seconds,
        )

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        times = self.times(candidates)
        return [time_figures(each, times[0]) for each in times]


def time_figures(times: RunTimes, base: RunTimes) -> Figures:
    """Return what is recorded of times: seconds, the noise, the ratio to what took turns."""
    loads = [judged.other_load for judged in times.turns]
    figures: dict[str, object] = {
        "seconds": times.typical,
        "noise": times.noise if len(times.turns) > 1 else None,
        "best_seconds": times.best,
        "spread_seconds": times.spread,
        "runs": len(times.seconds),
        "rounds": list(times.rounds),
        "disturbed_turns": times.disturbed,
        "other_load": round(median(loads), 2),
    }
    if times is not base:
        ratio = times.ratio_to(base)
        figures |= {
            "base_rounds": list(base.rounds),
            "ratio": ratio.value,
            "ratio_noise": ratio.noise if len(times.turns) > 1 else None,
        }
    return figures


EVENTS = {"cycles": 0, "retired_instructions": 1, "cache_misses": 3, "branch_misses": 5}
"""PERF_COUNT_HW_* by what they count."""

SYSTEM_CALLS = {"x86_64": 298, "aarch64": 241}
ATTRIBUTE_SIZE = 64
DISABLED, INHERIT, EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
ENABLE, DISABLE = 0x2400, 0x2401
RUNS = 3


def open_counter(event: int) -> int:
    """Return a descriptor that counts an event in this process; raises OSError."""
    number = SYSTEM_CALLS.get(platform.machine())
    if number is None or not sys.platform.startswith("linux"):
        raise OSError("this system has no perf_event_open")
    flags = DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR
    attribute = struct.pack("IIQQQQQ", 0, ATTRIBUTE_SIZE, event, 0, 0, 0, flags)
    buffer = ctypes.create_string_buffer(attribute, ATTRIBUTE_SIZE)
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = library.syscall(number, buffer, 0, -1, -1, 0)
    if descriptor < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return descriptor


class Counters(Evaluator[Build]):
    """Cycles, instructions and misses of a run, or the reason why there are none.

    Threads that run already are not counted: code for one thread is counted whole.
    """

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        compiled, inputs = build.compiled, build.inputs
        compiled.run(inputs)
        found: dict[str, object] = {}
        for name, event in EVENTS.items():
            try:
                descriptor = open_counter(event)
            except OSError as error:
                return {"counters": f"absent: {error.strerror or error}"}
            try:
                ioctl(descriptor, ENABLE, 0)
                for _ in range(RUNS):
                    compiled.run(inputs)
                ioctl(descriptor, DISABLE, 0)
                (count,) = struct.unpack("Q", os.read(descriptor, 8))
            finally:
                os.close(descriptor)
            found[name] = count // RUNS
        return found
