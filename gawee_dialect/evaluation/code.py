"""Figures of machine code that need no run: bytes, and what LLVM's assembly holds."""

import re
from collections.abc import Sequence
from pathlib import Path

from llvmlite import binding

from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.analysis.work import total
from gawee_dialect.backend.code_generation import emit_assembly
from gawee_dialect.backend.jit import optimized_module
from gawee_dialect.backend.program import Program
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures
from gawee_dialect.evaluation.machine import peak_memory
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
