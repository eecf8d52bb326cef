"""The options of LLVM that hold for a whole process: ours while code of ours is emitted, no longer.

LLVM has no other way to set them than its command line, which is global to a process and its
llvmlite. What another thread compiles by llvmlite in just that time sees ours.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager

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
