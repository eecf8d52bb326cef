"""`linalg.softmax`: no loop nest by itself, but several."""

from xdsl.dialects.builtin import I64, IntegerAttr, ShapedType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_result_def, prop_def
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.linalg.named_op import element_shape


@irdl_op_definition
class SoftmaxOp(IRDLOperation):
    """exp(x - max(x)) / sum(exp(x - max(x))) along one dimension.

    ```mlir
    %y = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%init : tensor<3x5xf32>) -> tensor<3x5xf32>
    ```

    Constraints:
      C1: the dimension is one of the input's.
      C2: output and result have the shape of the input.
    """

    name = "linalg.softmax"

    dimension = prop_def(IntegerAttr[I64])
    input = operand_def(ShapedType)
    output = operand_def(ShapedType)
    result = opt_result_def(ShapedType)

    assembly_format = (
        "attr-dict `dimension` `(` $dimension `)` `ins` `(` $input `:` type($input) `)` "
        "`outs` `(` $output `:` type($output) `)` (`->` type($result)^)?"
    )

    def __init__(self, dimension: int, input: SSAValue, output: SSAValue, result: Attribute):
        super().__init__(
            operands=[input, output],
            result_types=[result],
            properties={"dimension": IntegerAttr(dimension, 64)},
        )

    def verify_(self) -> None:
        shape = element_shape(self.input)
        dimension = self.dimension.value.data
        if not 0 <= dimension < len(shape):
            raise VerifyException(f"expected a dimension below {len(shape)}, got {dimension}")
        if element_shape(self.output) != shape:
            raise VerifyException(
                f"expected an output of the input's shape, got '{self.output.type}'"
            )
