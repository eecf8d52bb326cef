"""Sliding windows over the spatial axes of an array: all but the first two."""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.sums import sum_along, total_dtype
from gawee_dialect.dialect.window import padding_pairs, window_extent, window_shape
from gawee_dialect.interpreter.arrays import Array, accumulator, rounded
from gawee_dialect.interpreter.contraction import matrix_product
from gawee_dialect.interpreter.functions import OpFunctions


def padded(
    input: Array,
    padding: Sequence[int],
    fill: Array | float,
    window: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]] | None = None,
) -> Array:
    """Surround (batch, channels, spatial...) with `fill`; `padding` lists befores, then afters.

    `window` = (counts, kernel, strides, dilations) pads the ends further, to where the last of
    `counts` windows ends (`ceil_mode`).
    """
    pads = padding_pairs(padding)
    if window is not None:
        ends = [
            (count - 1) * stride + window_extent(kernel, dilation)
            for count, kernel, stride, dilation in zip(*window, strict=True)
        ]
        sizes = zip(pads, ends, input.shape[2:], strict=True)
        pads = [(before, max(after, end - size - before)) for (before, after), end, size in sizes]
    if not any(before or after for before, after in pads):
        return input
    shape = [
        before + size + after for size, (before, after) in zip(input.shape[2:], pads, strict=True)
    ]
    result = np.full((*input.shape[:2], *shape), fill, input.dtype)
    inside = (
        slice(before, before + size)
        for size, (before, _) in zip(input.shape[2:], pads, strict=True)
    )
    result[(slice(None), slice(None), *inside)] = input
    return result


