"""Pooling."""

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    is_signed_number,
    require,
    require_float,
    require_length,
    require_positive,
    require_rank,
    tensor_type,
)
from gawee_dialect.dialect.window import check_window, window_extent, window_shape


class WindowPoolOp(GaweeOp, ABC):
    """What max and average pooling share: one 2-D window moved over height and width."""

    input = operand_def(TensorType)
    kernel = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    padding = prop_def(DenseArrayBase.constr(i64))
    ceil_mode = prop_def(IntegerAttr.constr(IntegerType(1)))
    result = result_def(TensorType)

    traits = traits_def(Pure())

    @staticmethod
    def window_type(
        input: AnyTensor,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilations: Sequence[int],
        ceil_mode: bool,
    ) -> AnyTensor:
        """Return the pooled type; raises VerifyException where the window does not fit."""
        require_rank("input", input, 4)
        check_window(kernel, strides, padding, dilations)
        batch, channels, *spatial = input.get_shape()
        top, left, bottom, right = padding
        extent = [window_extent(k, d) for k, d in zip(kernel, dilations, strict=True)]
        require(
            max(top, bottom) < extent[0] and max(left, right) < extent[1],
            f"expected padding ({list(padding)}) to be less than the window extent ({extent})",
        )
        height, width = window_shape(spatial, kernel, strides, padding, dilations, ceil_mode)
        return TensorType(input.element_type, (batch, channels, height, width))


@irdl_op_definition
class MaxPoolOp(WindowPoolOp):
    """Maximum over a sliding, optionally dilated window; NaN wins.

    Positions outside the input count as the lowest value of the element type. `padding` is (top,
    left, bottom, right). With `ceil_mode` a last partial window is kept if it starts inside the
    input or its top or left padding.

    ```mlir
    %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x6xf32>
    ```

    Constraints:
      C1: input has rank 4.
      C2: the element type is a float or a signless integer of more than one bit.
      C3: kernel, strides and dilations are positive, padding is not negative.
      C4: padding is less than the window's extent.
      C5: the dilated window fits the padded input.
    """

    name = "gawee.max_pool"

    dilations = prop_def(DenseArrayBase.constr(i64))

    assembly_format = (
        "$input `kernel` $kernel `strides` $strides `padding` $padding `dilations` $dilations "
        "`ceil_mode` $ceil_mode attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        ceil_mode: bool = False,
    ):
        result_type = self.result_type(
            tensor_type(input),
            kernel=kernel,
            strides=strides,
            padding=padding,
            dilations=dilations,
            ceil_mode=ceil_mode,
        )
        super().__init__(
            operands=[input],
            properties={
                "kernel": DenseArrayBase.from_list(i64, kernel),
                "strides": DenseArrayBase.from_list(i64, strides),
                "padding": DenseArrayBase.from_list(i64, padding),
                "dilations": DenseArrayBase.from_list(i64, dilations),
                "ceil_mode": BoolAttr.from_bool(ceil_mode),
            },
            result_types=[result_type],
        )

    @classmethod
    def result_type(
        cls,
        input: AnyTensor,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilations: Sequence[int],
        ceil_mode: bool,
    ) -> AnyTensor:
        """Return the pooled type; raises VerifyException where C1 to C5 fail."""
        require(
            is_signed_number(input.element_type),
            f"expected input of a float or signless integer element type, "
            f"got '{input.element_type}'",
        )
        return cls.window_type(
            input,
            kernel=kernel,
            strides=strides,
            padding=padding,
            dilations=dilations,
            ceil_mode=ceil_mode,
        )

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.input),
            kernel=self.kernel.get_values(),
            strides=self.strides.get_values(),
            padding=self.padding.get_values(),
            dilations=self.dilations.get_values(),
            ceil_mode=bool(self.ceil_mode.value.data),
        )


@irdl_op_definition
class AvgPoolOp(WindowPoolOp):
    """Mean over a sliding window.

    With `count_include_pad` the divisor counts the padding that the window covers, otherwise only
    input positions. A window that `ceil_mode` lets run past the padding is clipped first (PyTorch).

    ```mlir
    %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32>
    ```

    Constraints:
      C1: input has rank 4.
      C2: the element type is a float.
      C3: kernel and strides are positive, padding is not negative.
      C4: padding is less than the kernel.
      C5: the window fits the padded input.
    """

    name = "gawee.avg_pool"

    count_include_pad = prop_def(IntegerAttr.constr(IntegerType(1)))

    assembly_format = (
        "$input `kernel` $kernel `strides` $strides `padding` $padding `ceil_mode` $ceil_mode "
        "`count_include_pad` $count_include_pad attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int] = (0, 0, 0, 0),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        result_type = self.result_type(
            tensor_type(input),
            kernel=kernel,
            strides=strides,
            padding=padding,
            ceil_mode=ceil_mode,
        )
        super().__init__(
            operands=[input],
            properties={
                "kernel": DenseArrayBase.from_list(i64, kernel),
                "strides": DenseArrayBase.from_list(i64, strides),
                "padding": DenseArrayBase.from_list(i64, padding),
                "ceil_mode": BoolAttr.from_bool(ceil_mode),
                "count_include_pad": BoolAttr.from_bool(count_include_pad),
            },
            result_types=[result_type],
        )

    @classmethod
    def result_type(
        cls,
        input: AnyTensor,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
    ) -> AnyTensor:
        """Return the pooled type; raises VerifyException where C1 to C5 fail."""
        require_float("input", input)
        return cls.window_type(
            input,
            kernel=kernel,
            strides=strides,
            padding=padding,
            dilations=(1, 1),
            ceil_mode=ceil_mode,
        )

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.input),
            kernel=self.kernel.get_values(),
            strides=self.strides.get_values(),
            padding=self.padding.get_values(),
            ceil_mode=bool(self.ceil_mode.value.data),
        )


@irdl_op_definition
class AdAvgPoolOp(GaweeOp):
    """Adaptive average pooling: the mean over as many bins as the output has.

    Bin i of an axis covers input positions floor(i*in/out) up to, not including,
    ceil((i+1)*in/out). Bins may overlap and differ in length.

    ```mlir
    %y = gawee.ad_avg_pool %x output_size [3, 5] : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x5xf32>
    ```

    Constraints:
      C1: input has rank 4.
      C2: the element type is a float.
      C3: output_size has two positive entries.
      C4: the input's height and width are positive.
    """

    name = "gawee.ad_avg_pool"

    input = operand_def(TensorType)
    output_size = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `output_size` $output_size attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, output_size: Sequence[int]):
        super().__init__(
            operands=[input],
            properties={"output_size": DenseArrayBase.from_list(i64, output_size)},
            result_types=[self.result_type(tensor_type(input), output_size=output_size)],
        )

    @staticmethod
    def result_type(input: AnyTensor, *, output_size: Sequence[int]) -> AnyTensor:
        """Return the pooled type; raises VerifyException where C1 to C4 fail."""
        require_rank("input", input, 4)
        require_float("input", input)
        require_length("output_size", output_size, 2)
        require_positive("output_size", output_size)
        batch, channels, height, width = input.get_shape()
        require(
            height >= 1 and width >= 1, f"expected input with positive spatial sizes, got '{input}'"
        )
        return TensorType(input.element_type, (batch, channels, *output_size))

    def inferred_type(self) -> AnyTensor:
        return self.result_type(tensor_type(self.input), output_size=self.output_size.get_values())
