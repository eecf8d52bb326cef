"""`linalg.reduce` and `linalg.map`: structured ops with a body in their text, or one op's name."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    LocationAttr,
    StringAttr,
    i32,
    i64,
)
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa
from gawee_dialect.upstream.linalg.named_op import (
    Operands,
    element_shape,
    element_types,
    parallel_and_reduced,
    parse_dictionary,
    parse_operands,
    parse_result_types,
    print_operands,
    print_result_types,
    tensor_types,
)


@dataclass(frozen=True)
class OneOp:
    """The short form of a body: `{ arith.addf }`."""

    op: type[IRDLOperation]
    attributes: dict[str, Attribute]

    @staticmethod
    def parse(parser: Parser) -> "OneOp | None":
        """Read the short form, if it is there."""
        if parser.parse_optional_punctuation("{") is None:
            return None
        position = parser.pos
        name = parser.parse_identifier()
        op = parser.ctx.get_optional_op(name)
        if op is None or not issubclass(op, IRDLOperation):
            parser.raise_error(f"expected the name of an op, got '{name}'", position)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("}")
        return OneOp(op, attributes)

    def region(self, operands: Operands, *, accumulator_first: bool) -> Region:
        """Return the region in which the op combines the inputs, or the output with the input."""
        types = element_types((*operands.inputs, *operands.outputs))
        block = Block(arg_types=types)
        count = len(operands.inputs)
        arguments = block.args[:count]
        if accumulator_first:
            arguments = (*block.args[count:], *arguments)
        known = self.op.get_irdl_definition().properties
        op = self.op.build(
            operands=arguments,
            result_types=types[count:],
            properties={name: value for name, value in self.attributes.items() if name in known},
            attributes={n: value for n, value in self.attributes.items() if n not in known},
        )
        builder = Builder(InsertPoint.at_end(block))
        builder.insert(op)
        builder.insert(YieldOp(*op.results))
        return Region(block)


def _parse_body(parser: Parser) -> Region:
    arguments = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_argument)
    return parser.parse_region(arguments)


def _print_body(printer: Printer, body: Region) -> None:
    printer.print_string(" ")
    with printer.in_parens():
        printer.print_list(body.block.args, printer.print_block_argument)
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False)


def _parse_dimensions(parser: Parser) -> DenseArrayBase:
    parser.parse_keyword("dimensions")
    parser.parse_punctuation("=")
    dims = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, dims)


class BodyOp(LinalgStructuredOperation, ABC):
    """A structured op whose text has a body, and whose maps follow from ranks."""

    @abstractmethod
    def maps(self) -> Sequence[AffineMap]:
        """Return the maps of all operands."""

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return ArrayAttr(AffineMapAttr(map) for map in self.maps())

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return parallel_and_reduced(self.maps())

    def verify_(self) -> None:
        super().verify_()
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or list(last.operand_types) != element_types(self.outputs):
            raise VerifyException("expected a body that yields an element of each output")


@irdl_op_definition
class ReduceOp(BodyOp):
    """Elements along some dimensions, combined by a body; several inputs go together.

    ```mlir
    %y = linalg.reduce { arith.addf } ins(%x : tensor<5x7xf32>) outs(%init : tensor<5xf32>) dimensions = [1]
    ```

    Constraints:
      C1: the body yields an element of each output.
    """

    name = "linalg.reduce"
    irdl_options = (SameVariadicOperandSize(),)
    dimensions = prop_def(DenseArrayBase.constr(i64))

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        dimensions: DenseArrayBase,
        body: Region,
    ):
        super().__init__(
            operands=[inputs, outputs],
            result_types=[tensor_types(outputs)],
            properties={"dimensions": dimensions},
            regions=[body],
        )

    def maps(self) -> Sequence[AffineMap]:
        rank = len(element_shape(self.inputs[0]))
        reduced = self.dimensions.get_values()
        kept = tuple(AffineDimExpr(dim) for dim in range(rank) if dim not in reduced)
        read, written = AffineMap.identity(rank), AffineMap(rank, 0, kept)
        return [read] * len(self.inputs) + [written] * len(self.outputs)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        one = OneOp.parse(parser)
        operands = parse_operands(parser)
        dimensions = _parse_dimensions(parser)
        attributes = parser.parse_optional_attr_dict()
        body = one.region(operands, accumulator_first=True) if one else _parse_body(parser)
        op = cls(operands.inputs, operands.outputs, dimensions, body)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_operands(printer, self)
        printer.print_string(" dimensions = ")
        with printer.in_square_brackets():
            printer.print_list(self.dimensions.get_values(), printer.print_int)
        printer.print_op_attributes(self.attributes)
        _print_body(printer, self.body)


@irdl_op_definition
class MapOp(BodyOp):
    """A body applied to one element of each input.

    ```mlir
    %y = linalg.map { arith.addf } ins(%a, %b : tensor<5xf32>, tensor<5xf32>) outs(%init : tensor<5xf32>)
    ```

    Constraints:
      C1: the body yields an element of the output.
    """

    name = "linalg.map"
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, inputs: Sequence[SSAValue], init: SSAValue, body: Region):
        super().__init__(
            operands=[inputs, (init,)], result_types=[tensor_types((init,))], regions=[body]
        )

    @classmethod
    def create(
        cls,
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        successors: Sequence[Block] = (),
        regions: Sequence[Region] = (),
        location: LocationAttr | None = None,
    ) -> Self:
        # The generic form lacks what xDSL needs: all but the last are inputs.
        sizes = DenseArrayBase.from_list(i32, [len(operands) - 1, 1])
        return super().create(
            operands=operands,
            result_types=result_types,
            properties={AttrSizedOperandSegments.attribute_name: sizes, **(properties or {})},
            attributes=attributes or {},
            successors=successors,
            regions=regions,
            location=location,
        )

    def maps(self) -> Sequence[AffineMap]:
        identity = AffineMap.identity(len(element_shape(self.outputs[0])))
        return [identity] * len(self.operands)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        one = OneOp.parse(parser)
        position = parser.pos
        operands = parse_operands(parser)
        attributes = parser.parse_optional_attr_dict()
        if len(operands.outputs) != 1:
            parser.raise_error("expected one output", position)
        body = one.region(operands, accumulator_first=False) if one else _parse_body(parser)
        op = cls(operands.inputs, operands.outputs[0], body)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_operands(printer, self)
        printer.print_op_attributes(self.attributes)
        _print_body(printer, self.body)


# `linalg.generic` and `linalg.index` as LLVM 22 writes them.

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


class TransposeOp(ops.TransposeOp):  # its definition is the base class's
    """xDSL's op; its verifier indexes with what may be no permutation."""

    def verify_(self) -> None:
        self.get_irdl_definition().verify(self)
        permutation = self.permutation.get_values()
        if sorted(permutation) != [*range(len(permutation))]:
            axes = f"each axis from 0 to {len(permutation) - 1} once"
            raise VerifyException(f"expected permutation to name {axes}, got {[*permutation]}")
        super().verify_()


class BroadcastOp(ops.BroadcastOp):  # its definition is the base class's
    """xDSL's op; its verifier takes dimensions for different that are not."""

    def verify_(self) -> None:
        self.get_irdl_definition().verify(self)
        dimensions = self.dimensions.get_values()
        if len({*dimensions}) < len(dimensions):
            raise VerifyException(f"expected dimensions to be different, got {[*dimensions]}")
        super().verify_()
