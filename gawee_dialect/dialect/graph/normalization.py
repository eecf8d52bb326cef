"""Normalization."""

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, Float64Type, FloatAttr, IntegerAttr, TensorType
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

from gawee_dialect.dialect.equation import DefinedOp, StatedOp, index_names
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_same_element,
    require_shape,
    tensor_type,
)

ROWS = (
    "float eps; m[{rows}] = (sum({along}) x[{all}]) / ({count});"
    "s[{rows}] = sqrt((sum({along}) (x[{all}] - m[{rows}])**2) / ({count}) + eps);"
    "y[{all}] = (x[{all}] - m[{rows}]) / s[{rows}]"
)
"""Normalization along some axes, of each of what the other axes count by itself."""


def affine(scale: SSAValue | None, bias: SSAValue | None, indices: str) -> str:
    """Return how an equation goes on: by a scale and a bias, where present, with some indices."""
    product = "" if scale is None else f" * scale[{indices}]"
    return product if bias is None else f"{product} + bias[{indices}]"


def counted(names: Sequence[str]) -> str:
    """Return how many elements some indices walk together, as an expression."""
    return " * ".join(f"size({name})" for name in names)


@irdl_op_definition
class BatchNormOp(DefinedOp):
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
        self.define([input, mean, variance, scale, bias], eps=eps)

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

    def equation(self) -> str:
        scaled = affine(self.scale, self.bias, "c")
        return f"float eps; y[n, c, ...] = (x[n, c, ...] - m[c]) / sqrt(v[c] + eps){scaled}"


@irdl_op_definition
class FoldBatchNormOp(StatedOp):
    """The weight and bias of a layer that has taken in the batch normalization behind it.

    factor = scale / sqrt(variance + eps), of each output channel of the layer;
    folded weight = weight * factor, along axis 0; folded bias = (bias - mean) * factor + shift

    Operands: weight and optional bias of the layer; mean, variance and the optional scale and
    shift of the normalization. An absent scale counts as one, an absent bias or shift as zero.

    ```mlir
    %w2, %b2 = gawee.fold_batch_norm %w bias %b mean %m variance %v scale %g shift %t eps 1.000000e-05 : tensor<3x2x5xf32>, tensor<3xf32>
    ```

    Constraints:
      C1: weight has rank 1 or more.
      C2: element types are one float type.
      C3: bias, mean, variance, scale and shift have one entry per output channel.
      C4: eps is not negative.
    """

    name = "gawee.fold_batch_norm"

    T: ClassVar = VarConstraint("T", base(TensorType))
    PER_CHANNEL: ClassVar = VarConstraint("PER_CHANNEL", base(TensorType))

    weight = operand_def(T)
    bias = opt_operand_def(PER_CHANNEL)
    mean = operand_def(PER_CHANNEL)
    variance = operand_def(PER_CHANNEL)
    scale = opt_operand_def(PER_CHANNEL)
    shift = opt_operand_def(PER_CHANNEL)
    eps = prop_def(FloatAttr.constr(Float64Type()))
    folded_weight = result_def(T)
    folded_bias = result_def(PER_CHANNEL)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(Pure())
    assembly_format = (
        "$weight (`bias` $bias^)? `mean` $mean `variance` $variance (`scale` $scale^)? "
        "(`shift` $shift^)? `eps` $eps attr-dict `:` type($weight) `,` type($mean)"
    )

    def __init__(
        self,
        weight: SSAValue,
        bias: SSAValue | None,
        mean: SSAValue,
        variance: SSAValue,
        scale: SSAValue | None = None,
        shift: SSAValue | None = None,
        *,
        eps: float = 1e-5,
    ):
        per_channel = (bias, mean, variance, scale, shift)
        super().__init__(
            operands=[weight, *per_channel],
            properties={"eps": FloatAttr(eps, 64)},
            result_types=self.shape_rule(weight, per_channel, eps=eps),
        )

    @staticmethod
    def shape_rule(
        layer: SSAValue, per_channel: Sequence[SSAValue | None], *, eps: float
    ) -> Sequence[AnyTensor]:
        """Return the types of weight and bias; raises VerifyException where C1 to C4 fail.

        `per_channel` are bias, mean, variance, scale and shift.
        """
        weight = tensor_type(layer)
        rank = weight.get_num_dims()
        require(rank >= 1, f"expected weight of rank 1 or more, got rank {rank} ('{weight}')")
        require_float("weight", weight)
        names = ("bias", "mean", "variance", "scale", "shift")
        for what, value in zip(names, per_channel, strict=True):
            if value is not None:
                require_shape(what, tensor_type(value), weight.get_shape()[:1])
                require_same_element(what, tensor_type(value), weight, "weight")
        require(eps >= 0, f"expected eps of at least 0, got {eps}")
        return weight, TensorType(weight.element_type, weight.get_shape()[:1])

    def inferred_types(self) -> Sequence[AnyTensor]:
        per_channel = (self.bias, self.mean, self.variance, self.scale, self.shift)
        return self.shape_rule(self.weight, per_channel, eps=self.eps.value.data)

    def equation(self) -> str:
        optional = {"b": self.bias, "m": self.mean, "v": self.variance}
        optional |= {"g": self.scale, "t": self.shift}
        names = ", ".join(name for name, value in optional.items() if value is not None)
        numerator = "1.0" if self.scale is None else "g[o]"
        if self.bias is None:
            shift = "0.0" if self.shift is None else "t[o]"
            bias = f"{shift} - m[o] * factor[o]"
        else:
            bias = "(b[o] - m[o]) * factor[o]" + ("" if self.shift is None else " + t[o]")
        return (
            f"float eps; inputs w, {names}; factor[o] = {numerator} / sqrt(v[o] + eps);"
            f"y[o, ...] = w[o, ...] * factor[o]; z[o] = {bias}; return y, z"
        )


