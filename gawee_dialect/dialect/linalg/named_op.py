"""What structured ops with a name share: how they are made, read and written."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, MemRefType, TensorType
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.linalg.structured_text import (
    parse_dictionary,
    parse_operands,
    parse_result_types,
    print_operands,
    print_result_types,
)
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.hints import isa

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
    """A structured op whose body its name tells: `linalg.name {attributes} ins(...) outs(...)`.

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
