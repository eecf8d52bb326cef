"""Bits and truth values, elementwise."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from gawee_dialect.dialect.graph.elementwise import BinaryOp, UnaryOp
from gawee_dialect.dialect.types import BOOLEANS, INTEGERS


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """The other truth value of every element.

    ```mlir
    %y = gawee.logical_not %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
    ```

    Constraints:
      C1: the element type is i1.
    """

    name = "gawee.logical_not"

    EQUATION: ClassVar = "y[...] = !x[...]"
    ONNX: ClassVar = "Not"
    ELEMENTS: ClassVar = BOOLEANS
    INVOLUTION: ClassVar = True


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """Every bit of every element the other way; of i1, the other truth value.

    ```mlir
    %y = gawee.bitwise_not %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
    ```

    Constraints:
      C1: the element type is an integer.
    """

    name = "gawee.bitwise_not"

    EQUATION: ClassVar = "y[...] = bit_not(x[...])"
    ELEMENTS: ClassVar = INTEGERS
    INVOLUTION: ClassVar = True


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """The bits set in both elements, with NumPy's broadcasting; of i1, whether both hold.

    ```mlir
    %z = gawee.bitwise_and %x, %y : (tensor<2x3x5xi32>, tensor<3x1xi32>) -> tensor<2x3x5xi32>
    ```

    Constraints:
      C1: the element type is an integer.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.bitwise_and"

    EQUATION: ClassVar = "z[...] = bit_and(x[...], y[...])"
    ELEMENTS: ClassVar = INTEGERS


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """The bits set in either element, with NumPy's broadcasting; of i1, whether either holds.

    ```mlir
    %z = gawee.bitwise_or %x, %y : (tensor<2x3x5xi32>, tensor<3x1xi32>) -> tensor<2x3x5xi32>
    ```

    Constraints:
      C1: the element type is an integer.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.bitwise_or"

    EQUATION: ClassVar = "z[...] = bit_or(x[...], y[...])"
    ELEMENTS: ClassVar = INTEGERS
    NEUTRAL: ClassVar = 0
    COMMUTATIVE: ClassVar = True


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """The bits set in one element only, with NumPy's broadcasting; of i1, whether they differ.

    ```mlir
    %z = gawee.bitwise_xor %x, %y : (tensor<2x3x5xi32>, tensor<3x1xi32>) -> tensor<2x3x5xi32>
    ```

    Constraints:
      C1: the element type is an integer.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.bitwise_xor"

    EQUATION: ClassVar = "z[...] = bit_xor(x[...], y[...])"
    ELEMENTS: ClassVar = INTEGERS
    NEUTRAL: ClassVar = 0
    COMMUTATIVE: ClassVar = True
