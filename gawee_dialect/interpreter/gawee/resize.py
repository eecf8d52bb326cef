"""Resampling."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.graph.grid_sample import GridSampleOp
from gawee_dialect.dialect.graph.resize import InterpolateOp, keeps_elements
from gawee_dialect.interpreter.arrays import Array, accumulator, rounded
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.scalars import floats_of

CUBIC = -0.75
"""The a of cubic convolution: the slope of its weights at a distance of one."""

Tap = tuple[NDArray[np.int64], Array]
"""For every output position, an input position and the weight of its element."""


def counted(count: int) -> Array:
    """Return the output positions along an axis, in double precision."""
    return np.arange(count, dtype=np.float64)


def interpolate(
    input: Array,
    *,
    size: Sequence[int],
    mode: str = "nearest",
    align_corners: bool = False,
    scales: Sequence[float] | None = None,
    float_positions: bool = False,
    outputs: Callable[[int], Array],
) -> Array:
    """Resample the spatial axes of (n, c, spatial...) to `size`, one axis after the other.

    Neighbours are weighted in the arithmetic of what `outputs` counts the output positions in.
    """
    result = accumulator(input)
    for axis, count in enumerate(size, 2):
        length = input.shape[axis]
        scale = None if scales is None else scales[axis - 2]
        if mode in InterpolateOp.CHOOSING:
            offset = 0.5 if mode == "nearest_exact" else 0.0
            choose = float_nearest_positions if float_positions else nearest_positions
            result = result.take(choose(length, count, scale, offset), axis)
        elif not keeps_elements(length, count, scale):
            positions = real_positions(outputs(count), length, scale, align_corners)
            neighbours = cubic_taps if mode == "bicubic" else linear_taps
            result = blended(result, neighbours(positions, length), axis)
    return rounded(result, input.dtype)


def nearest_positions(
    size: int, count: int, scale: float | None, offset: float
) -> NDArray[np.int64]:
    """Return floor((d + offset) * in / out), or floor((d + offset) / scale), of each output d.

    Without a scale the quotient is exact, of integers; a scale divides in double precision.
    """
    outputs = np.arange(count, dtype=np.int64)
    if scale is None:
        return (2 * outputs + int(2 * offset)) * size // (2 * count)
    return np.minimum(np.floor((outputs + offset) / scale).astype(np.int64), size - 1)


def float_nearest_positions(
    size: int, count: int, scale: float | None, offset: float
) -> NDArray[np.int64]:
    """Return floor((d + offset) * r) of each output d, with r and the product rounded to f32."""
    ratio = np.float32(size) / np.float32(count) if scale is None else np.float32(1 / scale)
    outputs = np.arange(count, dtype=np.float32) + np.float32(offset)
    return np.minimum(np.floor(outputs * ratio).astype(np.int64), size - 1)


def real_positions(outputs: Array, size: int, scale: float | None, align_corners: bool) -> Array:
    """Return the input position that each output stands for."""
    count = outputs.shape[0]
    if align_corners:
        return np.multiply(outputs, (size - 1) / (count - 1)) if count > 1 else outputs
    ratio = size / count if scale is None else 1 / scale
    return np.subtract(np.multiply(np.add(outputs, 0.5), ratio), 0.5)


def linear_taps(positions: Array, size: int) -> list[Tap]:
    """Return each position's two neighbours, weighted by distance; the ends are repeated."""
    inside = np.clip(positions, 0, size - 1)
    before = np.floor(inside).astype(np.int64)
    weight = np.subtract(inside, before)
    return [(before, np.subtract(1, weight)), (np.minimum(before + 1, size - 1), weight)]


def cubic_taps(positions: Array, size: int) -> list[Tap]:
    """Return each position's four neighbours, weighted by cubic convolution; ends are repeated."""
    before = np.floor(positions).astype(np.int64)
    return [
        (
            np.clip(before + step, 0, size - 1),
            cubic_weight(np.abs(np.subtract(positions, before + step))),
        )
        for step in (-1, 0, 1, 2)
    ]


def cubic_weight(distance: Array) -> Array:
    """Return the weight of cubic convolution at distances from 0 to 2."""
    near = _polynomial(distance, (CUBIC + 2, -(CUBIC + 3), 0, 1))
    far = _polynomial(distance, (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC))
    return np.where(np.less_equal(distance, 1), near, far)


