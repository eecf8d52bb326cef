"""The scf dialect with `scf.forall`, and a text form for parallel loops that xDSL lacks.

`SCF` takes the place of xDSL's dialect of the same name in our tools. Everything else in it is
xDSL's own, and our op is one of xDSL's class, so its passes work on it.
"""

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from gawee_dialect.upstream.forall import ForallOp, InParallelOp


def _list(parser: Parser) -> Sequence[SSAValue]:
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    return parser.resolve_operands(operands, [IndexType()] * len(operands), parser.pos)


def _initial_values(parser: Parser) -> Sequence[SSAValue]:
    position = parser.pos
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    parser.parse_punctuation("->")
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return parser.resolve_operands(operands, types or [parser.parse_type()], position)


class ParallelOp(scf.ParallelOp):
    """A nest of loops whose iterations are independent.

    ```mlir
    scf.parallel (%i, %j) = (%c0, %c0) to (%c7, %c13) step (%c1, %c1) {
      %v = memref.load %x[%i, %j] : memref<7x13xf32>
      memref.store %v, %y[%i, %j] : memref<7x13xf32>
      scf.reduce
    }
    ```
    """

    name = "scf.parallel"

    @classmethod
    def parse(cls, parser: Parser) -> "ParallelOp":
        """Read `(%i, ..) = (lower, ..) to (upper, ..) step (step, ..) init (..) -> .. {..}`."""
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _list(parser)
        parser.parse_keyword("to")
        upper = _list(parser)
        parser.parse_keyword("step")
        step = _list(parser)
        initial = _initial_values(parser) if parser.parse_optional_keyword("init") else ()
        body = parser.parse_region([name.resolve(IndexType()) for name in names])
        if not isinstance(body.block.last_op, scf.ReduceOp):
            body.block.add_op(scf.ReduceOp())
        op = cls(lower, upper, step, body, initial)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads; the terminator is always spelt out, as upstream does."""

        def values(keyword: str, operands: Sequence[SSAValue]) -> None:
            printer.print_string(f" {keyword} ")
            with printer.in_parens():
                printer.print_list(operands, printer.print_ssa_value)

        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_ssa_value)
        values("=", self.lowerBound)
        values("to", self.upperBound)
        values("step", self.step)
        if self.initVals:
            values("init", self.initVals)
            printer.print_string(" -> ")
            self._print_types(printer, [result.type for result in self.res])
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)

    def _print_types(self, printer: Printer, types: Sequence[Attribute]) -> None:
        if len(types) == 1:
            printer.print_attribute(types[0])
            return
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)


SCF = Dialect(
    "scf",
    [
        *(ParallelOp if op is scf.ParallelOp else op for op in scf.Scf.operations),
        ForallOp,
        InParallelOp,
    ],
    list(scf.Scf.attributes),
)
"""xDSL's dialect and `scf.forall`, with our parallel loop in the place of its own."""
