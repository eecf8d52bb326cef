"""Attributes that list sizes, of which some are open: `[2, "length + 1"]`."""

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, IntAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import BaseAttr, IRDLOperation, irdl_attr_definition
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from gawee_dialect.dialect.open_size import UNBOUNDED, OpenSize, SizeName, is_open, parse_size
from gawee_dialect.hints import isa


@irdl_attr_definition
class SizesAttr(ParametrizedAttribute):
    """A list of sizes, of which at least one is open: `#gawee.sizes<[2, "length + 1"]>`.

    Lists of numbers are dense arrays, as in any dialect.
    """

    name: ClassVar[str] = "gawee.sizes"

    sizes: ArrayAttr[IntAttr]

    def get_values(self) -> tuple[int, ...]:
        """Return the sizes, as those of a dense array are returned."""
        return tuple(each.data for each in self.sizes)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            sizes = parse_sizes(parser)
        return [ArrayAttr(IntAttr(size) for size in sizes)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_sizes(printer, self.get_values())


SizeList: TypeAlias = DenseArrayBase[I64] | SizesAttr

SIZE_LIST = DenseArrayBase.constr(i64) | BaseAttr(SizesAttr)
"""What a property that lists sizes is."""


def size_list(sizes: Sequence[int]) -> SizeList:
    """Make the attribute of a list of sizes: a dense array where all are numbers."""
    if is_open(sizes):
        return SizesAttr(ArrayAttr(IntAttr(size) for size in sizes))
    return DenseArrayBase.from_list(i64, sizes)


def parse_sizes(parser: AttrParser) -> Sequence[int]:
    """Parse `[2, "length + 1"]`: names have other values once a function's ranges are read."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_size(parser))


def _parse_size(parser: AttrParser) -> int:
    text = parser.parse_optional_str_literal()
    if text is None:
        return parser.parse_integer()
    return parse_size(text, _not_known_yet if "/" in text else SizeName)


_MANY = 720_720
"""A multiple of all numbers up to 16."""


def _not_known_yet(name: str) -> SizeName:
    """Return a name whose values are not known where it stands: any part of it may be whole."""
    return SizeName(name, 0, UNBOUNDED, _MANY)


def print_sizes(printer: Printer, sizes: Sequence[int]) -> None:
    """Print a list of sizes: those that are open in quotes."""

    with printer.in_square_brackets():
        printer.print_list(sizes, lambda size: _print_size(printer, size))


def _print_size(printer: Printer, size: int) -> None:
    if isinstance(size, OpenSize):
        printer.print_string_literal(str(size))
    else:
        printer.print_int(size)


@irdl_custom_directive
class Sizes(CustomDirective):
    """A list of sizes in the text of an op: `[2, 3]`, and `[2, "length + 1"]` where one is open."""

    sizes: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.sizes.set(state, size_list(parse_sizes(parser)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        sizes = self.sizes.get(op)
        assert isa(sizes, SizeList)
        state.print_whitespace(printer)
        print_sizes(printer, sizes.get_values())


@irdl_custom_directive
class OneSize(CustomDirective):
    """A list of one size in the text of an op, without brackets: `5`, or `"batch"`."""

    sizes: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.sizes.set(state, size_list([_parse_size(parser)]))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        sizes = self.sizes.get(op)
        assert isa(sizes, SizeList)
        state.print_whitespace(printer)
        _print_size(printer, sizes.get_values()[0])
