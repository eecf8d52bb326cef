"""Pooling."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.window import window_shape
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.precision import accumulator, rounded
from gawee_dialect.interpreter.gawee.windows import padded, windows


def lowest(dtype: np.dtype[np.generic]) -> float | int:
    """Return the smallest value of an element type: -inf, or the lowest integer."""
    return -np.inf if np.issubdtype(dtype, np.floating) else int(np.iinfo(dtype.name).min)


def max_pool(
    input: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int] = (0, 0, 0, 0),
    dilations: Sequence[int] = (1, 1),
    ceil_mode: bool = False,
) -> Array:
    """Take the maximum over each window of (n, c, h, w); NaN wins, padding is the lowest value."""
    counts = window_shape(input.shape[2:], kernel, strides, padding, dilations, ceil_mode)
    full = padded(input, padding, lowest(input.dtype), (counts, kernel, strides, dilations))
    view = windows(full, kernel, strides, dilations)[:, :, : counts[0], : counts[1]]
    result = view[..., 0, 0].copy()
    for row, column in product(range(kernel[0]), range(kernel[1])):
        np.maximum(result, view[..., row, column], out=result)
    return result


def avg_pool(
    input: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int] = (0, 0, 0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """Take the mean over each window of (n, c, h, w).

    A window that `ceil_mode` lets run past the padding ends there. The divisor is what is left of
    the window, with `count_include_pad`; otherwise only its positions inside the input.
    """
    counts = window_shape(input.shape[2:], kernel, strides, padding, (1, 1), ceil_mode)
    full = padded(accumulator(input), padding, 0, (counts, kernel, strides, (1, 1)))
    view = windows(full, kernel, strides, (1, 1))[:, :, : counts[0], : counts[1]]
    result = np.zeros(view.shape[:4], full.dtype)
    for row, column in product(range(kernel[0]), range(kernel[1])):
        np.add(result, view[..., row, column], out=result)
    covered = [
        window_lengths(
            input.shape[2 + axis],
            counts[axis],
            kernel[axis],
            strides[axis],
            (padding[axis], padding[axis + 2]),
            count_include_pad,
        )
        for axis in range(2)
    ]
    divisor = np.multiply.outer(covered[0], covered[1]).astype(full.dtype)
    return rounded(np.divide(result, divisor, out=result), input.dtype)


def window_lengths(
    size: int, count: int, kernel: int, stride: int, padding: tuple[int, int], with_padding: bool
) -> Array:
    """Return how many positions each of `count` windows along one axis averages over."""
    before, after = padding
    first, end = (-before, size + after) if with_padding else (0, size)
    starts = np.arange(count) * stride - before
    return np.minimum(starts + kernel, end) - np.maximum(starts, first)


def ad_avg_pool(input: Array, *, output_size: Sequence[int]) -> Array:
    """Average (n, c, h, w) over output_size bins: floor(i*in/out) to ceil((i+1)*in/out).

    A bin's sum is a sum of rows and then of columns, so all bins cost one pass over each axis.
    """
    result = accumulator(input)
    for axis, count in zip((2, 3), output_size, strict=True):
        size = input.shape[axis]
        bins = [range(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        sums = [
            np.add.reduce(result.take(bin, axis), axis=axis, keepdims=True)
            / result.dtype.type(len(bin))
            for bin in bins
        ]
        result = np.concatenate(sums, axis)
    return rounded(result, input.dtype)


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
