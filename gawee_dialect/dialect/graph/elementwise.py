"""Elementwise ops: one definition of everything but the scalar meaning."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.equation import DefinedOp
from gawee_dialect.dialect.evaluated import is_filled_with
from gawee_dialect.dialect.types import (
    ELEMENTS,
    FLOATS,
    NUMBERS,
    AnyTensor,
    ElementClass,
    dtype_name,
    element_type,
    require,
    require_same_element,
    shape_text,
    tensor_of,
    tensor_type,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array
    from gawee_dialect.equations.instance import Instance


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


def broadcast_indices(shape: Sequence[int], whole: Sequence[int]) -> str:
    """Return subscripts of a tensor that broadcasts to a shape with an index `i0`, ... an axis."""
    first = len(whole) - len(shape)
    return ", ".join(
        f"i{axis}" if size == whole[axis] else "0" for axis, size in enumerate(shape, first)
    )


class ElementwiseOp(DefinedOp, ABC):
    """An op whose elements depend on those of its operands at the same, broadcast, position.

    In its equation `...` are the axes of each operand, as NumPy broadcasts them; there may be one
    equation for each value of the property `VARIANT`.
    """

    ELEMENTS: ClassVar[ElementClass] = ELEMENTS
    """The element types that the op is defined on."""

    VARIANT: ClassVar[str] = ""
    """The property whose value says which equation it is."""

    VARIANTS_ARE: ClassVar[str] = ""
    """What messages call such a value."""

    ONNX: ClassVar[str] = ""
    """The op of ONNX that is the same: operands in the same order, no attributes."""

    ATEN: ClassVar[str] = ""
    """The op of ATen that is the same, of floats, and takes nothing but the operands."""

    @classmethod
    def require_variant(cls, value: str) -> None:
        """Raise VerifyException unless there is an equation for a value of `VARIANT`."""
        require(
            value in cls.EQUATION,
            f"unsupported {cls.VARIANTS_ARE} '{value}'; supported: {', '.join(cls.EQUATION)}",
        )

    @property
    def variant(self) -> str:
        """The value of the property `VARIANT`."""
        value = self.properties[self.VARIANT]
        assert isinstance(value, StringAttr)
        return value.data

    def equation(self) -> str:
        """Return the equation of this op."""
        return self.EQUATION if isinstance(self.EQUATION, str) else self.EQUATION[self.variant]

    def inferred_types(self) -> Sequence[AnyTensor]:
        if self.VARIANT:
            self.require_variant(self.variant)
        return super().inferred_types()

    def meaning(self) -> Instance:
        """Return the equation for single elements of the operands' types."""
        from gawee_dialect.equations.instance import of_elements

        elements = tuple(element_type(value) for value in self.operands)
        return of_elements(self.equation(), elements, self.numbers())

    def evaluate_all(
        self, operands: Sequence[Array], functions: Mapping[str, Callable[..., Array]]
    ) -> Sequence[Array]:
        from gawee_dialect.equations.evaluate import evaluate_elements

        result = evaluate_elements(self.meaning(), operands, functions)
        return [result.astype(dtype_name(element_type(self.output)), copy=False)]


class UnaryOp(ElementwiseOp, ABC):
    """An op that applies one scalar function to every element."""

    ELEMENTS: ClassVar[ElementClass] = FLOATS

    IDEMPOTENT: ClassVar[bool] = False
    """Whether applying the op again changes nothing."""

    INVOLUTION: ClassVar[bool] = False
    """Whether applying the op again gives the input back."""

    input = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue, properties: Mapping[str, Attribute | None] | None = None):
        self.define([input], **(properties or {}))

    @classmethod
    def result_type(cls, input: AnyTensor) -> AnyTensor:
        """Return the result's type; raises VerifyException where C1 fails."""
        cls.ELEMENTS.require("input", input.element_type)
        return tensor_of(cls.result_element(input.element_type), input.get_shape())

    @classmethod
    def result_element(cls, element: Attribute) -> Attribute:
        """Return the result's element type: the input's unless an op says otherwise."""
        return element

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """op(constant) -> constant; abs(abs(%x)) -> abs(%x); neg(neg(%x)) -> %x"""
        before = self.input.owner
        if not isinstance(before, UnaryOp) or type(before) is not type(self):
            return super().fold()
        if self.INVOLUTION:
            return (before.input,)
        same = before.properties == self.properties
        return (self.input,) if self.IDEMPOTENT and same else super().fold()


