"""The memref dialect with `memref.prefetch`, which xDSL lacks, and forms that it does not read."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AnyDenseElement,
    BoolAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.kernels.structured_kernel import shape_of
from gawee_dialect.hints import isa

MOST_LOCALITY = 3
"""The locality of what is to be kept in the first cache."""


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Begin to fetch the cache line of an element; nothing that a program computes depends on it.

    An index may be outside: what lies there, or does not, is not accessed. `locality` is from 0,
    used once, to 3, kept in the first cache.

    ```mlir
    memref.prefetch %m[%i, %j], read, locality<2>, data : memref<4x8xf32>
    ```

    Constraints:
      C1: there is an index for each dimension.
      C2: the locality is from 0 to 3.
    """

    name = "memref.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    isWrite = prop_def(BoolAttr)
    localityHint = prop_def(IntegerAttr)
    isDataCache = prop_def(BoolAttr)

    # As upstream's: it stays where it is, though it has no result.
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        memref: SSAValue,
        indices: Sequence[SSAValue],
        *,
        locality: int,
        is_write: bool = False,
        is_data: bool = True,
    ):
        super().__init__(
            operands=[memref, indices],
            properties={
                "isWrite": BoolAttr.from_bool(is_write),
                "localityHint": IntegerAttr(locality, i32),
                "isDataCache": BoolAttr.from_bool(is_data),
            },
        )

    @property
    def locality(self) -> int:
        """How near to the core the line is to be kept, from 0 to 3."""
        return self.localityHint.value.data

    @property
    def for_writing(self) -> bool:
        """Whether the line is fetched in order to be written."""
        return bool(self.isWrite.value.data)

    @property
    def for_data(self) -> bool:
        """Whether the line goes to the cache of data, not of instructions."""
        return bool(self.isDataCache.value.data)

    def verify_(self) -> None:
        rank = len(shape_of(self.memref))
        if len(self.indices) != rank:
            raise VerifyException(f"expected {rank} indices, got {len(self.indices)}")
        if not 0 <= self.locality <= MOST_LOCALITY:
            raise VerifyException(f"expected a locality from 0 to 3, got {self.locality}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `%m[%i, ..], read, locality<3>, data : type`."""
        buffer = parser.parse_unresolved_operand()
        names = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(",")
        is_write = _one_of(parser, "write", "read")
        parser.parse_punctuation(",")
        parser.parse_keyword("locality")
        with parser.in_angle_brackets():
            locality = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(",")
        is_data = _one_of(parser, "data", "instr")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(buffer, parser.parse_type())
        indices = parser.resolve_operands(names, [IndexType()] * len(names), parser.pos)
        op = cls(operand, indices, locality=locality, is_write=is_write, is_data=is_data)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string(", write" if self.for_writing else ", read")
        printer.print_string(f", locality<{self.locality}>")
        printer.print_string(", data" if self.for_data else ", instr")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)


def _one_of(parser: Parser, chosen: str, other: str) -> bool:
    """Read one of two words; return whether it is the first."""
    if parser.parse_optional_keyword(chosen) is not None:
        return True
    if parser.parse_optional_keyword(other) is None:
        parser.raise_error(f"expected '{other}' or '{chosen}'")
    return False


# Forms of MLIR that xDSL does not read. Printed is the generic form, which it does.


def _parse_copy(parser: Parser) -> memref.CopyOp:
    """Read `%source, %target : type to type`."""
    names = [parser.parse_unresolved_operand()]
    parser.parse_punctuation(",")
    names.append(parser.parse_unresolved_operand())
    attributes = parser.parse_optional_attr_dict()
    op = memref.CopyOp(*parser.resolve_operands(names, _types_of(parser), parser.pos))
    op.attributes |= attributes
    return op


def _types_of(parser: Parser) -> tuple[Attribute, Attribute]:
    """Read `: type to type`."""
    parser.parse_punctuation(":")
    source = parser.parse_type()
    parser.parse_keyword("to")
    return source, parser.parse_type()


def _parse_cast(parser: Parser) -> memref.CastOp:
    """Read `%source : type to type`."""
    name = parser.parse_unresolved_operand()
    attributes = parser.parse_optional_attr_dict()
    source, result = _types_of(parser)
    operand = parser.resolve_operand(name, source)
    return memref.CastOp.create(operands=[operand], result_types=[result], attributes=attributes)


def _parse_global(parser: Parser) -> memref.GlobalOp:
    """Read `"private" constant @name : type = dense<..> {..}`."""
    visibility = parser.parse_optional_str_literal() or "public"
    is_constant = parser.parse_optional_keyword("constant") is not None
    name = parser.parse_symbol_name()
    parser.parse_punctuation(":")
    position = parser.pos
    type = parser.parse_type()
    if not isa(type, MemRefType[AnyDenseElement]):
        parser.raise_error(f"expected a memref of numbers, got '{type}'", position)
    parser.parse_punctuation("=", ", since xDSL has no global of another module")
    value: Attribute = UnitAttr()
    if parser.parse_optional_keyword("uninitialized") is None:
        value = _parse_elements(parser, TensorType(type.element_type, type.get_shape()))
    properties = {
        "sym_name": name,
        "sym_visibility": StringAttr(visibility),
        "type": type,
        "initial_value": value,
    }
    given = parser.parse_optional_attr_dict()
    if is_constant:
        properties["constant"] = UnitAttr()
    if "alignment" in given:
        properties["alignment"] = given.pop("alignment")
    return memref.GlobalOp.create(properties=properties, attributes=given)


def _parse_elements(parser: Parser, type: TensorType[AnyDenseElement]) -> Attribute:
    """Read elements, whose type stands before them."""
    if parser.parse_optional_keyword("dense") is not None:
        return parser.parse_dense_int_or_fp_elements_attr(type)
    return parser.parse_attribute()


FORMS = {
    memref.CopyOp: _parse_copy,
    memref.CastOp: _parse_cast,
    memref.GlobalOp: _parse_global,
}

for kind, parse in FORMS.items():
    setattr(kind, "parse", parse)


MEMREF = Dialect("memref", [*memref.MemRef.operations, PrefetchOp], list(memref.MemRef.attributes))
"""xDSL's dialect and the op that it lacks."""
