"""How the parameters of described ops are spelled, and which attributes hold them.

size [3, 3] mode "TL_LINEAR" slope -0.1 flag true nothing null
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa
from gawee_dialect.opdesc.invocation import ParamValue, Scalar


def param_attribute(value: ParamValue) -> Attribute:
    """Return a parameter's value as an op holds it: i64, f64, i1, a string, an array, or unit."""
    if isinstance(value, tuple):
        return ArrayAttr(param_attribute(element) for element in value)
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    return UnitAttr() if value is None else StringAttr(value)


def param_value(attribute: Attribute) -> ParamValue:
    """Return the value of a parameter; raises VerifyException for an attribute that is none."""
    if isa(attribute, ArrayAttr[Attribute]):
        return tuple(_scalar(element) for element in attribute)
    return None if isinstance(attribute, UnitAttr) else _scalar(attribute)


def _scalar(attribute: Attribute) -> Scalar:
    if isa(attribute, IntegerAttr[IntegerType]):
        is_bool = attribute.type == i1
        return bool(attribute.value.data) if is_bool else attribute.value.data
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, StringAttr):
        return attribute.data
    raise VerifyException(f"expected a param to be a number, string or boolean, got '{attribute}'")


def parse_op(
    parser: Parser,
) -> tuple[Sequence[SSAValue], dict[str, Attribute], Sequence[Attribute]]:
    """Read `%a, %b name value ... : (types) -> types`: operands, attributes, result types."""
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    attributes = _parse_params(parser)
    attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start = parser.pos
    types = parser.parse_type()
    if not isinstance(types, FunctionType):
        parser.raise_error("expected the types of operands and results", start, parser.pos)
    inputs = parser.resolve_operands(operands or [], types.inputs.data, start)
    return inputs, attributes, types.outputs.data


def print_op(printer: Printer, op: Operation, names: Sequence[str]) -> None:
    """Print what `parse_op` reads; `names` are the parameters, in their order."""
    if op.operands:
        printer.print_string(" ")
        printer.print_list(op.operands, printer.print_ssa_value)
    for name in names:
        printer.print_string(f" {name} {param_text(param_value(op.attributes[name]))}")
    printer.print_op_attributes(op.attributes, reserved_attr_names=names)
    printer.print_string(" : ")
    printer.print_function_type(
        [operand.type for operand in op.operands], [result.type for result in op.results]
    )


def _parse_params(parser: Parser) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    while (name := parser.parse_optional_identifier()) is not None:
        if name in attributes:
            parser.raise_error(f"expected params to differ, got '{name}' twice")
        attributes[name] = param_attribute(_parse_param(parser))
    return attributes


def _parse_param(parser: Parser) -> ParamValue:
    elements = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_scalar(parser)
    )
    if elements is not None:
        return tuple(elements)
    return None if parser.parse_optional_keyword("null") else _parse_scalar(parser)


def _parse_scalar(parser: Parser) -> Scalar:
    text = parser.parse_optional_str_literal()
    if text is not None:
        return text
    boolean = parser.parse_optional_boolean()
    if boolean is not None:
        return boolean
    number = parser.parse_optional_number(allow_boolean=False)
    if number is None or isinstance(number, complex):
        parser.raise_error("expected a number, string, boolean or array")
    return number


def param_text(value: ParamValue) -> str:
    """Return the value of a parameter as MLIR spells it."""
    if isinstance(value, tuple):
        return f"[{', '.join(param_text(element) for element in value)}]"
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return str(StringAttr(value))
    text = repr(value)
    if isinstance(value, int) or "." in text:
        return text
    return text.replace("e", ".0e")  # MLIR has no number like 1e-05
