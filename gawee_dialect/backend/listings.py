"""What was compiled, function by function, as people read it."""

import re
from collections.abc import Collection

DEFINITION = re.compile(r"^define [^@\n]*@(\"?)([^\"(\n]+)\1\(.*?^}$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r'"?_?([^\s:"]+)"?:')
"""Begins a line of assembly: a function, which some systems put an underscore before."""

END = re.compile(r"\.?Lfunc_end\d+:")
DIRECTIVE = re.compile(r"\s+\.")
COMMENT = re.compile(r"\s+(#|//|;) .*$")


def llvm_functions(text: str) -> dict[str, str]:
    """Return the functions that LLVM IR defines, by name."""
    return {found[2]: found[0] for found in DEFINITION.finditer(text)}


def assembly_functions(assembly: str, names: Collection[str]) -> dict[str, list[str]]:
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
