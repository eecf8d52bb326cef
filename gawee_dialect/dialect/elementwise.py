"""Elementwise ops: one definition of everything but the scalar meaning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType, i32
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.folding import fold_constants, is_filled_with
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

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


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


def require_accepted(what: str, element: Attribute, accepts: Callable[[Attribute], bool]) -> None:
    """Raise VerifyException that lists the supported element types unless `element` is one."""
    if not accepts(element):
        integers = ", signless integers of more than one bit" if accepts(i32) else ""
        raise VerifyException(
            f"unsupported element type '{element}' of {what}; supported: f16, f32, f64{integers}"
        )


class UnaryOp(GaweeOp, HasFolderInterface, ABC):
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
        require_accepted("input", input.element_type, cls.accepts)
        return input

    @staticmethod
    @abstractmethod
    def compute(input: Array) -> Array:
        """Apply the function to every element of an array: what the folder does."""

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.input))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """op(constant) -> constant"""
        constant = fold_constants([self.input], tensor_type(self.result), self.compute)
        return None if constant is None else (constant,)


class BinaryOp(GaweeOp, HasFolderInterface, ABC):
    """An op that applies one scalar function of two elements, with NumPy's broadcasting."""

    NEUTRAL: ClassVar[int]
    """The rhs that leaves every lhs as it is."""

    COMMUTATIVE: ClassVar[bool] = False
    """Whether the neutral element may stand on either side."""

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
        require_accepted("lhs", lhs.element_type, cls.accepts)
        require_same_element("rhs", rhs, lhs, "lhs")
        return TensorType(lhs.element_type, broadcast_shape(lhs.get_shape(), rhs.get_shape()))

    @staticmethod
    @abstractmethod
    def compute(lhs: Array, rhs: Array) -> Array:
        """Apply the function to two arrays: what the folder does."""

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.lhs), tensor_type(self.rhs))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """Fold constant operands, and op(%x, neutral) -> %x where the type stays.

        The sign of a zero is not kept: %x + 0.0 -> %x, though -0.0 + 0.0 is 0.0.
        """
        result = tensor_type(self.result)
        constant = fold_constants([self.lhs, self.rhs], result, self.compute)
        if constant is not None:
            return (constant,)
        if self.lhs.type == result and is_filled_with(self.rhs, self.NEUTRAL):
            return (self.lhs,)
        if self.COMMUTATIVE and self.rhs.type == result and is_filled_with(self.lhs, self.NEUTRAL):
            return (self.rhs,)
        return None


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

    @staticmethod
    def compute(input: Array) -> Array:
        import numpy as np

        return np.maximum(input, np.zeros((), input.dtype))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """relu(relu(%x)) -> relu(%x), and what every unary op folds"""
        return (self.input,) if isinstance(self.input.owner, ReluOp) else super().fold()


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

    @staticmethod
    def compute(input: Array) -> Array:
        import numpy as np

        return np.sqrt(input)


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

    NEUTRAL: ClassVar = 0
    COMMUTATIVE: ClassVar = True

    @staticmethod
    def compute(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return np.add(lhs, rhs)


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

    NEUTRAL: ClassVar = 0

    @staticmethod
    def compute(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return np.subtract(lhs, rhs)


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

    NEUTRAL: ClassVar = 1
    COMMUTATIVE: ClassVar = True

    @staticmethod
    def compute(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return np.multiply(lhs, rhs)


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

    NEUTRAL: ClassVar = 1

    @staticmethod
    def compute(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return np.divide(lhs, rhs)

    @classmethod
    def accepts(cls, element: Attribute) -> bool:
        return is_float(element)
