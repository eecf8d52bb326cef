"""Sampling at given positions."""

from itertools import product

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.grid_sample import GridSampleOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.precision import accumulator, rounded


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
    """What the ops of `dialect/grid_sample.py` compute."""

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
