"""Sliding windows over the spatial axes of an array: all but the first two."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gawee_dialect.dialect.window import padding_pairs, window_extent
from gawee_dialect.interpreter.arrays import Array


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
