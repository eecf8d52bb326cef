"""Convolutions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.slicing import PadOp
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


class Moves(TypedDict):
    """How the kernel of a convolution moves, as the ops of this dialect take it."""

    strides: Sequence[int]
    dilations: Sequence[int]
    groups: int


@dataclass(frozen=True)
class ConvAttributes:
    """The attributes that all convolutions of ONNX have."""

    auto_pad: str = "NOTSET"
    dilations: Ints | None = None
    group: int = 1
    kernel_shape: Ints | None = None
    pads: Ints | None = None
    strides: Ints | None = None

    def moves(self, weight: SSAValue) -> Moves:
        """Return strides, dilations and groups; raises Refusal where kernel_shape is another."""
        kernel = tensor_shape(weight)[2:]
        if self.kernel_shape is not None and tuple(self.kernel_shape) != kernel:
            given = list(self.kernel_shape)
            raise Refusal(f"expected kernel_shape {list(kernel)}, got {given}")
        ones = [1] * len(kernel)
        steps, spread = self.strides or ones, self.dilations or ones
        for name, numbers in (("strides", steps), ("dilations", spread)):
            if len(numbers) != len(kernel) or min(numbers, default=1) < 1:
                wanted = f"{len(kernel)} positive numbers"
                raise Refusal(f"expected {name} to be {wanted}, got {list(numbers)}")
        return Moves(strides=steps, dilations=spread, groups=self.group)

    def padding(self, input: SSAValue, weight: SSAValue) -> Sequence[int]:
        """Return the padding of a convolution that is not transposed."""
        moves, kernel = self.moves(weight), tensor_shape(weight)[2:]
        sizes = spatial_sizes(input, weight)
        totals = totals_for_same(sizes, kernel, moves["strides"], moves["dilations"])
        return same_pads(self.auto_pad, self.pads, totals)


def spatial_sizes(input: SSAValue, weight: SSAValue) -> Sequence[int]:
    """Return the input's spatial sizes; raises Refusal where the kernel has other axes."""
    sizes, kernel = tensor_shape(input)[2:], tensor_shape(weight)[2:]
    if len(sizes) != len(kernel):
        raise Refusal(f"expected input and kernel of one rank, got {len(sizes)} and {len(kernel)}")
    return sizes


@register_op("Conv")
def conv(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    *,
    attributes: ConvAttributes,
) -> SSAValue:
    """A convolution over one to three spatial axes"""
    return emit(ConvOp(x, w, b, padding=attributes.padding(x, w), **attributes.moves(w)))


@register_op("ConvTranspose")
def conv_transpose(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    *,
    attributes: ConvAttributes,
) -> SSAValue:
    """A transposed convolution over one to three spatial axes"""
    moves, kernel = attributes.moves(w), tensor_shape(w)[2:]
    axes, spatial = len(kernel), spatial_sizes(x, w)
    outside = list(output_padding or [0] * axes)
    if len(outside) != axes:
        raise Refusal(f"expected output_padding of {axes} numbers, got {outside}")
    whole = [
        stride * (size - 1) + out + (k - 1) * dilation + 1
        for size, k, stride, dilation, out in zip(
            spatial, kernel, moves["strides"], moves["dilations"], outside, strict=True
        )
    ]
    if output_shape is not None:
        if len(output_shape) < axes:
            raise Refusal(f"expected output_shape of {axes} numbers, got {list(output_shape)}")
        totals = [w - o for w, o in zip(whole, list(output_shape)[-axes:], strict=True)]
        rule = "SAME_UPPER" if attributes.auto_pad == "SAME_UPPER" else "SAME_LOWER"
        padding = same_pads(rule, None, totals)
    else:
        steps = zip(whole, spatial, moves["strides"], strict=True)
        totals = [w - size * stride for w, size, stride in steps]
        padding = same_pads(attributes.auto_pad, attributes.pads, totals)
    wider = [max(-each, 0) for each in padding]
    padding = [max(each, 0) for each in padding]
    result = emit(ConvTransposeOp(x, w, b, padding=padding, output_padding=outside, **moves))
    if not any(wider):
        return result
    low, high = [0, 0, *wider[:axes]], [0, 0, *wider[axes:]]
    return emit(PadOp(result, low=low, high=high))
