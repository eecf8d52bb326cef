"""Convolution and its transpose."""

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

from gawee_dialect.dialect.equation import DefinedOp
from gawee_dialect.dialect.graph.window import (
    WindowPlaces,
    check_window,
    default_window,
    spatial_axes,
    transposed_shape,
    window_shape,
)
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_length,
    require_non_negative,
    require_rank,
    require_same_element,
    require_shape,
    require_signed_number,
    tensor_of,
    tensor_shape,
    tensor_type,
)


@irdl_op_definition
class ConvOp(DefinedOp):
    """Convolution (cross-correlation) over one to three spatial axes, grouped and dilated.

    out[n, f, y, x] = bias[f] + sum over c, i, j of
    input[n, g*C + c, y*sh + i*dh - top, x*sw + j*dw - left] * weight[f, c, i, j], where g is the
    group of f and C the weight's channels; positions outside the input count as zero. With one
    spatial axis or three it is the same with fewer or more indices. Integers wrap around.

    Operands: input (batch, channels, spatial...); weight (out, channels / groups, kernel...);
    optional bias (out). `padding` is what comes before each spatial axis, then what comes after
    each: (top, left, bottom, right) of an image.

    ```mlir
    %y = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
    ```

    Constraints:
      C1: input and weight have one rank, which is 3, 4 or 5.
      C2: element types are one float type, or one signless integer type of more than one bit.
      C3: strides, kernel and dilations are positive, padding is not negative; each has as many
          entries as there are spatial axes, padding twice as many.
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
        strides: Sequence[int] | None = None,
        padding: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
    ):
        axes = tensor_type(input).get_num_dims() - 2
        strides, padding, dilations = default_window(axes, strides, padding, dilations)
        self.define(
            [input, weight, bias],
            strides=strides,
            padding=padding,
            dilations=dilations,
            groups=groups,
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
        axes = spatial_axes(input)
        require_rank("weight", weight, axes + 2)
        require_signed_number("input", input)
        require_same_element("weight", weight, input)
        batch, channels, *spatial = input.get_shape()
        features, weight_channels, *kernel = weight.get_shape()
        check_window(axes, kernel, strides, padding, dilations)
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
        sizes = window_shape(spatial, kernel, strides, padding, dilations)
        return tensor_of(input.element_type, (batch, features, *sizes))

    def split_axes(self) -> tuple[int, Sequence[int | None]]:
        """Return the axes of channels: the weight's first one are those of the result."""
        return self.groups.value.data, (1, 0, 0)[: len(self.operands)]

    def equation(self) -> str:
        moves = self.strides.get_values(), self.dilations.get_values(), self.padding.get_values()
        at = WindowPlaces(tensor_shape(self.result)[2:], tensor_shape(self.weight)[2:], *moves)
        bias = "" if self.bias is None else " + b[g, f]"
        return (
            f"y[n, g, f, {at.outer}] = "
            f"sum(c, {at.inner}) x[n, g, c, {at.places}] * w[g, f, c, {at.inner_names}]{bias}"
        )


@irdl_op_definition
class ConvTransposeOp(GaweeOp):
    """Transposed convolution: every input element adds its multiple of the kernel to the result.

    out[n, g*F + f, y*sh + i*dh - top, x*sw + j*dw - left] = bias[g*F + f] + sum over c, y, x, i, j
    of input[n, g*C + c, y, x] * weight[g*C + c, f, i, j], where F is the weight's second size and C
    the channels of a group. It is the gradient of a convolution with respect to its input; ONNX's
    ConvTranspose. With one spatial axis or three it is the same with fewer or more indices.

    Operands: input (batch, channels, spatial...); weight (channels, out / groups, kernel...);
    optional bias (out). `padding` is cut off before each spatial axis, then after each;
    `output_padding` is added after each: a result size is
    (in - 1) * stride + dilation * (kernel - 1) + 1 + output_padding - before - after.

    ```mlir
    %y = gawee.conv_transpose %x, %w bias %b strides [2, 3] padding [1, 0, 0, 1] output_padding [1, 0] dilations [1, 1] groups 2 : (tensor<2x4x5x3xf32>, tensor<4x3x3x2xf32>, tensor<6xf32>) -> tensor<2x6x11x7xf32>
    ```

    Constraints:
      C1: input and weight have one rank, which is 3, 4 or 5.
      C2: element types are one float type.
      C3: strides, kernel and dilations are positive, padding is not negative; each has as many
          entries as there are spatial axes, padding twice as many.
      C4: output_padding is not negative, and less than the stride or the dilation of its axis.
      C5: groups is positive and divides the input channels.
      C6: input channels equal the weight's first size.
      C7: bias has one entry per output channel.
      C8: spatial sizes of the input are positive, and padding leaves something of the result.
    """

    name = "gawee.conv_transpose"

    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides = prop_def(DenseArrayBase.constr(i64))
    padding = prop_def(DenseArrayBase.constr(i64))
    output_padding = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    groups = prop_def(IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weight (`bias` $bias^)? `strides` $strides `padding` $padding "
        "`output_padding` $output_padding `dilations` $dilations `groups` $groups attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        weight: SSAValue,
        bias: SSAValue | None = None,
        *,
        strides: Sequence[int] | None = None,
        padding: Sequence[int] | None = None,
        output_padding: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
    ):
        axes = tensor_type(input).get_num_dims() - 2
        strides, padding, dilations = default_window(axes, strides, padding, dilations)
        output_padding = (0,) * axes if output_padding is None else output_padding
        self.define(
            [input, weight, bias],
            strides=strides,
            padding=padding,
            output_padding=output_padding,
            dilations=dilations,
            groups=groups,
        )

    @staticmethod
    def result_type(
        input: AnyTensor,
        weight: AnyTensor,
        bias: AnyTensor | None,
        *,
        strides: Sequence[int],
        padding: Sequence[int],
        output_padding: Sequence[int],
        dilations: Sequence[int],
        groups: int,
    ) -> AnyTensor:
        """Return the result type; raises VerifyException where C1 to C8 fail."""
        axes = spatial_axes(input)
        require_rank("weight", weight, axes + 2)
        require_float("input", input)
        require_same_element("weight", weight, input)
        batch, channels, *spatial = input.get_shape()
        weight_channels, filters, *kernel = weight.get_shape()
        check_window(axes, kernel, strides, padding, dilations)
        check_output_padding(output_padding, strides, dilations)
        require(groups >= 1, f"expected groups of at least 1, got {groups}")
        require(
            channels % groups == 0,
            f"expected groups ({groups}) to divide input channels ({channels})",
        )
        require(
            channels == weight_channels,
            f"expected input channels ({channels}) to equal weight channels ({weight_channels})",
        )
        features = groups * filters
        if bias is not None:
            require_shape("bias", bias, (features,))
            require_same_element("bias", bias, input)
        sizes = transposed_shape(spatial, kernel, strides, padding, output_padding, dilations)
        return TensorType(input.element_type, (batch, features, *sizes))


def check_output_padding(
    output_padding: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> None:
    """Raise VerifyException for output padding that a transposed convolution cannot have."""
    require_length("output_padding", output_padding, len(strides))
    require_non_negative("output_padding", output_padding)
    limits = [max(pair) for pair in zip(strides, dilations, strict=True)]
    require(
        all(extra < limit for extra, limit in zip(output_padding, limits, strict=True)),
        f"expected output_padding ({list(output_padding)}) to be less than the greater of "
        f"strides and dilations ({limits})",
    )