class ScaledOp(DefinedOp, ABC):
    """A normalization over elements of its own input, then an optional scale and bias."""

    T: ClassVar = VarConstraint("T", base(TensorType))

    input = operand_def(T)
    scale = opt_operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    eps = prop_def(FloatAttr.constr(Float64Type()))
    result = result_def(T)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(Pure())


def check_scaled(
    input: AnyTensor,
    scale: AnyTensor | None,
    bias: AnyTensor | None,
    shape: Sequence[int],
    eps: float,
) -> None:
    """Raise VerifyException unless all is of one float type, and scale and bias of a shape."""
    require_float("input", input)
    for what, type in (("scale", scale), ("bias", bias)):
        if type is not None:
            require_shape(what, type, shape)
            require_same_element(what, type, input)
    require(eps >= 0, f"expected eps of at least 0, got {eps}")


@irdl_op_definition
class LayerNormOp(ScaledOp):
    """Normalization over the last `normalized_rank` axes, each row by its own mean and variance.

    out = (input - mean) / sqrt(variance + eps) * scale + bias, the variance being the mean of the
    squares of (input - mean). An absent scale counts as one, an absent bias as zero.

    ```mlir
    %y = gawee.layer_norm %x scale %g : tensor<3x5xf32> bias %b : tensor<3x5xf32> normalized_rank 2 eps 1.000000e-05 : tensor<2x3x5xf32>
    ```

    Constraints:
      C1: normalized_rank is from 1 to the input's rank.
      C2: element types are one float type.
      C3: scale and bias have the shape of the axes that are normalized.
      C4: eps is not negative.
    """

    name = "gawee.layer_norm"

    normalized_rank = prop_def(IntegerAttr.constr(I64))

    assembly_format = (
        "$input (`scale` $scale^ `:` type($scale))? (`bias` $bias^ `:` type($bias))? `normalized_rank` $normalized_rank "
        "`eps` $eps attr-dict `:` type($input)"
    )

    def __init__(
        self,
        input: SSAValue,
        scale: SSAValue | None = None,
        bias: SSAValue | None = None,
        *,
        normalized_rank: int = 1,
        eps: float = 1e-5,
    ):
        self.define([input, scale, bias], normalized_rank=normalized_rank, eps=eps)

    @staticmethod
    def result_type(
        input: AnyTensor,
        scale: AnyTensor | None,
        bias: AnyTensor | None,
        *,
        normalized_rank: int,
        eps: float,
    ) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 to C4 fail."""
        rows = normalized_shape(input, normalized_rank)
        check_scaled(input, scale, bias, rows, eps)
        return input

    def equation(self) -> str:
        names = index_names(self.normalized_rank.value.data)
        along = ", ".join(names)
        rows = ROWS.format(rows="...", all=f"..., {along}", along=along, count=counted(names))
        return rows + affine(self.scale, self.bias, along)


def normalized_shape(input: AnyTensor, normalized_rank: int) -> tuple[int, ...]:
    """Return the sizes of the last axes; raises VerifyException where there are not so many."""
    rank = input.get_num_dims()
    require(
        1 <= normalized_rank <= rank,
        f"expected normalized_rank from 1 to the rank of the input ({rank}), got {normalized_rank}",
    )
    return input.get_shape()[rank - normalized_rank :]


@irdl_op_definition
class RmsNormOp(DefinedOp):
    """Division by the root of the mean square over the last `normalized_rank` axes.

    out = input / sqrt(mean of input * input + eps) * scale. An absent scale counts as one.

    ```mlir
    %y = gawee.rms_norm %x scale %g : tensor<5xf32> normalized_rank 1 eps 1.000000e-06 : tensor<2x3x5xf32>
    ```

    Constraints:
      C1: normalized_rank is from 1 to the input's rank.
      C2: element types are one float type.
      C3: scale has the shape of the axes that are normalized.
      C4: eps is not negative.
    """

    name = "gawee.rms_norm"

    T: ClassVar = VarConstraint("T", base(TensorType))

    input = operand_def(T)
    scale = opt_operand_def(TensorType)
    normalized_rank = prop_def(IntegerAttr.constr(I64))
    eps = prop_def(FloatAttr.constr(Float64Type()))
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$input (`scale` $scale^ `:` type($scale))? `normalized_rank` $normalized_rank "
        "`eps` $eps attr-dict `:` type($input)"
    )

    def __init__(
        self,
        input: SSAValue,
        scale: SSAValue | None = None,
        *,
        normalized_rank: int = 1,
        eps: float = 1e-6,
    ):
        self.define([input, scale], normalized_rank=normalized_rank, eps=eps)

    @staticmethod
    def result_type(
        input: AnyTensor, scale: AnyTensor | None, *, normalized_rank: int, eps: float
    ) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 to C4 fail."""
        rows = normalized_shape(input, normalized_rank)
        check_scaled(input, scale, None, rows, eps)
        return input

    def equation(self) -> str:
        names = index_names(self.normalized_rank.value.data)
        along = ", ".join(names)
        return (
            f"float eps; s[...] = sqrt((sum({along}) x[..., {along}]**2) / ({counted(names)}) + eps);"
            f"y[..., {along}] = x[..., {along}] / s[...]{affine(self.scale, None, along)}"
        )


