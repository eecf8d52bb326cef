"""Convolutions."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.slicing import PadOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import (
    Ints,
)


def same_pads(auto_pad: str, pads: Sequence[int] | None, totals: Sequence[int]) -> list[int]:
    """Return pads before all axes, then after them; totals are what keeps the size.

    Raises Refusal for an auto_pad that there is none of.
    """
    if auto_pad == "VALID":
        return [0] * (2 * len(totals))
    if auto_pad == "NOTSET":
        return list(pads) if pads is not None else [0] * (2 * len(totals))
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        raise Refusal(
            f"unsupported auto_pad '{auto_pad}'; supported: NOTSET, VALID, SAME_UPPER, SAME_LOWER"
        )
    small, large = [each // 2 for each in totals], [each - each // 2 for each in totals]
    return [*small, *large] if auto_pad == "SAME_UPPER" else [*large, *small]


def totals_for_same(
    sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """Return the padding of each axis that makes size / stride windows, rounded up."""
    return [
        max((-(-size // stride) - 1) * stride + (k - 1) * dilation + 1 - size, 0)
        for size, k, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True)
    ]


@register_op("Conv")
def conv(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> SSAValue:
    """A convolution over one to three spatial axes"""
    kernel, spatial = tensor_shape(w)[2:], tensor_shape(x)[2:]
    if kernel_shape is not None and tuple(kernel_shape) != kernel:
        raise Refusal(f"expected kernel_shape {list(kernel)}, got {list(kernel_shape)}")
    steps = strides or [1] * len(kernel)
    spread = dilations or [1] * len(kernel)
    totals = totals_for_same(spatial, kernel, steps, spread)
    padding = same_pads(auto_pad, pads, totals)
    return emit(ConvOp(x, w, b, strides=steps, padding=padding, dilations=spread, groups=group))


@register_op("ConvTranspose")
def conv_transpose(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> SSAValue:
    """A transposed convolution over one to three spatial axes"""
    kernel, spatial = tensor_shape(w)[2:], tensor_shape(x)[2:]
    axes = len(kernel)
    steps, spread = strides or [1] * axes, dilations or [1] * axes
    outside = list(output_padding or [0] * axes)
    whole = [
        stride * (size - 1) + out + (k - 1) * dilation + 1
        for size, k, stride, dilation, out in zip(
            spatial, kernel, steps, spread, outside, strict=True
        )
    ]
    if output_shape is not None:
        totals = [w - o for w, o in zip(whole, list(output_shape)[-axes:], strict=True)]
        rule = "SAME_UPPER" if auto_pad == "SAME_UPPER" else "SAME_LOWER"
        padding = same_pads(rule, None, totals)
    else:
        totals = [w - size * s for w, size, s in zip(whole, spatial, steps, strict=True)]
        padding = same_pads(auto_pad, pads, totals)
    wider = [max(-each, 0) for each in padding]
    padding = [max(each, 0) for each in padding]
    result = emit(
        ConvTransposeOp(
            x,
            w,
            b,
            strides=steps,
            padding=padding,
            output_padding=outside,
            dilations=spread,
            groups=group,
        )
    )
    if not any(wider):
        return result
    low, high = [0, 0, *wider[:axes]], [0, 0, *wider[axes:]]
    return emit(PadOp(result, low=low, high=high))
