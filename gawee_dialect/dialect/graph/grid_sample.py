"""Sampling at given positions."""

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, TensorType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_positive,
    require_rank,
    require_same_element,
)


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
