"""What structured ops with a name share: how they are made, read and written."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType, TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation, NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.hints import isa

# The text that structured ops share: `{attributes} ins(...) outs(...) -> types`.


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


Shaped: TypeAlias = TensorType[Attribute] | MemRefType[Attribute]


def element_types(operands: Sequence[SSAValue]) -> list[Attribute]:
    """Return the types that a body sees: elements of what is shaped, scalars as they are."""
    types = [value.type for value in operands]
    return [type.element_type if isa(type, Shaped) else type for type in types]


def element_shape(value: SSAValue) -> Sequence[int]:
    """Return the shape of what an op reads or writes; a scalar has none."""
    return value.type.get_shape() if isa(value.type, Shaped) else ()


def tensor_types(values: Sequence[SSAValue]) -> list[Attribute]:
    """Return the types of those values that are tensors: of the results that they become."""
    return [value.type for value in values if is_tensor(value.type)]


def parallel_and_reduced(maps: Sequence[AffineMap]) -> ArrayAttr[IteratorTypeAttr]:
    """Return the kinds of the loops: those that the last map has are parallel."""
    written = {dim for expr in maps[-1].results for dim in expr.used_dims()}
    parallel, reduction = IteratorTypeAttr.parallel(), IteratorTypeAttr.reduction()
    return ArrayAttr(parallel if d in written else reduction for d in range(maps[-1].num_dims))


class NamedOp(NamedOperation, ABC):
    """A structured op whose name implies its body: `linalg.name {attributes} ins(...) outs(...)`.

    It has no fields of its own, so that it may be mixed into classes of xDSL.
    """

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        result_types: Sequence[Attribute] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        given = dict(properties or {})
        if result_types is None:
            result_types = tensor_types(outputs)
        IRDLOperation.__init__(
            self,
            operands=[inputs, outputs],
            result_types=[result_types],
            properties=given,
            attributes=attributes or {},
            regions=[self.make_region(inputs, outputs, given)],
        )

    @classmethod
    @abstractmethod
    def make_region(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None],
    ) -> Region:
        """Return the body; raises VerifyException for element types that it is not defined on."""
        ...

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        return cls.make_region(inputs, outputs, {})

    @classmethod
    def parse_front(cls, parser: Parser) -> dict[str, Attribute]:
        """Read the properties that stand before the attributes."""
        return {}

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        properties = cls.parse_front(parser)
        attributes = parse_dictionary(parser)
        operands = parse_operands(parser)
        for name in cls.get_irdl_definition().properties:
            if name in attributes:
                properties[name] = attributes.pop(name)
        properties.pop("operandSegmentSizes", None)
        types = parse_result_types(parser)
        try:
            return cls(operands.inputs, operands.outputs, types, properties, attributes)
        except VerifyException as error:
            parser.raise_error(f"'{cls.name}' op {error}", position)

    def print_front(self, printer: Printer) -> Sequence[str]:
        """Write the properties that stand before the attributes; return their names."""
        return ()

    def print(self, printer: Printer) -> None:
        hidden = ("operandSegmentSizes", *self.print_front(printer))
        shown = {**self.attributes, **self.properties}
        printer.print_op_attributes({k: v for k, v in shown.items() if k not in hidden})
        print_operands(printer, self)
        print_result_types(printer, self)
