"""The assembly of single functions, as people read it: instructions and labels, no directives."""

import re
from collections.abc import Collection

LABEL = re.compile(r'"?_?([^\s:"]+)"?:')
"""Begins a line: the label of a function, which some systems put an underscore before."""

END = re.compile(r"\.?Lfunc_end\d+:")
DIRECTIVE = re.compile(r"\s+\.")
COMMENT = re.compile(r"\s+(#|//|;) .*$")


def function_lines(assembly: str, names: Collection[str]) -> dict[str, list[str]]:
    """Return the lines of some functions, by name, in the order of the text."""
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
