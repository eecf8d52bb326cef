"""Tensors that no other tensor goes into: constants of a graph, and elements by where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from gawee_dialect.dialect.graph.movement import ORDERED, MovedOp, integer, limited, number
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.size_list import SIZE_LIST, size_list
from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    require,
    require_axis,
    tensor_shape,
    tensor_type,
)
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
    def parse(cls, parser: Parser) -> ConstantOp:
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


@irdl_op_definition
class IotaOp(MovedOp):
    """0, 1, 2, ... along one axis, alike at all positions of the others.

    ```mlir
    %y = gawee.iota axis 1 : tensor<2x5xi64>
    ```

    Constraints:
      C1: elements are floats or signless integers of more than one bit.
      C2: axis is an axis of the result; a negative one counts from the end.
      C3: the shape is the result's; it is said where a size is open, by
          `{shape = #gawee.sizes<[2, "length"]>}`.
    """

    name = "gawee.iota"

    axis = prop_def(IntegerAttr.constr(I64))
    shape = opt_prop_def(SIZE_LIST)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`axis` $axis attr-dict `:` type($result)"

    def __init__(self, result_type: AnyTensor, axis: int = 0):
        shape = result_type.get_shape()
        super().__init__(
            properties={
                "axis": integer(axis),
                "shape": size_list(shape) if is_open(shape) else None,
            },
            result_types=[self.result_type(result_type, axis=axis)],
        )

    @staticmethod
    def result_type(type: AnyTensor, *, axis: int, shape: Sequence[int] | None = None) -> AnyTensor:
        """Return the type, of a shape if one is said; raises VerifyException where C1, C2 fail."""
        ORDERED.require("result", type.element_type)
        require_axis("axis", axis, type.get_num_dims())
        return type if shape is None else TensorType(type.element_type, shape)

    def inferred_type(self) -> AnyTensor:
        shape = None if self.shape is None else self.shape.get_values()
        type = tensor_type(self.result)
        return self.result_type(type, axis=self.axis.value.data, shape=shape)

    def equation(self) -> str:
        shape = tensor_shape(self.result)
        return f"y[{limited(shape)}] = i{self.axis.value.data % len(shape)}"


@irdl_op_definition
class TriOp(MovedOp):
    """The lower or upper triangle of the matrices in the last two axes; all other elements are 0.

    Element [i, j] of a lower triangle is kept where j - i is at most the diagonal, of an upper one
    where it is at least the diagonal.

    ```mlir
    %y = gawee.tri %x upper false diagonal -1 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
    ```

    Constraints:
      C1: the input has rank 2 or more.
    """

    name = "gawee.tri"

    input = operand_def(TensorType)
    upper = prop_def(IntegerAttr.constr(IntegerType(1)))
    diagonal = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `upper` $upper `diagonal` $diagonal attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, upper: bool = False, diagonal: int = 0):
        self.define([input], upper=upper, diagonal=diagonal)

    @staticmethod
    def result_type(input: AnyTensor) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 fails."""
        rank = input.get_num_dims()
        require(rank >= 2, f"expected input of rank 2 or more, got rank {rank}")
        return input

    def equation(self) -> str:
        kept = f"c {'>=' if self.upper.value.data else '<='} r + {self.diagonal.value.data}"
        zero = number(0, element_type(self.input))
        return f"y[..., r, c] = {kept} ? x[..., r, c] : {zero}"
