"""Pooling."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.dialect.equation import DefinedOp
from gawee_dialect.dialect.graph.window import (
    WindowPlaces,
    check_window,
    default_window,
    padding_pairs,
    spatial_axes,
    window_extent,
    window_shape,
)
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_length,
    require_positive,
    require_signed_number,
    tensor_shape,
    tensor_type,
)


class WindowPoolOp(DefinedOp, ABC):
    """What max and average pooling share: one window moved over one to three spatial axes."""

    input = operand_def(TensorType)
    kernel = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    padding = prop_def(DenseArrayBase.constr(i64))
    ceil_mode = prop_def(IntegerAttr.constr(IntegerType(1)))
    result = result_def(TensorType)

    traits = traits_def(Pure())

    @staticmethod
    @abstractmethod
    def check_element(input: AnyTensor) -> None:
        """Raise VerifyException for an element type that the op is not defined on."""

    @classmethod
    def result_type(
        cls,
        input: AnyTensor,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        dilations: Sequence[int] | None = None,
    ) -> AnyTensor:
        """Return the pooled type; raises VerifyException where C1 to C5 fail."""
        cls.check_element(input)
        dilations = (1,) * len(kernel) if dilations is None else dilations
        axes = spatial_axes(input)
        check_window(axes, kernel, strides, padding, dilations)
        batch, channels, *spatial = input.get_shape()
        extent = [window_extent(k, d) for k, d in zip(kernel, dilations, strict=True)]
        sides = zip(padding_pairs(padding), extent, strict=True)
        require(
            all(max(pair) < size for pair, size in sides),
            f"expected padding ({list(padding)}) to be less than the window extent ({extent})",
        )
        sizes = window_shape(spatial, kernel, strides, padding, dilations, ceil_mode)
        return TensorType(input.element_type, (batch, channels, *sizes))

    def places(self, dilations: Sequence[int]) -> WindowPlaces:
        """Return how the equation names the elements of windows."""
        counts, kernel = tensor_shape(self.result)[2:], self.kernel.get_values()
        moves = self.strides.get_values(), dilations, self.padding.get_values()
        return WindowPlaces(counts, kernel, *moves)


@irdl_op_definition
class MaxPoolOp(WindowPoolOp):
    """Maximum over a sliding, optionally dilated window; NaN wins.

    The input is (batch, channels, spatial...) with one to three spatial axes. Positions outside it
    count as the lowest value of the element type. `padding` is what comes before each spatial axis,
    then what comes after each: (top, left, bottom, right) of an image. With `ceil_mode` a last
    partial window is kept if it starts inside the input or the padding before it.

    ```mlir
    %y = gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] ceil_mode false : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x6xf32>
    ```

    Constraints:
      C1: input has rank 3, 4 or 5.
      C2: the element type is a float or a signless integer of more than one bit.
      C3: kernel, strides and dilations are positive, padding is not negative; each has as many
          entries as there are spatial axes, padding twice as many.
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
        padding: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
    ):
        axes = tensor_type(input).get_num_dims() - 2
        strides, padding, dilations = default_window(axes, strides, padding, dilations)
        self.define(
            [input],
            kernel=kernel,
            strides=strides,
            padding=padding,
            dilations=dilations,
            ceil_mode=ceil_mode,
        )

    @staticmethod
    def check_element(input: AnyTensor) -> None:
        require_signed_number("input", input)

    def equation(self) -> str:
        at = self.places(self.dilations.get_values())
        return f"y[n, c, {at.outer}] = max({at.inner}) x[n, c, {at.places}]"


