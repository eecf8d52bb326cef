"""Convolutions."""

from collections.abc import Callable

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Ints


def per_axis(values: Ints, axes: int, what: str) -> list[int]:
    """Return one number for each spatial axis; one number alone stands for all."""
    if len(values) not in (1, axes):
        raise Refusal(f"expected {what} of {axes} entries, got {list(values)}")
    return list(values) * (axes if len(values) == 1 else 1)


def batched(
    emit: Emitter, input: SSAValue, rank: int, function: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """Apply a function of batches of a rank, also to one image without a batch axis."""
    shape = tensor_shape(input)
    if len(shape) != rank - 1:
        return function(input)
    result = function(emit.reshape(input, (1, *shape)))
    return emit.reshape(result, tensor_shape(result)[1:])


@register_op("aten.convolution")
def convolution(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> SSAValue:
    """A convolution, or a transposed one, over one to three spatial axes"""
    rank = len(tensor_shape(weight))
    strides, pads, dilations, outside = (
        per_axis(values, rank - 2, what)
        for what, values in (
            ("stride", stride),
            ("padding", padding),
            ("dilation", dilation),
            ("output_padding", output_padding),
        )
    )

    def apply(value: SSAValue) -> SSAValue:
        both = (*pads, *pads)
        if not transposed:
            window = ConvOp(
                value,
                weight,
                bias,
                strides=strides,
                padding=both,
                dilations=dilations,
                groups=groups,
            )
            return emit(window)
        return emit(
            ConvTransposeOp(
                value,
                weight,
                bias,
                strides=strides,
                padding=both,
                output_padding=outside,
                dilations=dilations,
                groups=groups,
            )
        )

    return batched(emit, input, rank, apply)


@register_op("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default")
def conv(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    groups: int = 1,
) -> SSAValue:
    """A convolution"""
    return convolution(emit, input, weight, bias, stride, padding, dilation, False, (0,), groups)


@register_op("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding")
def conv_named_padding(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Ints = (1,),
    padding: str = "valid",
    dilation: Ints = (1,),
    groups: int = 1,
) -> SSAValue:
    """A convolution that is padded to keep its size (`same`; the smaller half first), or not"""
    if padding == "valid":
        return conv(emit, input, weight, bias, stride, (0,), dilation, groups)
    if padding != "same":
        raise Refusal(f"unsupported padding '{padding}'; supported: valid, same")
    kernel = tensor_shape(weight)[2:]
    dilations = per_axis(dilation, len(kernel), "dilation")
    total = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    both = [*(each // 2 for each in total), *(each - each // 2 for each in total)]
    strides = per_axis(stride, len(kernel), "stride")

    def apply(value: SSAValue) -> SSAValue:
        window = ConvOp(
            value, weight, bias, strides=strides, padding=both, dilations=dilations, groups=groups
        )
        return emit(window)

    return batched(emit, input, len(kernel) + 2, apply)


@register_op("aten._conv_depthwise2d")
def conv_depthwise(
    emit: Emitter,
    self: SSAValue,
    weight: SSAValue,
    kernel_size: Ints,
    bias: SSAValue | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
) -> SSAValue:
    """A convolution of each channel on its own"""
    channels = tensor_shape(self)[-3]
    return conv(emit, self, weight, bias, stride, padding, dilation, channels)


@register_op("aten.conv_transpose1d", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    output_padding: Ints = (0,),
    groups: int = 1,
    dilation: Ints = (1,),
) -> SSAValue:
    """A transposed convolution"""
    return convolution(
        emit, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )
