"""Formats of ops that are read where an op is first parsed or printed, not where it is defined.

xDSL reads the format of every op that a process imports, which takes a sixth of all imports; most
ops are never text. Formats of other dialects than these are read at once: a mistake in one is found
where it is.
"""

from dataclasses import dataclass
from functools import cached_property

from xdsl.irdl import IRDLOperation, OpDef
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.irdl.operations import IRDLOperationInvT
from xdsl.parser import Parser
from xdsl.printer import Printer

DIALECTS = frozenset(
    (
        *("affine", "amx", "arith", "builtin", "cf", "func", "gawee", "linalg", "llvm", "math"),
        *("memref", "omp", "scf", "tensor", "vector"),
    )
)

_read = FormatProgram.from_str


@dataclass(frozen=True)
class LateFormat(FormatProgram):
    """A format that is read at its first use."""

    text: str
    definition: OpDef

    @cached_property
    def program(self) -> FormatProgram:
        """The format as directives; raises ParseError."""
        return _read(self.text, self.definition)

    def parse(self, parser: Parser, op_type: type[IRDLOperationInvT]) -> IRDLOperationInvT:
        return self.program.parse(parser, op_type)

    def print(self, printer: Printer, op: IRDLOperation) -> None:
        self.program.print(printer, op)


def _read_late(input: str, op_def: OpDef) -> FormatProgram:
    if op_def.name.partition(".")[0] in DIALECTS:
        return LateFormat((), input, op_def)
    return _read(input, op_def)


def read_formats_late() -> None:
    """Have xDSL read formats at their first use, those of ops that are defined from now on."""
    FormatProgram.from_str = staticmethod(_read_late)
