"""For the test of --verify-roundtrip: an op whose pretty form leaves an attribute out."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_attr_def
from xdsl.parser import Parser
from xdsl.printer import Printer


@irdl_op_definition
class NoteOp(IRDLOperation):
    """A text, which is printed in the generic form alone."""

    name = "forgetful.note"

    text = opt_attr_def(StringAttr)

    def print(self, printer: Printer) -> None:
        """Print nothing."""

    @classmethod
    def parse(cls, parser: Parser) -> "NoteOp":
        """Read nothing."""
        return cls()


FORGETFUL = Dialect("forgetful", [NoteOp])