@irdl_op_definition
class GroupNormOp(ScaledOp):
    """Normalization of each group of channels, of each batch item, by its own mean and variance.

    out = (input - mean) / sqrt(variance + eps) * scale + bias, with one mean and variance a group,
    one scale and bias a channel (axis 1). As many groups as channels is an instance norm.

    ```mlir
    %y = gawee.group_norm %x scale %g : tensor<4xf32> bias %b : tensor<4xf32> groups 2 eps 1.000000e-05 : tensor<3x4x5xf32>
    ```

    Constraints:
      C1: input has rank 2 or more.
      C2: element types are one float type.
      C3: groups is positive and divides the channels.
      C4: scale and bias have one entry per channel.
      C5: eps is not negative.
    """

    name = "gawee.group_norm"

    groups = prop_def(IntegerAttr.constr(I64))

    assembly_format = (
        "$input (`scale` $scale^ `:` type($scale))? (`bias` $bias^ `:` type($bias))? `groups` $groups "
        "`eps` $eps attr-dict `:` type($input)"
    )

    def __init__(
        self,
        input: SSAValue,
        scale: SSAValue | None = None,
        bias: SSAValue | None = None,
        *,
        groups: int,
        eps: float = 1e-5,
    ):
        self.define([input, scale, bias], groups=groups, eps=eps)

    @staticmethod
    def result_type(
        input: AnyTensor,
        scale: AnyTensor | None,
        bias: AnyTensor | None,
        *,
        groups: int,
        eps: float,
    ) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 to C5 fail."""
        rank = input.get_num_dims()
        require(rank >= 2, f"expected input of rank 2 or more, got rank {rank} ('{input}')")
        channels = input.get_shape()[1]
        require(groups >= 1, f"expected groups of at least 1, got {groups}")
        require(
            channels % groups == 0, f"expected groups ({groups}) to divide channels ({channels})"
        )
        check_scaled(input, scale, bias, (channels,), eps)
        return input

    def split_axes(self) -> tuple[int, Sequence[int | None]]:
        """Return the axes of channels."""
        return self.groups.value.data, (1, 0, 0)[: len(self.operands)]

    def equation(self) -> str:
        names = ["c", *index_names(tensor_type(self.input).get_num_dims() - 2)]
        along = ", ".join(names)
        rows = ROWS.format(rows="n, g", all=f"n, g, {along}", along=along, count=counted(names))
        return rows + affine(self.scale, self.bias, "g, c")
