"""The text that structured ops share: `{attributes} ins(...) outs(...) -> types`."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer


@dataclass(frozen=True)
class Operands:
    """What `ins` and `outs` name."""

    inputs: Sequence[SSAValue]
    outputs: Sequence[SSAValue]

    @property
    def types(self) -> list[Attribute]:
        """The types of all operands, inputs first."""
        return [value.type for value in (*self.inputs, *self.outputs)]


def parse_operands(parser: Parser) -> Operands:
    """Read `ins(%a, %b : t, t) outs(%c : t)`; either part may be missing."""
    return Operands(_parse_list(parser, "ins"), _parse_list(parser, "outs"))


def _parse_list(parser: Parser, keyword: str) -> Sequence[SSAValue]:
    if not parser.parse_optional_keyword(keyword):
        return ()
    parser.parse_punctuation("(")
    position = parser.pos
    names = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    if names is None:
        parser.parse_punctuation(")")
        return ()
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return parser.resolve_operands(names, types, position)


def parse_result_types(parser: Parser) -> Sequence[Attribute]:
    """Read `-> t` or `-> (t, t)`, if it is there."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    types = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    if types is not None:
        return types
    return parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)


def parse_dictionary(parser: Parser) -> dict[str, Attribute]:
    """Read `<{...}>`, `{...}` or the name of a dictionary, if one is there."""
    if parser.parse_optional_punctuation("<"):
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(">")
        return {**attributes, **parser.parse_optional_attr_dict()}
    attribute = parser.parse_optional_attribute()
    if attribute is None:
        return {}
    if not isinstance(attribute, DictionaryAttr):
        parser.raise_error(f"expected a dictionary of attributes, got '{attribute}'")
    return dict(attribute.data)


def print_operands(printer: Printer, op: LinalgStructuredOperation) -> None:
    """Write `ins(...) outs(...)` of an op."""
    for keyword, values in (("ins", op.inputs), ("outs", op.outputs)):
        if values:
            printer.print_string(f" {keyword}(")
            printer.print_list(values, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list(values.types, printer.print_attribute)
            printer.print_string(")")


def print_result_types(printer: Printer, op: LinalgStructuredOperation) -> None:
    """Write `-> types` of an op that has results."""
    if not op.res:
        return
    printer.print_string(" -> ")
    if len(op.res) == 1:
        printer.print_attribute(op.res[0].type)
        return
    with printer.in_parens():
        printer.print_list(op.res.types, printer.print_attribute)
