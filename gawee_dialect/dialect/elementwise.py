"""Elementwise ops: one definition of everything but the scalar meaning."""

from abc import ABC
from collections.abc import Sequence
from itertools import zip_longest

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    is_float,
    is_signed_number,
    require,
    require_same_element,
    shape_text,
    tensor_type,
)


def broadcast_shape(lhs: Sequence[int], rhs: Sequence[int]) -> tuple[int, ...]:
    """Return the shape two shapes broadcast to, by NumPy's rule.

    Raises VerifyException where a pair of sizes differs and neither is 1.
    """
    sizes: list[int] = []
    for left, right in zip_longest(reversed(lhs), reversed(rhs), fillvalue=1):
        require(
            left == right or 1 in (left, right),
            f"expected shapes to broadcast, got {shape_text(lhs)} and {shape_text(rhs)}",
        )
        sizes.append(right if left == 1 else left)
    return tuple(reversed(sizes))


class UnaryOp(GaweeOp, ABC):
    """An op that applies one scalar function to every element."""

    input = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue):
        super().__init__(operands=[input], result_types=[self.result_type(tensor_type(input))])

    @classmethod
    def accepts(cls, element: Attribute) -> bool:
        """Whether the op is defined on an element type; floats unless an op says otherwise."""
        return is_float(element)

    @classmethod
    def result_type(cls, input: AnyTensor) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 fails."""
        require(
            cls.accepts(input.element_type),
            f"unsupported element type '{input.element_type}' of input",
        )
        return input

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.input))


class BinaryOp(GaweeOp, ABC):
    """An op that applies one scalar function of two elements, with NumPy's broadcasting."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[self.result_type(tensor_type(lhs), tensor_type(rhs))],
        )

    @classmethod
    def accepts(cls, element: Attribute) -> bool:
        """Whether the op is defined on an element type; numbers unless an op says otherwise."""
        return is_signed_number(element)

    @classmethod
    def result_type(cls, lhs: AnyTensor, rhs: AnyTensor) -> AnyTensor:
        """Return the broadcast type; raises VerifyException where C1 to C3 fail."""
        require(
            cls.accepts(lhs.element_type),
            f"unsupported element type '{lhs.element_type}' of lhs",
        )
        require_same_element("rhs", rhs, lhs)
        return TensorType(lhs.element_type, broadcast_shape(lhs.get_shape(), rhs.get_shape()))

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.lhs), tensor_type(self.rhs))


@irdl_op_definition
class ReluOp(UnaryOp):
    """Clamp every element at zero from below; NaN stays NaN.

    ```mlir
    %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float or a signless integer of more than one bit.
    """

    name = "gawee.relu"

    @classmethod
    def accepts(cls, element: Attribute) -> bool:
        return is_signed_number(element)


@irdl_op_definition
class SqrtOp(UnaryOp):
    """Square root of every element; NaN below zero.

    ```mlir
    %y = gawee.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.sqrt"


@irdl_op_definition
class AddOp(BinaryOp):
    """Sum of two tensors, with NumPy's broadcasting; integers wrap around.

    ```mlir
    %z = gawee.add %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or a signless integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """Difference of two tensors, with NumPy's broadcasting; integers wrap around.

    ```mlir
    %z = gawee.sub %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or a signless integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """Product of two tensors, with NumPy's broadcasting; integers wrap around.

    ```mlir
    %z = gawee.mul %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or a signless integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """Quotient of two float tensors, with NumPy's broadcasting.

    ```mlir
    %z = gawee.div %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.div"

    @classmethod
    def accepts(cls, element: Attribute) -> bool:
        return is_float(element)
