"""Assembly: made into machine code, and of single functions as people read it."""

import re
from collections.abc import Collection

from llvmlite import binding

LABEL = re.compile(r'"?_?([^\s:"]+)"?:')
"""Begins a line: the label of a function, which some systems put an underscore before."""

END = re.compile(r"\.?Lfunc_end\d+:")
DIRECTIVE = re.compile(r"\s+\.")
ESCAPES = str.maketrans({"\\": "\\5C", '"': "\\22"})
COMMENT = re.compile(r"\s+(#|//|;) .*$")


def assemble(machine: binding.TargetMachine, assembly: str) -> bytes:
    """Return the machine code of assembly; LLVM must have been prepared.

    Code is generated once where both are wanted: to assemble takes a fraction of that.
    """
    lines = (f'module asm "{line.translate(ESCAPES)}"' for line in assembly.splitlines())
    module = binding.parse_assembly("\n".join((f'target triple = "{machine.triple}"', *lines)))
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


def function_lines(assembly: str, names: Collection[str]) -> dict[str, list[str]]:
    """Return the instructions and labels of some functions, by name, in the order of the text."""
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in assembly.splitlines():
        label = LABEL.match(line)
        if label is not None and label[1] in names:
            lines = found.setdefault(label[1], [])
        elif END.match(line):
            lines = None
        elif lines is not None and not DIRECTIVE.match(line):
            text = COMMENT.sub("", line).expandtabs(8).rstrip()
            lines += [text] if text else []
    return found
