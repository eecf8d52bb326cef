"""Elements in another type: converted, or their bits as they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.dense import is_splat
from gawee_dialect.dialect.evaluated import constant_of
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.types import (
    NUMBERS,
    STORED,
    AnyTensor,
    dtype_name,
    element_bytes,
    element_type,
    require,
    tensor_type,
)

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


class ElementTypeOp(ElementwiseOp):
    """The input's elements as another type, which the result's type names."""

    input = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue, element_type: Attribute):
        super().__init__(
            operands=[input], result_types=[self.result_type(tensor_type(input), element_type)]
        )

    @staticmethod
    @abstractmethod
    def result_type(input: AnyTensor, element_type: Attribute) -> AnyTensor:
        """Return the input's type with other elements; raises VerifyException."""

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.input), element_type(self.result))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """op %x (to its own type) -> %x, and op constant -> constant"""
        return (self.input,) if self.input.type == self.result.type else super().fold()


@irdl_op_definition
class CastOp(ElementTypeOp):
    """The input's elements in another type, the result's.

    The one op that computes on bf16, which tensors are stored in: arithmetic is in f32. Floats are
    rounded to the nearest of their new type, or towards zero where that is an integer; a float that
    no i32 (i64 for i64) holds gives an integer that is not specified. Integers keep their low bits.
    To i1 means "is not zero", so NaN is true; from i1, true is 1.

    ```mlir
    %y = gawee.cast %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
    ```

    Constraints:
      C1: both element types are floats or integers.
    """

    name = "gawee.cast"

    @staticmethod
    def result_type(input: AnyTensor, element_type: Attribute) -> AnyTensor:
        """Return the input's type with other elements; raises VerifyException where C1 fails."""
        STORED.require("input", input.element_type)
        STORED.require("result", element_type)
        return TensorType(element_type, input.get_shape())

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """cast %x (to its own type) -> %x, and cast constant -> constant

        Different integers of 8 bits stay what they are: products of such are computed on bytes.
        """
        element, constant = element_type(self.input), constant_of(self.input)
        if constant is None or is_splat(constant) or element in (i1, element_type(self.result)):
            return super().fold()
        return None if element_bytes(element) == 1 else super().fold()

    def equation(self) -> str:
        element = element_type(self.result)
        return f"y[...] = {'bool' if element == i1 else element}(x[...])"


@irdl_op_definition
class BitcastOp(ElementTypeOp):
    """The bits of the input's elements as elements of another type, the result's.

    ```mlir
    %y = gawee.bitcast %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
    ```

    Constraints:
      C1: both element types are floats or integers of more than one bit.
      C2: they have as many bits.
    """

    name = "gawee.bitcast"

    @staticmethod
    def result_type(input: AnyTensor, element_type: Attribute) -> AnyTensor:
        """Return the input's type with other elements; raises VerifyException where C1, C2 fail."""
        NUMBERS.require("input", input.element_type)
        NUMBERS.require("result", element_type)
        widths = [8 * element_bytes(each) for each in (input.element_type, element_type)]
        require(
            widths[0] == widths[1],
            f"expected a result element of {widths[0]} bits, as '{input.element_type}' has, "
            f"got {widths[1]} ('{element_type}')",
        )
        return TensorType(element_type, input.get_shape())

    def evaluate_all(
        self, operands: Sequence[Array], functions: Mapping[str, Callable[..., Array]]
    ) -> Sequence[Array]:
        import numpy as np

        bits = np.ascontiguousarray(operands[0]).reshape(operands[0].shape)
        return [bits.view(dtype_name(element_type(self.result)))]
