"""What was compiled, function by function, as people read it.

Megabytes of text are cut up by a few searches in all of it, not line by line.
"""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

DEFINITION = re.compile(r'define [^@\n]*@("?)([^"(\n]+)\1\(')
LABEL = re.compile(r'\n"?_?([^\s:"]+)"?:[^\n]*')
"""Begins a line of assembly: a function, which some systems put an underscore before."""

END = re.compile(r"\n\.?Lfunc_end\d+:")
DIRECTIVE = re.compile(r"\n[ \t]+\.[^\n]*")
COMMENT = re.compile(r"[ \t]+(?:#|//|;) [^\n]*")


def llvm_functions(text: str) -> dict[str, str]:
    """Return the functions that LLVM IR defines, by name."""
    found: dict[str, str] = {}
    start = 0 if text.startswith("define ") else text.find("\ndefine ") + 1
    while (head := DEFINITION.match(text, start)) is not None:
        end = text.index("\n}", start) + 2
        found[head[2]] = text[start:end]
        start = text.find("\ndefine ", end) + 1 or len(text)
    return found


def assembly_functions(assembly: str, names: Collection[str]) -> dict[str, list[str]]:
    """Return the instructions and labels of some functions, by name, in the order of the text."""
    found: dict[str, list[str]] = {}
    for part in END.split(f"\n{assembly}"):
        for name, body in _bodies(part, names):
            bare = COMMENT.sub("", DIRECTIVE.sub("", body)).expandtabs(8)
            lines = found.setdefault(name, [])
            lines += [line.rstrip() for line in bare.splitlines() if line and not line.isspace()]
    return found


def _bodies(part: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what follows the label of each function, up to the next one."""
    labels = [label for label in LABEL.finditer(part) if label[1] in names]
    for label, after in pairwise((*labels, None)):
        assert label is not None
        yield label[1], part[label.end() : None if after is None else after.start()]