def windows(
    input: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """View (n, c, spatial...) as (n, c, out..., kernel...) without copying."""
    extent = [
        window_extent(size, dilation) for size, dilation in zip(kernel, dilations, strict=True)
    ]
    view = sliding_window_view(input, extent, axis=tuple(range(2, input.ndim)))
    steps = (slice(None, None, step) for step in (*strides, *dilations))
    return view[(slice(None), slice(None), *steps)]


# Convolution and its transpose.

COLUMN_ELEMENTS = 1 << 23
"""The most elements that are gathered into matrix columns at once (32 MB of float32)."""


def conv(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
) -> Array:
    """Convolve (n, g*c, spatial...) with (g*f, c, kernel...) to (n, g*f, out...).

    Each group is a matrix product of weights (f, c*kernel) and columns (c*kernel, positions), taken
    for as many positions of the first spatial axis at a time as `COLUMN_ELEMENTS` allows.
    """
    axes = len(strides)
    wide_input, wide_weight = accumulator(padded(input, padding, 0)), accumulator(weight)
    view = windows(wide_input, weight.shape[2:], strides, dilations)
    batch, out = view.shape[0], view.shape[2 : 2 + axes]
    features, depth = weight.shape[0], weight[0].size
    kernel_first = (*range(3 + axes, 3 + 2 * axes), *range(3, 3 + axes))
    by_group = view.reshape(batch, groups, weight.shape[1], *view.shape[2:]).transpose(
        0, 1, 2, *kernel_first
    )
    matrix = wide_weight.reshape(groups, features // groups, depth)
    result = np.empty((batch, groups, features // groups, *out), wide_input.dtype)
    rows = max(1, COLUMN_ELEMENTS // max(1, batch * groups * depth * prod(out[1:])))
    for start in range(0, out[0], rows):
        part = by_group[(*(slice(None),) * (3 + axes), slice(start, start + rows))]
        columns = part.reshape(batch, groups, depth, -1)
        made = matrix_product(matrix, columns)
        result[:, :, :, start : start + rows] = made.reshape(*made.shape[:3], -1, *out[1:])
    return _with_bias(result.reshape(batch, features, *out), bias, input.dtype)


def conv_transpose(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
) -> Array:
    """Convolve transposed (n, g*c, spatial...) with (g*c, f, kernel...) to (n, g*f, out...).

    Each kernel element is a matrix product of its weights (f, c) and the input (c, positions),
    added to the positions of the result that it reaches.
    """
    wide_input, wide_weight = accumulator(input), accumulator(weight)
    batch, channels, *spatial = input.shape
    filters, kernel = weight.shape[1], weight.shape[2:]
    columns = wide_input.reshape(batch, groups, channels // groups, prod(spatial))
    by_group = wide_weight.reshape(groups, channels // groups, filters, *kernel)
    along = zip(spatial, kernel, strides, dilations, output_padding, strict=True)
    full = [
        (size - 1) * stride + window_extent(window, dilation) + extra
        for size, window, stride, dilation, extra in along
    ]
    canvas = np.zeros((batch, groups * filters, *full), wide_input.dtype)
    for offsets in product(*map(range, kernel)):
        made = matrix_product(by_group[(..., *offsets)].transpose(0, 2, 1), columns)
        reached = (
            slice(offset * dilation, offset * dilation + (size - 1) * stride + 1, stride)
            for offset, dilation, size, stride in zip(
                offsets, dilations, spatial, strides, strict=True
            )
        )
        target = canvas[(slice(None), slice(None), *reached)]
        np.add(target, made.reshape(target.shape), out=target)
    kept = (
        slice(before, size - after)
        for size, (before, after) in zip(full, padding_pairs(padding), strict=True)
    )
    return _with_bias(canvas[(slice(None), slice(None), *kept)], bias, input.dtype)


def _with_bias(result: Array, bias: Array | None, dtype: np.dtype[np.generic]) -> Array:
    if bias is not None:
        per_channel = accumulator(bias).reshape(-1, *(1 for _ in result.shape[2:]))
        np.add(result, per_channel, out=result)
    return rounded(np.ascontiguousarray(result), dtype)


@register_impls
class ConvFunctions(OpFunctions):
    """What the ops of `dialect/conv.py` compute."""

    @impl(ConvOp)
    def conv(self, interpreter: Interpreter, op: ConvOp, args: PythonValues) -> PythonValues:
        result = conv(
            *args,
            strides=op.strides.get_values(),
            padding=op.padding.get_values(),
            dilations=op.dilations.get_values(),
            groups=op.groups.value.data,
        )
        return (result,)

    @impl(ConvTransposeOp)
    def conv_transpose(
        self, interpreter: Interpreter, op: ConvTransposeOp, args: PythonValues
    ) -> PythonValues:
        result = conv_transpose(
            *args,
            strides=op.strides.get_values(),
            padding=op.padding.get_values(),
            output_padding=op.output_padding.get_values(),
            dilations=op.dilations.get_values(),
            groups=op.groups.value.data,
        )
        return (result,)


# Pooling.


def lowest(dtype: np.dtype[np.generic]) -> float | int:
    """Return the smallest value of an element type: -inf, or the lowest integer."""
    return -np.inf if np.issubdtype(dtype, np.floating) else int(np.iinfo(dtype.name).min)


def max_pool(
    input: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool = False,
) -> Array:
    """Take the maximum over each window of (n, c, spatial...); NaN wins, padding is lowest."""
    counts = window_shape(input.shape[2:], kernel, strides, padding, dilations, ceil_mode)
    full = padded(input, padding, lowest(input.dtype), (counts, kernel, strides, dilations))
    view = _first(windows(full, kernel, strides, dilations), counts)
    result = view[(..., *(0 for _ in kernel))].copy()
    for offsets in product(*map(range, kernel)):
        np.maximum(result, view[(..., *offsets)], out=result)
    return result


def avg_pool(
    input: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """Take the mean over each window of (n, c, spatial...).

    A window that `ceil_mode` lets run past the padding ends there. The divisor is what is left of
    the window, with `count_include_pad`; otherwise only its positions inside the input.
    """
    ones = (1,) * len(kernel)
    counts = window_shape(input.shape[2:], kernel, strides, padding, ones, ceil_mode)
    full = padded(accumulator(input), padding, 0, (counts, kernel, strides, ones))
    view = _first(windows(full, kernel, strides, ones), counts)
    result = np.zeros((*input.shape[:2], *counts), total_dtype(full.dtype))
    for offsets in product(*map(range, kernel)):
        np.add(result, view[(..., *offsets)], out=result)
    along = zip(input.shape[2:], counts, kernel, strides, padding_pairs(padding), strict=True)
    covered = [window_lengths(*axis, count_include_pad) for axis in along]
    divisor = reduce(np.multiply.outer, covered).astype(result.dtype)
    return rounded(np.divide(result, divisor, out=result), input.dtype)


def _first(view: Array, counts: Sequence[int]) -> Array:
    """Keep the first `counts` windows of (n, c, out..., kernel...)."""
    return view[(slice(None), slice(None), *map(slice, counts))]


def window_lengths(
    size: int, count: int, kernel: int, stride: int, padding: tuple[int, int], with_padding: bool
) -> Array:
    """Return how many positions each of `count` windows along one axis averages over."""
    before, after = padding
    first, end = (-before, size + after) if with_padding else (0, size)
    starts = np.arange(count) * stride - before
    return np.minimum(starts + kernel, end) - np.maximum(starts, first)


def bins(size: int, count: int) -> list[range]:
    """Return the input positions of each of `count` bins: floor(i*in/out) to ceil((i+1)*in/out)."""
    return [range(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def ad_avg_pool(input: Array, *, output_size: Sequence[int]) -> Array:
    """Average (n, c, spatial...) over output_size bins.

    A bin's sum is a sum along one axis after the other, so all bins cost one pass over each axis.
    """
    result = accumulator(input)
    for axis, count in enumerate(output_size, 2):
        sums = [
            np.divide(sum_along(result.take(bin, axis), axis), result.dtype.type(len(bin)))
            for bin in bins(input.shape[axis], count)
        ]
        result = np.concatenate(sums, axis)
    return rounded(result, input.dtype)


def ad_max_pool(input: Array, *, output_size: Sequence[int]) -> Array:
    """Take the maximum of (n, c, spatial...) over output_size bins, axis by axis; NaN wins."""
    result = input
    for axis, count in enumerate(output_size, 2):
        greatest = [
            np.maximum.reduce(result.take(bin, axis), axis=axis, keepdims=True)
            for bin in bins(input.shape[axis], count)
        ]
        result = np.concatenate(greatest, axis)
    return result


@register_impls
class PoolFunctions(OpFunctions):
    """What the ops of `dialect/pool.py` compute."""

    @impl(MaxPoolOp)
    def max_pool(self, interpreter: Interpreter, op: MaxPoolOp, args: PythonValues) -> PythonValues:
        result = max_pool(
            *args,
            kernel=op.kernel.get_values(),
            strides=op.strides.get_values(),
            padding=op.padding.get_values(),
            dilations=op.dilations.get_values(),
            ceil_mode=bool(op.ceil_mode.value.data),
        )
        return (result,)

    @impl(AvgPoolOp)
    def avg_pool(self, interpreter: Interpreter, op: AvgPoolOp, args: PythonValues) -> PythonValues:
        result = avg_pool(
            *args,
            kernel=op.kernel.get_values(),
            strides=op.strides.get_values(),
            padding=op.padding.get_values(),
            ceil_mode=bool(op.ceil_mode.value.data),
            count_include_pad=bool(op.count_include_pad.value.data),
        )
        return (result,)

    @impl(AdAvgPoolOp)
    def ad_avg_pool(
        self, interpreter: Interpreter, op: AdAvgPoolOp, args: PythonValues
    ) -> PythonValues:
        return (ad_avg_pool(*args, output_size=op.output_size.get_values()),)

    @impl(AdMaxPoolOp)
    def ad_max_pool(
        self, interpreter: Interpreter, op: AdMaxPoolOp, args: PythonValues
    ) -> PythonValues:
        return (ad_max_pool(*args, output_size=op.output_size.get_values()),)
