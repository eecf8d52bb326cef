"""Convolutions and poolings: what is computed of each window."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypedDict

import numpy as np
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import AbsOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import DivOp
from gawee_dialect.dialect.graph.indexing import ScatterElementsOp
from gawee_dialect.dialect.graph.pool import AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.reduction import ReduceMaxOp, ReduceMeanOp, ReduceSumOp
from gawee_dialect.dialect.graph.slicing import PadOp
from gawee_dialect.dialect.types import element_type, is_unsigned, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, mul, pow_tensors
from gawee_dialect.frontends.npu_ir.aten.windows import Windows, places_of_maxima, windows_of
from gawee_dialect.frontends.onnx.registry import check_size, register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.registry import Ints, KnownIntsOrNone, Refusal

# Convolutions.


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


# Poolings.


@dataclass(frozen=True)
class PoolAttributes:
    """The attributes that all poolings of windows have; `steps` and `spread` are never left out."""

    kernel_shape: Ints
    auto_pad: str = "NOTSET"
    ceil_mode: int = 0
    dilations: Ints | None = None
    pads: Ints | None = None
    strides: Ints | None = None

    @property
    def steps(self) -> Ints:
        """From each window to the next."""
        return self.strides or [1] * len(self.kernel_shape)

    @property
    def spread(self) -> Ints:
        """From each element of a window to the next."""
        return self.dilations or [1] * len(self.kernel_shape)

    @property
    def is_dilated(self) -> bool:
        """Whether there are elements between those of a window."""
        return any(each != 1 for each in self.spread)

    def padding(self, x: SSAValue) -> list[int]:
        """Return the padding of an image."""
        sizes = tensor_shape(x)[2:]
        totals = totals_for_same(sizes, self.kernel_shape, self.steps, self.spread)
        return same_pads(self.auto_pad, self.pads, totals)

    def windows(self, x: SSAValue) -> Windows:
        """Return which elements the windows of an image have."""
        sizes, moves = tensor_shape(x)[2:], (self.steps, self.spread, self.padding(x))
        return windows_of(sizes, self.kernel_shape, *moves, ceil=bool(self.ceil_mode))


@register_op("MaxPool")
def max_pool(
    emit: Emitter,
    x: SSAValue,
    storage_order: int = 0,
    *,
    attributes: PoolAttributes,
) -> Sequence[SSAValue | None]:
    """The maximum of each window"""
    element = element_type(x)
    if is_unsigned(element):  # padding is the least number, which int32 has one more of
        x = emit.cast(x, i32)
    places = None
    if emit.is_used(1):
        windows = attributes.windows(x)
        places = places_of_maxima(emit, x, windows, columns_first=bool(storage_order))
        # ONNX counts in the whole tensor.
        batch, channels, *sizes = tensor_shape(x)
        check_size(batch * channels)
        images = np.arange(batch * channels) * prod(sizes)
        starts = images.reshape(batch, channels, *[1] * len(sizes))
        places = add(emit, places, emit.array(starts, i64))
    result = emit(
        MaxPoolOp(
            x,
            kernel=attributes.kernel_shape,
            strides=attributes.steps,
            padding=attributes.padding(x),
            dilations=attributes.spread,
            ceil_mode=bool(attributes.ceil_mode),
        )
    )
    return emit.cast(result, element), places


@register_op("AveragePool")
def average_pool(
    emit: Emitter,
    x: SSAValue,
    count_include_pad: int = 0,
    *,
    attributes: PoolAttributes,
) -> SSAValue:
    """The mean of each window"""
    if attributes.is_dilated:
        windows = attributes.windows(x)
        taken = windows.counted if count_include_pad else windows.inside
        total = emit(ReduceSumOp(windows.elements(emit, x, 0), axes=[2]))
        count = emit.array(taken.sum(0), element_type(x))
        return windows.shaped(emit, x, emit(DivOp(total, count)))
    return emit(
        AvgPoolOp(
            x,
            kernel=attributes.kernel_shape,
            strides=attributes.steps,
            padding=attributes.padding(x),
            ceil_mode=bool(attributes.ceil_mode),
            count_include_pad=bool(count_include_pad),
        )
    )


@register_op("LpPool")
def lp_pool(emit: Emitter, x: SSAValue, p: int = 2, *, attributes: PoolAttributes) -> SSAValue:
    """The p-norm of each window"""
    powers = pow_tensors(emit, emit(AbsOp(x)), p)
    if attributes.is_dilated:
        windows = attributes.windows(x)
        total = emit(ReduceSumOp(windows.elements(emit, powers, 0), axes=[2]))
        return pow_tensors(emit, windows.shaped(emit, x, total), 1 / p)
    mean = average_pool(emit, powers, 1, attributes=attributes)
    return pow_tensors(emit, mul(emit, mean, float(prod(attributes.kernel_shape))), 1 / p)


@register_op("MaxUnpool")
def max_unpool(
    emit: Emitter,
    x: SSAValue,
    i: SSAValue,
    output_shape: KnownIntsOrNone = None,
    kernel_shape: Ints = (),
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> SSAValue:
    """Maxima put back to their places, zeros elsewhere"""
    shape, axes = tensor_shape(x), len(kernel_shape)
    steps, padding = strides or [1] * axes, pads or [0] * (2 * axes)
    sizes = [
        (shape[axis + 2] - 1) * steps[axis] - padding[axis] - padding[axes + axis] + kernel
        for axis, kernel in enumerate(kernel_shape)
    ]
    whole = [*shape[:2], *sizes]
    zeros = emit.full((prod(whole),), 0, element_type(x))
    flat = emit.reshape(i, (prod(shape),)), emit.reshape(x, (prod(shape),))
    made = emit.reshape(emit(ScatterElementsOp(zeros, *flat, axis=0)), whole)
    if output_shape is None or list(output_shape) == whole:
        return made
    more = [wanted - size for wanted, size in zip(output_shape, whole, strict=True)]
    return emit(PadOp(made, low=[0] * len(whole), high=more))


def _over_pixels(x: SSAValue) -> list[int]:
    return list(range(2, len(tensor_shape(x))))


@register_op("GlobalAveragePool")
def global_average_pool(emit: Emitter, x: SSAValue) -> SSAValue:
    """The mean of each channel"""
    return emit(ReduceMeanOp(x, axes=_over_pixels(x), keep_dims=True))


@register_op("GlobalMaxPool")
def global_max_pool(emit: Emitter, x: SSAValue) -> SSAValue:
    """The maximum of each channel"""
    return emit(ReduceMaxOp(x, axes=_over_pixels(x), keep_dims=True))


@register_op("GlobalLpPool")
def global_lp_pool(emit: Emitter, x: SSAValue, p: float = 2) -> SSAValue:
    """The p-norm of each channel"""
    powers = pow_tensors(emit, emit(AbsOp(x)), p)
    total = emit(ReduceSumOp(powers, axes=_over_pixels(x), keep_dims=True))
    return pow_tensors(emit, total, 1 / p)
