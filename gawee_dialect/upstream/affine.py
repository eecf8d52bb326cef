"""The affine dialect with an op that xDSL lacks, and a form that it does not read."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr, IndexType
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


def _parse_operands(parser: Parser) -> list[SSAValue]:
    """Read the operands of a map or a set, `(%i, ..)[%n, ..]`."""
    return [
        operand
        for brackets in (parser.Delimiter.PAREN, parser.Delimiter.SQUARE)
        for operand in parser.parse_optional_comma_separated_list(
            brackets, lambda: parser.parse_operand(IndexType())
        )
        or ()
    ]


@irdl_op_definition
class MaxOp(IRDLOperation):
    """The greatest of the results of an affine map. xDSL has `affine.min` alone.

    ```mlir
    %first = affine.max affine_map<(d0) -> (0, d0 - 3)>(%i)
    ```

    Constraints:
      C1: the map has as many dimensions and symbols as there are operands.
    """

    name = "affine.max"

    arguments = var_operand_def(IndexType())
    map = prop_def(AffineMapAttr)
    result = result_def(IndexType())
    traits = traits_def(Pure())

    def __init__(self, arguments: Sequence[SSAValue], map: AffineMapAttr):
        super().__init__(operands=[arguments], properties={"map": map}, result_types=[IndexType()])

    def verify_(self) -> None:
        wanted = self.map.data.num_dims + self.map.data.num_symbols
        if len(self.arguments) != wanted:
            raise VerifyException(f"expected {wanted} operands, got {len(self.arguments)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        map = parser.parse_attribute()
        if not isinstance(map, AffineMapAttr):
            parser.raise_error("expected an affine map", position)
        return cls(_parse_operands(parser), map)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.map)
        dims = self.map.data.num_dims
        with printer.in_parens():
            printer.print_list(self.arguments[:dims], printer.print_ssa_value)
        if self.arguments[dims:]:
            with printer.in_square_brackets():
                printer.print_list(self.arguments[dims:], printer.print_ssa_value)


def _parse_if(parser: Parser) -> affine.IfOp:
    """Read `#set(%i)[%n] -> types {..} else {..}`, which xDSL does not, and prints in generic form."""
    position = parser.pos
    condition = parser.parse_attribute()
    if not isinstance(condition, AffineSetAttr):
        parser.raise_error("expected an affine set", position)
    operands = _parse_operands(parser)
    types: Sequence[Attribute] = ()
    if parser.parse_optional_punctuation("->") is not None:
        brackets = parser.Delimiter.PAREN
        several = parser.parse_optional_comma_separated_list(brackets, parser.parse_type)
        types = (parser.parse_type(),) if several is None else several
    regions = [_ended(parser.parse_region())]
    has_else = parser.parse_optional_keyword("else") is not None
    regions.append(_ended(parser.parse_region()) if has_else else Region())
    return affine.IfOp.create(
        operands=operands,
        result_types=types,
        properties={"condition": condition},
        attributes=parser.parse_optional_attr_dict(),
        regions=regions,
    )


def _ended(region: Region) -> Region:
    """Return a region that ends in the yield which its text leaves out."""
    if not region.blocks:
        region.add_block(Block())
    if not isinstance(region.block.last_op, affine.YieldOp):
        region.block.add_op(affine.YieldOp.get())
    return region


setattr(affine.IfOp, "parse", _parse_if)

AFFINE = Dialect("affine", [*affine.Affine.operations, MaxOp], list(affine.Affine.attributes))
"""xDSL's dialect and `affine.max`."""
