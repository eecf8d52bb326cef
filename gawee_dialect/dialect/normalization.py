"""Normalization."""

from typing import ClassVar

from xdsl.dialects.builtin import Float64Type, FloatAttr, TensorType, f64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    ParsePropInAttrDict,
    VarConstraint,
    base,
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
    require_same_element,
    require_shape,
    tensor_type,
)


@irdl_op_definition
class BatchNormOp(GaweeOp):
    """Batch normalization with fixed statistics (inference), along axis 1.

    out = (input - mean) / sqrt(variance + eps) * scale + bias

    Operands: input (batch, channels, ...); mean, variance and the optional scale and bias
    (channels). An absent scale counts as one, an absent bias as zero (`affine=False`).

    ```mlir
    %y = gawee.batch_norm %x mean %m variance %v scale %g bias %b eps 1.000000e-05 : tensor<2x3x5xf32>, tensor<3xf32>
    ```

    Constraints:
      C1: input has rank 2 or more.
      C2: element types are one float type.
      C3: mean, variance, scale and bias have one entry per channel.
      C4: eps is not negative.
    """

    name = "gawee.batch_norm"

    T: ClassVar = VarConstraint("T", base(TensorType))
    PER_CHANNEL: ClassVar = VarConstraint("PER_CHANNEL", base(TensorType))

    input = operand_def(T)
    mean = operand_def(PER_CHANNEL)
    variance = operand_def(PER_CHANNEL)
    scale = opt_operand_def(PER_CHANNEL)
    bias = opt_operand_def(PER_CHANNEL)
    eps = prop_def(FloatAttr.constr(Float64Type()))
    result = result_def(T)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(Pure())
    assembly_format = (
        "$input `mean` $mean `variance` $variance (`scale` $scale^)? (`bias` $bias^)? "
        "`eps` $eps attr-dict `:` type($input) `,` type($mean)"
    )

    def __init__(
        self,
        input: SSAValue,
        mean: SSAValue,
        variance: SSAValue,
        scale: SSAValue | None = None,
        bias: SSAValue | None = None,
        *,
        eps: float = 1e-5,
    ):
        result_type = self.result_type(
            tensor_type(input),
            tensor_type(mean),
            tensor_type(variance),
            optional_tensor_type(scale),
            optional_tensor_type(bias),
            eps=eps,
        )
        super().__init__(
            operands=[input, mean, variance, scale, bias],
            properties={"eps": FloatAttr(eps, f64)},
            result_types=[result_type],
        )

    @staticmethod
    def result_type(
        input: AnyTensor,
        mean: AnyTensor,
        variance: AnyTensor,
        scale: AnyTensor | None,
        bias: AnyTensor | None,
        *,
        eps: float,
    ) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 to C4 fail."""
        rank = input.get_num_dims()
        require(rank >= 2, f"expected input of rank 2 or more, got rank {rank} ('{input}')")
        require_float("input", input)
        named = {"mean": mean, "variance": variance, "scale": scale, "bias": bias}
        for what, type in named.items():
            if type is not None:
                require_shape(what, type, (input.get_shape()[1],))
                require_same_element(what, type, input)
        require(eps >= 0, f"expected eps of at least 0, got {eps}")
        return input

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.input),
            tensor_type(self.mean),
            tensor_type(self.variance),
            optional_tensor_type(self.scale),
            optional_tensor_type(self.bias),
            eps=self.eps.value.data,
        )
