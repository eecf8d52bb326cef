"""Convolution."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, TensorType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
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
from gawee_dialect.dialect.window import check_window, window_shape


@irdl_op_definition
class ConvOp(GaweeOp):
    """2-D convolution (cross-correlation), grouped and dilated.

    out[n, f, y, x] = bias[f] + sum over c, i, j of
    input[n, g*C + c, y*sh + i*dh - top, x*sw + j*dw - left] * weight[f, c, i, j], where g is the
    group of f and C the weight's channels; positions outside the input count as zero.

    Operands: input (batch, channels, height, width); weight (out, channels / groups, kernel height,
    kernel width); optional bias (out). `padding` is (top, left, bottom, right).

    ```mlir
    %y = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
    ```

    Constraints:
      C1: input and weight have rank 4.
      C2: element types are one float type.
      C3: strides, kernel and dilations are positive, padding is not negative.
      C4: groups is positive and divides the output channels.
      C5: input channels equal groups times weight channels.
      C6: bias has one entry per output channel.
      C7: the dilated kernel fits the padded input.
    """

    name = "gawee.conv"

    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides = prop_def(DenseArrayBase.constr(i64))
    padding = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    groups = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weight (`bias` $bias^)? `strides` $strides `padding` $padding "
        "`dilations` $dilations `groups` $groups attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        weight: SSAValue,
        bias: SSAValue | None = None,
        *,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        groups: int = 1,
    ):
        result_type = self.result_type(
            tensor_type(input),
            tensor_type(weight),
            optional_tensor_type(bias),
            strides=strides,
            padding=padding,
            dilations=dilations,
            groups=groups,
        )
        super().__init__(
            operands=[input, weight, bias],
            properties={
                "strides": DenseArrayBase.from_list(i64, strides),
                "padding": DenseArrayBase.from_list(i64, padding),
                "dilations": DenseArrayBase.from_list(i64, dilations),
                "groups": IntegerAttr(groups, i64),
            },
            result_types=[result_type],
        )

    @staticmethod
    def result_type(
        input: AnyTensor,
        weight: AnyTensor,
        bias: AnyTensor | None,
        *,
        strides: Sequence[int],
        padding: Sequence[int],
        dilations: Sequence[int],
        groups: int,
    ) -> AnyTensor:
        """Return the convolution's result type; raises VerifyException where C1 to C7 fail."""
        require_rank("input", input, 4)
        require_rank("weight", weight, 4)
        require_float("input", input)
        require_same_element("weight", weight, input)
        batch, channels, *spatial = input.get_shape()
        features, weight_channels, *kernel = weight.get_shape()
        check_window(kernel, strides, padding, dilations)
        require(groups >= 1, f"expected groups of at least 1, got {groups}")
        require(
            features % groups == 0,
            f"expected groups ({groups}) to divide output channels ({features})",
        )
        require(
            channels == groups * weight_channels,
            f"expected input channels ({channels}) to equal groups ({groups}) "
            f"times weight channels ({weight_channels})",
        )
        if bias is not None:
            require_shape("bias", bias, (features,))
            require_same_element("bias", bias, input)
        height, width = window_shape(spatial, kernel, strides, padding, dilations)
        return TensorType(input.element_type, (batch, features, height, width))

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.input),
            tensor_type(self.weight),
            optional_tensor_type(self.bias),
            strides=self.strides.get_values(),
            padding=self.padding.get_values(),
            dilations=self.dilations.get_values(),
            groups=self.groups.value.data,
        )