def _polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    """Compute a polynomial by Horner's rule, the coefficient of the highest power first."""
    first, *others = coefficients
    result = np.multiply(x, first)
    for each in others[:-1]:
        result = np.multiply(np.add(result, each), x)
    return np.add(result, others[-1])


def blended(input: Array, taps: Sequence[Tap], axis: int) -> Array:
    """Add up weighted elements along an axis."""
    shape = [1] * input.ndim
    shape[axis] = -1
    parts = (
        np.multiply(input.take(positions, axis), weights.astype(input.dtype).reshape(shape))
        for positions, weights in taps
    )
    return reduce(np.add, parts)


@register_impls
class ResizeFunctions(OpFunctions):
    """What the ops of `dialect/graph/resize.py` compute."""

    @impl(InterpolateOp)
    def interpolate(
        self, interpreter: Interpreter, op: InterpolateOp, args: PythonValues
    ) -> PythonValues:
        result = interpolate(
            args[0],
            size=op.size.get_values(),
            mode=op.mode.data,
            align_corners=op.align_corners is not None,
            scales=None if op.scales is None else op.scales.get_values(),
            float_positions=op.float_positions is not None,
            outputs=lambda count: floats_of(interpreter).taken_up(counted(count)),
        )
        return (result,)


# Sampling at given positions.


def grid_sample(
    input: Array, grid: Array, *, mode: str, padding_mode: str, align_corners: bool
) -> Array:
    """Sample (n, c, h, w) at the (x, y) positions of (n, out h, out w, 2)."""
    wide = accumulator(input)
    height, width = input.shape[2:]
    border = padding_mode == "border"
    floats = np.float64 if wide.dtype == np.float64 else np.float32
    columns = positions(grid[..., 0].astype(floats), width, align_corners, border)
    rows = positions(grid[..., 1].astype(floats), height, align_corners, border)
    if mode == "nearest":
        return rounded(elements(wide, np.rint(rows), np.rint(columns)), input.dtype)
    result = np.zeros((*input.shape[:2], *grid.shape[1:3]), wide.dtype)
    upper, left = np.floor(rows), np.floor(columns)
    for down, right in product((0, 1), (0, 1)):
        row, column = upper + down, left + right
        weight = (1 - np.abs(rows - row)) * (1 - np.abs(columns - column))
        result += elements(wide, row, column) * weight[:, np.newaxis]
    return rounded(result, input.dtype)


def positions(
    coordinates: NDArray[np.floating], size: int, align_corners: bool, border: bool
) -> NDArray[np.floating]:
    """Turn coordinates from -1 to 1 into positions along an axis, one step outside at the most."""
    shifted = coordinates + 1.0
    if align_corners:
        real = shifted * ((size - 1) / 2)
    else:
        real = shifted * (size / 2) - 0.5
    low, high = (0, size - 1) if border else (-1, size)
    return np.fmin(np.fmax(real, low), high)


def elements(input: Array, rows: NDArray[np.floating], columns: NDArray[np.floating]) -> Array:
    """Take the elements of (n, c, h, w) at rows and columns (n, out h, out w); zero outside."""
    height, width = input.shape[2:]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    row = np.clip(rows, 0, height - 1).astype(np.int64)
    column = np.clip(columns, 0, width - 1).astype(np.int64)
    image = np.arange(input.shape[0], dtype=np.int64).reshape(-1, 1, 1)
    taken = input.transpose(0, 2, 3, 1)[image, row, column]
    return np.where(inside[..., np.newaxis], taken, input.dtype.type(0)).transpose(0, 3, 1, 2)


@register_impls
class GridSampleFunctions(OpFunctions):
    """What the ops of `dialect/graph/grid_sample.py` compute."""

    @impl(GridSampleOp)
    def grid_sample(
        self, interpreter: Interpreter, op: GridSampleOp, args: PythonValues
    ) -> PythonValues:
        result = grid_sample(
            *args,
            mode=op.mode.data,
            padding_mode=op.padding_mode.data,
            align_corners=op.align_corners is not None,
        )
        return (result,)