class BinaryOp(ElementwiseOp, ABC):
    """An op that applies one scalar function of two elements, with NumPy's broadcasting."""

    ELEMENTS: ClassVar[ElementClass] = NUMBERS

    NEUTRAL: ClassVar[int | None] = None
    """The rhs that leaves every lhs as it is."""

    COMMUTATIVE: ClassVar[bool] = False
    """Whether the neutral element may stand on either side."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        properties: Mapping[str, Attribute | None] | None = None,
    ):
        self.define([lhs, rhs], **(properties or {}))

    @classmethod
    def result_type(cls, lhs: AnyTensor, rhs: AnyTensor) -> AnyTensor:
        """Return the broadcast type; raises VerifyException where C1 to C3 fail."""
        cls.ELEMENTS.require("lhs", lhs.element_type)
        require_same_element("rhs", rhs, lhs, "lhs")
        shape = broadcast_shape(lhs.get_shape(), rhs.get_shape())
        return TensorType(cls.result_element(lhs.element_type), shape)

    @classmethod
    def result_element(cls, element: Attribute) -> Attribute:
        """Return the result's element type: the operands' unless an op says otherwise."""
        return element

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """Fold constant operands, and op(%x, neutral) -> %x where the type stays.

        The sign of a zero is not kept: %x + 0.0 -> %x, though -0.0 + 0.0 is 0.0.
        """
        constant = super().fold()
        if constant is not None or self.NEUTRAL is None:
            return constant
        result = tensor_type(self.result)
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
      C1: the element type is a float or an integer of more than one bit.
    """

    name = "gawee.relu"

    EQUATION: ClassVar = "y[...] = max(x[...], 0)"
    ONNX: ClassVar = "Relu"
    ATEN: ClassVar = "aten.relu"
    ELEMENTS: ClassVar = NUMBERS
    IDEMPOTENT: ClassVar = True


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

    EQUATION: ClassVar = "y[...] = sqrt(x[...])"
    ONNX: ClassVar = "Sqrt"
    ATEN: ClassVar = "aten.sqrt"


@irdl_op_definition
class AddOp(BinaryOp):
    """Sum of two tensors, with NumPy's broadcasting; integers wrap around.

    ```mlir
    %z = gawee.add %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.add"

    EQUATION: ClassVar = "z[...] = x[...] + y[...]"
    ONNX: ClassVar = "Add"
    NEUTRAL: ClassVar = 0
    COMMUTATIVE: ClassVar = True


@irdl_op_definition
class SubOp(BinaryOp):
    """Difference of two tensors, with NumPy's broadcasting; integers wrap around.

    ```mlir
    %z = gawee.sub %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.sub"

    EQUATION: ClassVar = "z[...] = x[...] - y[...]"
    ONNX: ClassVar = "Sub"
    NEUTRAL: ClassVar = 0


@irdl_op_definition
class MulOp(BinaryOp):
    """Product of two tensors, with NumPy's broadcasting; integers wrap around.

    ```mlir
    %z = gawee.mul %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.mul"

    EQUATION: ClassVar = "z[...] = x[...] * y[...]"
    ONNX: ClassVar = "Mul"
    NEUTRAL: ClassVar = 1
    COMMUTATIVE: ClassVar = True


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

    EQUATION: ClassVar = "z[...] = x[...] / y[...]"
    ONNX: ClassVar = "Div"
    ELEMENTS: ClassVar = FLOATS
    NEUTRAL: ClassVar = 1
