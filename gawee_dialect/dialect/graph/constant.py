"""Constants that are small enough to be part of the graph."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import AnyTensor, require
from gawee_dialect.hints import isa


@irdl_op_definition
class ConstantOp(GaweeOp, HasFolderInterface):
    """A tensor whose elements are written in the IR.

    Weights are not constants but arguments of the entry function, marked `gawee.parameter`.

    ```mlir
    %c = gawee.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```

    Constraints:
      C1: the value is a dense tensor of the result's type.
    """

    name = "gawee.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: DenseIntOrFPElementsAttr):
        super().__init__(properties={"value": value}, result_types=[self.result_type(value)])

    @staticmethod
    def result_type(value: DenseIntOrFPElementsAttr) -> AnyTensor:
        """Return the type of a dense attribute; raises VerifyException where C1 fails."""
        type = value.type
        require(isa(type, AnyTensor), f"expected a dense value of tensor type, got '{type}'")
        assert isa(type, AnyTensor)
        return type

    def inferred_type(self) -> AnyTensor:
        return self.result_type(self.value)

    # Written by hand: a declarative format can't infer the result type from a dense value.
    @classmethod
    def parse(cls, parser: Parser) -> "ConstantOp":
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        if not isa(value, DenseIntOrFPElementsAttr):
            parser.raise_error("expected a dense value of tensor type", position)
        op = cls(value)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        if self._mixes_signs_of_zero():
            printer.print_string(f'dense<"0x{self.value.data.data.hex()}"> : ')
            printer.print_attribute(self.value.type)
        else:
            printer.print_attribute(self.value)

    def _mixes_signs_of_zero(self) -> bool:
        # xDSL compares elements by value and prints [0.0, -0.0] as the splat 0.0.
        data, count = self.value.data.data, len(self.value)
        uniform = count < 2 or data == data[: len(data) // count] * count
        return not uniform and self.value.is_splat()

    def fold(self) -> Sequence[Attribute] | None:
        return (self.value,)
