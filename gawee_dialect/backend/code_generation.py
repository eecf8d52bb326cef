"""The options of LLVM that hold for a whole process: ours while code of ours is emitted, no longer.

LLVM has no other way to set them than its command line, which is global to a process and its
llvmlite. What another thread compiles by llvmlite in just that time sees ours.
"""

import re
import threading
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from itertools import pairwise

from llvmlite import binding

OWN = ("-enable-misched=false",)
"""LLVM would move the loads of a register tile before its multiply-adds, more of them than there
are registers. A processor that runs out of order needs no such help."""

ESCAPES = str.maketrans({"\\": "\\5C", '"': "\\22"})
"""Of a text between quotes in LLVM IR."""

DEFAULT = ("-enable-misched=true",)


class _Options:
    """Counts the threads that emit code: the first sets the options, the last restores them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._set(OWN)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._set(DEFAULT)

    def _set(self, options: tuple[str, ...]) -> None:
        for option in options:
            binding.set_option("gawee", option)


_options = _Options()


@contextmanager
def own_code_generation() -> Generator[None]:
    """Have LLVM emit code that suits register tiles, for the time of a with block."""
    _options.enter()
    try:
        yield
    finally:
        _options.leave()


def emit_object(machine: binding.TargetMachine, module: binding.ModuleRef) -> bytes:
    """Return the machine code of a module."""
    with own_code_generation():
        return machine.emit_object(module)


def emit_assembly(machine: binding.TargetMachine, module: binding.ModuleRef) -> str:
    """Return the machine code of a module as text."""
    with own_code_generation():
        return machine.emit_assembly(module)


def assemble(machine: binding.TargetMachine, assembly: str) -> bytes:
    """Return the machine code of assembly; LLVM must have been prepared.

    Code is generated once where both are wanted: to assemble takes a fraction of that.
    """
    lines = (f'module asm "{line.translate(ESCAPES)}"' for line in assembly.splitlines())
    module = binding.parse_assembly("\n".join((f'target triple = "{machine.triple}"', *lines)))
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


# What was compiled, function by function, as people read it.
#
# Megabytes of text are cut up by a few searches in all of it, not line by line.


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