@irdl_op_definition
class AvgPoolOp(WindowPoolOp):
    """Mean over a sliding window.

    With `count_include_pad` the divisor counts the padding that the window covers, otherwise only
    input positions. A window that `ceil_mode` lets run past the padding is clipped first (PyTorch).

    ```mlir
    %y = gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 0] ceil_mode false count_include_pad true : (tensor<2x3x9x8xf32>) -> tensor<2x3x5x7xf32>
    ```

    Constraints:
      C1: input has rank 3, 4 or 5.
      C2: the element type is a float.
      C3: kernel and strides are positive, padding is not negative; each has as many entries as
          there are spatial axes, padding twice as many.
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
        padding: Sequence[int] | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        axes = tensor_type(input).get_num_dims() - 2
        strides, padding, _ = default_window(axes, strides, padding, None)
        self.define(
            [input],
            kernel=kernel,
            strides=strides,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )

    @staticmethod
    def check_element(input: AnyTensor) -> None:
        require_float("input", input)

    def equation(self) -> str:
        at = self.places((1,) * len(self.kernel))
        with_padding = bool(self.count_include_pad.value.data)
        sizes = zip(
            tensor_shape(self.input)[2:], padding_pairs(self.padding.get_values()), strict=True
        )
        spans = [
            (-before, size + after) if with_padding else (0, size)
            for size, (before, after) in sizes
        ]
        along = zip(spans, at.kernel, at.strides, at.padding, strict=False)
        counted = " * ".join(
            f"(min(i{axis}*{stride} - {before} + {window}, {end}) - max(i{axis}*{stride} - {before}, {first}))"
            for axis, ((first, end), window, stride, before) in enumerate(along)
        )
        return f"y[n, c, {at.outer}] = (sum({at.inner}) x[n, c, {at.places}]) / float({counted})"


def longest_bin(size: int, count: int) -> int:
    """Return the length of the longest of `count` bins over `size` elements."""
    return max(-(-(i + 1) * size // count) - i * size // count for i in indices_of(count))


class AdaptivePoolOp(DefinedOp, ABC):
    """What adaptive poolings share: as many bins of each spatial axis as the output has."""

    EQUATION: ClassVar[str | Mapping[str, str]]
    """The equation, in which `{bins}` are the indices of the result's spatial axes, `{inner}` those
    within a bin, at `{places}` of the input, and `{lengths}` how many elements a bin has."""

    input = operand_def(TensorType)
    output_size = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `output_size` $output_size attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, output_size: Sequence[int]):
        self.define([input], output_size=output_size)

    @staticmethod
    @abstractmethod
    def check_element(input: AnyTensor) -> None:
        """Raise VerifyException for an element type that the op is not defined on."""

    @classmethod
    def result_type(cls, input: AnyTensor, *, output_size: Sequence[int]) -> AnyTensor:
        """Return the pooled type; raises VerifyException where C1 to C4 fail."""
        axes = spatial_axes(input)
        cls.check_element(input)
        require_length("output_size", output_size, axes)
        require_positive("output_size", output_size)
        batch, channels, *spatial = input.get_shape()
        require(
            all(size >= 1 for size in spatial),
            f"expected input with positive spatial sizes, got '{input}'",
        )
        return TensorType(input.element_type, (batch, channels, *output_size))

    def equation(self) -> str:
        assert isinstance(self.EQUATION, str)
        limits, places, lengths, conditions = (list[str]() for _ in range(4))
        along = zip(tensor_shape(self.input)[2:], self.output_size.get_values(), strict=True)
        for axis, (size, count) in enumerate(along):
            start, length = f"i{axis}*{size // count}", str(size // count)
            if size % count:
                start = f"i{axis}*{size}//{count}"
                length = f"((i{axis}*{size} + {size + count - 1})//{count} - {start})"
                conditions.append(f"k{axis} < {length}")
            limits.append(f"k{axis} < {longest_bin(size, count)}")
            places.append(f"{start} + k{axis}")
            lengths.append(length)
        return self.EQUATION.format(
            bins=", ".join(
                f"i{axis} < {count}" for axis, count in enumerate(self.output_size.get_values())
            ),
            inner=", ".join(limits) + (f" if {' && '.join(conditions)}" if conditions else ""),
            places=", ".join(places),
            lengths=" * ".join(lengths),
        )


@irdl_op_definition
class AdAvgPoolOp(AdaptivePoolOp):
    """Adaptive average pooling: the mean over as many bins as the output has.

    Bin i of a spatial axis covers input positions floor(i*in/out) up to, not including,
    ceil((i+1)*in/out). Bins may overlap and differ in length. The input is (batch, channels,
    spatial...) with one to three spatial axes.

    ```mlir
    %y = gawee.ad_avg_pool %x output_size [3, 5] : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x5xf32>
    ```

    Constraints:
      C1: input has rank 3, 4 or 5.
      C2: the element type is a float.
      C3: output_size has one positive entry for each spatial axis.
      C4: the input's spatial sizes are positive.
    """

    name = "gawee.ad_avg_pool"

    EQUATION: ClassVar = "y[n, c, {bins}] = (sum({inner}) x[n, c, {places}]) / float({lengths})"

    @staticmethod
    def check_element(input: AnyTensor) -> None:
        require_float("input", input)


@irdl_op_definition
class AdMaxPoolOp(AdaptivePoolOp):
    """Adaptive max pooling: the maximum over as many bins as the output has; NaN wins.

    Bin i of a spatial axis covers input positions floor(i*in/out) up to, not including,
    ceil((i+1)*in/out). Bins may overlap and differ in length. The input is (batch, channels,
    spatial...) with one to three spatial axes.

    ```mlir
    %y = gawee.ad_max_pool %x output_size [3, 5] : (tensor<2x4x7x5xf32>) -> tensor<2x4x3x5xf32>
    ```

    Constraints:
      C1: input has rank 3, 4 or 5.
      C2: the element type is a float or a signless integer of more than one bit.
      C3: output_size has one positive entry for each spatial axis.
      C4: the input's spatial sizes are positive.
    """

    name = "gawee.ad_max_pool"

    EQUATION: ClassVar = "y[n, c, {bins}] = max({inner}) x[n, c, {places}]"

    @staticmethod
    def check_element(input: AnyTensor) -> None:
        require_signed_number("input", input)
