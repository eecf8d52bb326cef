"""Sliding windows over the last two axes of an array."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gawee_dialect.dialect.window import window_extent
from gawee_dialect.interpreter.arrays import Array


def padded(
    input: Array,
    padding: Sequence[int],
    fill: Array | float,
    window: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]] | None = None,
) -> Array:
    """Surround (batch, channels, height, width) with `fill`; `padding` is top, left, bottom, right.

    `window` = (counts, kernel, strides, dilations) pads bottom and right further, to where the last
    of `counts` windows ends (`ceil_mode`).
    """
    top, left, bottom, right = padding
    if window is not None:
        ends = [
            (count - 1) * stride + window_extent(kernel, dilation)
            for count, kernel, stride, dilation in zip(*window, strict=True)
        ]
        bottom = max(bottom, ends[0] - input.shape[2] - top)
        right = max(right, ends[1] - input.shape[3] - left)
    if not (top or left or bottom or right):
        return input
    batch, channels, height, width = input.shape
    result = np.full(
        (batch, channels, top + height + bottom, left + width + right), fill, input.dtype
    )
    result[:, :, top : top + height, left : left + width] = input
    return result


def windows(
    input: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """View (n, c, h, w) as (n, c, out h, out w, kernel h, kernel w) without copying."""
    extent = [
        window_extent(size, dilation) for size, dilation in zip(kernel, dilations, strict=True)
    ]
    view = sliding_window_view(input, extent, axis=(2, 3))
    return view[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
