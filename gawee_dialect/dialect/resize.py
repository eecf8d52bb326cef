"""Resampling."""

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
    i64,
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

from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.python_value import PythonValueType
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_length,
    require_positive,
    require_rank,
    tensor_type,
)
from gawee_dialect.hints import isa


@irdl_op_definition
class InterpolateOp(GaweeOp, HasCanonicalizationPatternsInterface):
    """Resample height and width to the given size.

    The input position of output position d is, with r = in / out or 1 / scale where scales are
    given: `nearest` floor(d * r); `bilinear` (d + 0.5) * r - 0.5, not below 0, between two
    neighbours weighted by distance; `bilinear` with `align_corners` d * (in - 1) / (out - 1).

    `size_from` are the values that a traced graph computed the size with (two i64 scalars, or
    Python values not yet folded). They cannot change the result, which is static; they are kept
    because they are inputs of the graph's node.

    ```mlir
    %y = gawee.interpolate %x size [6, 10] mode "nearest" : (tensor<2x4x3x5xf32>) -> tensor<2x4x6x10xf32>
    ```

    Constraints:
      C1: input has rank 4 and positive spatial sizes.
      C2: size has two positive entries.
      C3: mode is nearest or bilinear; bilinear needs a float element type.
      C4: align_corners goes with bilinear.
      C5: scales, where given, are two positive numbers.
      C6: size_from are integer tensors or Python values.
    """

    name = "gawee.interpolate"

    MODES: ClassVar = ("nearest", "bilinear")

    input = operand_def(TensorType)
    size_from = var_operand_def()
    size = prop_def(DenseArrayBase.constr(i64))
    mode = prop_def(StringAttr)
    align_corners = opt_prop_def(UnitAttr)
    scales = opt_prop_def(DenseArrayBase.constr(Float64Type()))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input (`size_from` $size_from^)? `size` $size `mode` $mode (`scales` $scales^)? "
        "(`align_corners` $align_corners^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        *,
        size: Sequence[int],
        mode: str = "nearest",
        align_corners: bool = False,
        scales: Sequence[float] | None = None,
        size_from: Sequence[SSAValue] = (),
    ):
        result_type = self.result_type(
            tensor_type(input), size=size, mode=mode, align_corners=align_corners, scales=scales
        )
        super().__init__(
            operands=[input, size_from],
            properties={
                "size": DenseArrayBase.from_list(i64, size),
                "mode": StringAttr(mode),
                "align_corners": UnitAttr() if align_corners else None,
                "scales": None if scales is None else DenseArrayBase.from_list(f64, scales),
            },
            result_types=[result_type],
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
    ) -> AnyTensor:
        """Return the resampled type; raises VerifyException where C1 to C5 fail."""
        require_rank("input", input, 4)
        batch, channels, *spatial = input.get_shape()
        require_positive("spatial sizes", spatial)
        require_length("size", size, 2)
        require_positive("size", size)
        require(
            mode in cls.MODES,
            f"unsupported mode '{mode}'; supported: {', '.join(cls.MODES)}",
        )
        if mode == "bilinear":
            require_float("input", input)
        require(
            mode == "bilinear" or not align_corners,
            f"expected align_corners to go with mode 'bilinear', got mode '{mode}'",
        )
        if scales is not None:
            require(
                len(scales) == 2 and all(scale > 0 for scale in scales),
                f"expected two positive scales, got {list(scales)}",
            )
        return TensorType(input.element_type, (batch, channels, *size))

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.input),
            size=self.size.get_values(),
            mode=self.mode.data,
            align_corners=self.align_corners is not None,
            scales=None if self.scales is None else self.scales.get_values(),
        )

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
        from gawee_dialect.passes.canonicalization.resize import SizeFromConstants

        return (SizeFromConstants(),)
