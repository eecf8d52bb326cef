"""Bits, truth values, comparisons and choices, elementwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, TensorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.evaluated import is_filled_with
from gawee_dialect.dialect.graph.elementwise import (
    BinaryOp,
    ElementwiseOp,
    UnaryOp,
    broadcast_shape,
)
from gawee_dialect.dialect.types import (
    BOOLEANS,
    ELEMENTS,
    INTEGERS,
    AnyTensor,
    require_same_element,
)


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


@irdl_op_definition
class CompareOp(BinaryOp):
    """Whether elements compare as `predicate` says, with NumPy's broadcasting.

    The predicate is `eq`, `ne`, `lt`, `le`, `gt` or `ge`. NaN is equal to nothing and not ordered:
    only `ne` holds. Of i1, false is less than true.

    ```mlir
    %z = gawee.compare %x, %y predicate "lt" : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xi1>
    ```

    Constraints:
      C1: the element type is a float or an integer.
      C2: both operands have one element type.
      C3: the shapes broadcast.
      C4: predicate is eq, ne, lt, le, gt or ge.
    """

    name = "gawee.compare"

    VARIANT: ClassVar = "predicate"
    VARIANTS_ARE: ClassVar = "predicate"
    EQUATION: ClassVar[str | Mapping[str, str]] = {
        "eq": "z[...] = x[...] == y[...]",
        "ne": "z[...] = x[...] != y[...]",
        "lt": "z[...] = x[...] < y[...]",
        "le": "z[...] = x[...] <= y[...]",
        "gt": "z[...] = x[...] > y[...]",
        "ge": "z[...] = x[...] >= y[...]",
    }
    ELEMENTS: ClassVar = ELEMENTS

    predicate = prop_def(StringAttr)

    assembly_format = (
        "$lhs `,` $rhs `predicate` $predicate attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, lhs: SSAValue, rhs: SSAValue, *, predicate: str):
        self.require_variant(predicate)
        super().__init__(lhs, rhs, {"predicate": StringAttr(predicate)})

    @classmethod
    def result_element(cls, element: Attribute) -> Attribute:
        return i1


@irdl_op_definition
class IsNanOp(UnaryOp):
    """Whether every element is NaN.

    ```mlir
    %y = gawee.isnan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.isnan"

    EQUATION: ClassVar = "y[...] = isnan(x[...])"
    ONNX: ClassVar = "IsNaN"

    @classmethod
    def result_element(cls, element: Attribute) -> Attribute:
        return i1


@irdl_op_definition
class WhereOp(ElementwiseOp):
    """Elements of lhs where a condition holds, of rhs elsewhere, with NumPy's broadcasting.

    ```mlir
    %z = gawee.where %c, %x, %y : (tensor<3x1xi1>, tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type of the condition is i1.
      C2: lhs and rhs have one element type, a float or an integer.
      C3: the three shapes broadcast.
    """

    name = "gawee.where"

    EQUATION: ClassVar = "z[...] = c[...] ? x[...] : y[...]"
    ONNX: ClassVar = "Where"

    condition = operand_def(TensorType)
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, condition: SSAValue, lhs: SSAValue, rhs: SSAValue):
        self.define([condition, lhs, rhs])

    @staticmethod
    def result_type(condition: AnyTensor, lhs: AnyTensor, rhs: AnyTensor) -> AnyTensor:
        """Return the broadcast type; raises VerifyException where C1 to C3 fail."""
        BOOLEANS.require("condition", condition.element_type)
        ELEMENTS.require("lhs", lhs.element_type)
        require_same_element("rhs", rhs, lhs, "lhs")
        chosen = broadcast_shape(lhs.get_shape(), rhs.get_shape())
        return TensorType(lhs.element_type, broadcast_shape(condition.get_shape(), chosen))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """where true, %x, %y -> %x; where false, %x, %y -> %y; where %c, %x, %x -> %x"""
        chosen = None
        if is_filled_with(self.condition, 1) or self.lhs is self.rhs:
            chosen = self.lhs
        elif is_filled_with(self.condition, 0):
            chosen = self.rhs
        if chosen is not None and chosen.type == self.result.type:
            return (chosen,)
        return super().fold()
