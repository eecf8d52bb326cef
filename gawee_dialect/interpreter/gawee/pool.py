"""Pooling."""

from collections.abc import Sequence
from functools import reduce
from itertools import product

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.sums import sum_along, total_dtype
from gawee_dialect.dialect.window import padding_pairs, window_shape
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
