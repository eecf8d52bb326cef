"""`linalg.generic` and `linalg.index` as LLVM 22 writes them."""

from typing import Self

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, StringAttr
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from gawee_dialect.dialect.linalg.structured_text import (
    parse_dictionary,
    parse_operands,
    parse_result_types,
    print_operands,
    print_result_types,
)
from gawee_dialect.hints import isa

TRAITS = ("indexing_maps", "iterator_types", "doc", "library_call")
"""What stands before the operands."""


class GenericOp(ops.GenericOp):
    """A loop nest, its maps and body written out.

    xDSL's op cannot read several results or the name of a dictionary.

    ```mlir
    %s, %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%a, %b : tensor<5xf32>, tensor<5xf32>) {
    ^bb0(%e: f32, %0: f32, %1: f32):
      %2 = arith.addf %e, %e : f32
      %3 = arith.mulf %e, %e : f32
      linalg.yield %2, %3 : f32, f32
    } -> (tensor<5xf32>, tensor<5xf32>)
    ```
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        traits = parse_dictionary(parser)
        maps, iterators = traits.pop("indexing_maps", None), traits.pop("iterator_types", None)
        if not isa(maps, ArrayAttr[AffineMapAttr]):
            parser.raise_error("expected indexing_maps, a list of affine maps", position)
        if not isa(iterators, ArrayAttr[Attribute]):
            parser.raise_error("expected iterator_types, a list of strings", position)
        kinds = [_iterator_type(parser, each, position) for each in iterators]
        doc, call = (_string(traits.pop(name, None)) for name in TRAITS[2:])
        operands = parse_operands(parser)
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
            traits |= parser.parse_optional_attr_dict()
        body = parser.parse_region()
        types = parse_result_types(parser)
        op = cls(operands.inputs, operands.outputs, body, maps, kinds, types, doc, call)
        traits.pop("operandSegmentSizes", None)
        op.attributes |= traits
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" {indexing_maps = ")
        printer.print_attribute(self.indexing_maps)
        printer.print_string(", iterator_types = [")
        printer.print_list(
            self.iterator_types, lambda kind: printer.print_string_literal(kind.data)
        )
        printer.print_string("]")
        for name, value in (("doc", self.doc), ("library_call", self.library_call)):
            if value is not None:
                printer.print_string(f", {name} = ")
                printer.print_attribute(value)
        printer.print_string("}")
        print_operands(printer, self)
        if self.attributes:
            printer.print_string(" attrs = ")
            printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body)
        print_result_types(printer, self)


def _iterator_type(parser: Parser, kind: Attribute, position: int) -> IteratorTypeAttr:
    if isinstance(kind, IteratorTypeAttr):
        return kind
    if isinstance(kind, StringAttr) and kind.data in set(IteratorType):
        return IteratorTypeAttr(IteratorType(kind.data))
    parser.raise_error(f'expected "parallel", "reduction" or "window", got \'{kind}\'', position)


def _string(attribute: Attribute | None) -> StringAttr | None:
    return attribute if isinstance(attribute, StringAttr) else None


class IndexOp(ops.IndexOp):
    """The number of the iteration of a loop, in the body of any structured op.

    xDSL's op may stand in `linalg.generic` only.
    """

    traits = traits_def()
