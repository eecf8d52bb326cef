"""Resampling: to other sizes, and at given positions."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float64Type,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
)
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.python_value import PythonValueType
from gawee_dialect.dialect.graph.window import spatial_axes
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.size_list import SIZE_LIST, Sizes
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_length,
    require_positive,
    require_rank,
    require_same_element,
)
from gawee_dialect.hints import isa


def keeps_elements(size: int, result_size: int, scale: float | None) -> bool:
    """Whether blending along an axis leaves every element where and what it is."""
    return size == result_size and scale in (None, 1)


@irdl_op_definition
class InterpolateOp(GaweeOp, HasCanonicalizationPatternsInterface):
    """Resample the spatial axes of (batch, channels, spatial...) to the given size.

    The input position of output position d is, with r = in / out or 1 / scale where scales are
    given:

    - `nearest`: floor(d * r); `nearest_exact`: floor((d + 0.5) * r).
    - `linear` and `bilinear`: (d + 0.5) * r - 0.5, not below 0, between two neighbours along each
      axis weighted by distance. An image's mode is bilinear, that of one or three axes linear.
    - `bicubic`: (d + 0.5) * r - 0.5 among four neighbours along each axis, the border repeated,
      weighted by cubic convolution with a = -0.75.
    - with `align_corners`: d * (in - 1) / (out - 1), of `linear`, `bilinear` and `bicubic`.

    An axis of one size before and after, with no scale or a scale of 1, is not blended: every
    element stays what it is, beside an infinity too.

    The positions of `nearest` are exact, those of a scale rounded in double precision. With
    `float_positions` they are computed in f32, of an r rounded to it: what PyTorch does with f32
    images, which is one position off where d * r is a whole number and rounds below it.

    `size_from` are the values that a traced graph computed the size with (two i64 scalars, or
    Python values not yet folded). They cannot change the result, which is static; they are kept
    because they are inputs of the graph's node.

    ```mlir
    %y = gawee.interpolate %x size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
    ```

    Constraints:
      C1: input has rank 3, 4 or 5 and positive spatial sizes.
      C2: size has one positive entry for each spatial axis.
      C3: mode is nearest, nearest_exact, linear (one or three axes), bilinear or bicubic (two);
          all but the first two need a float element type.
      C4: align_corners goes with linear, bilinear and bicubic.
      C5: scales, where given, are one positive number for each spatial axis.
      C6: size_from are integer tensors or Python values.
      C7: float_positions goes with nearest and nearest_exact.
    """

    name = "gawee.interpolate"

    MODES: ClassVar = {
        "nearest": (1, 2, 3),
        "nearest_exact": (1, 2, 3),
        "linear": (1, 3),
        "bilinear": (2,),
        "bicubic": (2,),
    }
    """For how many spatial axes there is which mode."""

    CHOOSING: ClassVar = ("nearest", "nearest_exact")
    """The modes that take elements as they are; the others blend."""

    input = operand_def(TensorType)
    size_from = var_operand_def()
    size = prop_def(SIZE_LIST)
    mode = prop_def(StringAttr)
    align_corners = opt_prop_def(UnitAttr)
    float_positions = opt_prop_def(UnitAttr)
    scales = opt_prop_def(DenseArrayBase.constr(Float64Type()))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = (
        "$input (`size_from` $size_from^)? `size` custom<Sizes>($size) `mode` $mode (`scales` $scales^)? "
        "(`align_corners` $align_corners^)? (`float_positions` $float_positions^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        *,
        size: Sequence[int],
        mode: str = "nearest",
        align_corners: bool = False,
        scales: Sequence[float] | None = None,
        float_positions: bool = False,
        size_from: Sequence[SSAValue] = (),
    ):
        self.define(
            [input, size_from],
            size=size,
            mode=mode,
            align_corners=align_corners,
            scales=None if scales is None else DenseArrayBase.from_list(f64, scales),
            float_positions=float_positions,
        )

    @classmethod
    def result_type(
        cls,
        input: AnyTensor,
        *,
        size: Sequence[int],
        mode: str,
        align_corners: bool,
        scales: Sequence[float] | None,
        float_positions: bool,
    ) -> AnyTensor:
        """Return the resampled type; raises VerifyException where C1 to C5 or C7 fail."""
        axes = spatial_axes(input)
        batch, channels, *spatial = input.get_shape()
        require_positive("spatial sizes", spatial)
        require_length("size", size, axes)
        require_positive("size", size)
        modes = [name for name, supported in cls.MODES.items() if axes in supported]
        require(mode in modes, f"unsupported mode '{mode}'; supported: {', '.join(modes)}")
        if mode not in cls.CHOOSING:
            require_float("input", input)
        blending = ", ".join(f"'{name}'" for name in modes if name not in cls.CHOOSING)
        require(
            mode not in cls.CHOOSING or not align_corners,
            f"expected align_corners to go with mode {blending}, got mode '{mode}'",
        )
        if scales is not None:
            require(
                len(scales) == axes and all(scale > 0 for scale in scales),
                f"expected {axes} positive scales, got {list(scales)}",
            )
        require(
            mode in cls.CHOOSING or not float_positions,
            f"expected float_positions to go with mode 'nearest', 'nearest_exact', "
            f"got mode '{mode}'",
        )
        return TensorType(input.element_type, (batch, channels, *size))

    def verify_(self) -> None:
        super().verify_()
        for index, value in enumerate(self.size_from):
            require(
                isinstance(value.type, PythonValueType)
                or (
                    isa(value.type, AnyTensor) and isinstance(value.type.element_type, IntegerType)
                ),
                f"expected size_from #{index} to be an integer tensor or a Python value, "
                f"got '{value.type}'",
            )

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gawee_dialect.passes.graph.canonicalization.resize import SizeFromConstants

        return (SizeFromConstants(),)


@irdl_op_definition
class GridSampleOp(GaweeOp):
    """Sample images at positions that a grid gives: PyTorch's grid_sample of images.

    Operands: input (batch, channels, height, width); grid (batch, out height, out width, 2) of
    positions (x, y), where -1 and 1 are the left and right (top and bottom) ends of the image: the
    centres of its corner elements with `align_corners`, else their outer edges. The result is
    (batch, channels, out height, out width).

    `mode` "bilinear" weighs the four neighbours of a position by distance, "nearest" takes the
    nearest element, halves to even. With `padding_mode` "zeros" what is outside counts as zero,
    with "border" positions are clamped to the image first. A position that is not a number is
    outside, before the first row and column.

    ```mlir
    %y = gawee.grid_sample %x, %grid mode "bilinear" padding_mode "zeros" align_corners : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32>
    ```

    Constraints:
      C1: input and grid have rank 4, and the input positive spatial sizes.
      C2: element types are one float type.
      C3: the batches are equal, and the grid's last axis has size 2.
      C4: mode is bilinear or nearest.
      C5: padding_mode is zeros or border.
    """

    name = "gawee.grid_sample"

    MODES: ClassVar = ("bilinear", "nearest")
    PADDING_MODES: ClassVar = ("zeros", "border")

    input = operand_def(TensorType)
    grid = operand_def(TensorType)
    mode = prop_def(StringAttr)
    padding_mode = prop_def(StringAttr)
    align_corners = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $grid `mode` $mode `padding_mode` $padding_mode "
        "(`align_corners` $align_corners^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        grid: SSAValue,
        *,
        mode: str = "bilinear",
        padding_mode: str = "zeros",
        align_corners: bool = False,
    ):
        self.define(
            [input, grid], mode=mode, padding_mode=padding_mode, align_corners=align_corners
        )

    @classmethod
    def result_type(
        cls, input: AnyTensor, grid: AnyTensor, *, mode: str, padding_mode: str
    ) -> AnyTensor:
        """Return the sampled type; raises VerifyException where C1 to C5 fail."""
        require_rank("input", input, 4)
        require_rank("grid", grid, 4)
        batch, channels, *spatial = input.get_shape()
        grids, height, width, coordinates = grid.get_shape()
        require_positive("spatial sizes", spatial)
        require_float("input", input)
        require_same_element("grid", grid, input)
        require(batch == grids, f"expected grid batch ({grids}) to equal input batch ({batch})")
        require(
            coordinates == 2, f"expected last grid dimension ({coordinates}) to equal 2, for (x, y)"
        )
        require(mode in cls.MODES, f"unsupported mode '{mode}'; supported: {', '.join(cls.MODES)}")
        require(
            padding_mode in cls.PADDING_MODES,
            f"unsupported padding_mode '{padding_mode}'; supported: {', '.join(cls.PADDING_MODES)}",
        )
        return TensorType(input.element_type, (batch, channels, height, width))
