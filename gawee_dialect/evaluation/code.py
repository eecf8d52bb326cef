"""Figures of machine code that need no run: bytes, and what LLVM's assembly holds."""

import re
from collections.abc import Sequence

from llvmlite import binding

from gawee_dialect.backend.code_generation import emit_assembly
from gawee_dialect.backend.jit import optimized_module
from gawee_dialect.backend.program import Program
from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures

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
