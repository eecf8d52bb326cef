"""Matrix multiplication with weights."""

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.operation import GaweeOp, optional_tensor_type
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_rank,
    require_same_element,
    require_shape,
    tensor_type,
)


@irdl_op_definition
class MatMulOp(GaweeOp):
    """Linear layer: multiply the last axis by a weight stored (out, in), add a bias.

    out[..., n] = bias[n] + sum over k of input[..., k] * weight[n, k]

    Operands: input (..., in) of any rank from 1; weight (out, in), as PyTorch stores it; optional
    bias (out).

    ```mlir
    %y = gawee.matmul %x, %w bias %b : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>
    ```

    Constraints:
      C1: input has rank 1 or more, weight has rank 2.
      C2: element types are one float type.
      C3: the last axis of the input equals the weight's second.
      C4: bias has one entry per output feature.
    """

    name = "gawee.matmul"

    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, weight: SSAValue, bias: SSAValue | None = None):
        result_type = self.result_type(
            tensor_type(input), tensor_type(weight), optional_tensor_type(bias)
        )
        super().__init__(operands=[input, weight, bias], result_types=[result_type])

    @staticmethod
    def result_type(input: AnyTensor, weight: AnyTensor, bias: AnyTensor | None) -> AnyTensor:
        """Return the product's result type; raises VerifyException where C1 to C4 fail."""
        require(input.get_num_dims() >= 1, "expected input of rank 1 or more, got a scalar")
        require_rank("weight", weight, 2)
        require_float("input", input)
        require_same_element("weight", weight, input)
        *leading, features = input.get_shape()
        out_features, in_features = weight.get_shape()
        require(
            features == in_features,
            f"expected last input dimension ({features}) to equal weight input features "
            f"({in_features})",
        )
        if bias is not None:
            require_shape("bias", bias, (out_features,))
            require_same_element("bias", bias, input)
        return TensorType(input.element_type, (*leading, out_features))

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.input), tensor_type(self.weight), optional_tensor_type(self.bias)
        )
