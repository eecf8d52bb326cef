"""The layers that parameters can be folded into, and how to change their parameters."""

from typing import TypeAlias

from xdsl.ir import SSAValue

from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.locations import hand_on_location

Layer: TypeAlias = ConvOp | MatMulOp


def with_parameters(layer: Layer, weight: SSAValue, bias: SSAValue) -> Layer:
    """Make a layer like the given one, from the same place, with another weight and bias."""
    if isinstance(layer, MatMulOp):
        changed = MatMulOp(layer.input, weight, bias)
    else:
        changed = ConvOp(
            layer.input,
            weight,
            bias,
            strides=layer.strides.get_values(),
            padding=layer.padding.get_values(),
            dilations=layer.dilations.get_values(),
            groups=layer.groups.value.data,
        )
    hand_on_location(layer, changed)
    return changed
