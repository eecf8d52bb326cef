"""Resampling."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.precision import accumulator, rounded


def interpolate(
    input: Array,
    *,
    size: Sequence[int],
    mode: str = "nearest",
    align_corners: bool = False,
    scales: Sequence[float] | None = None,
) -> Array:
    """Resample the last two axes of (n, c, h, w) to `size`, one axis after the other."""
    result = accumulator(input)
    for axis, count in zip((2, 3), size, strict=True):
        scale = None if scales is None else scales[axis - 2]
        if mode == "nearest":
            result = result.take(nearest_positions(input.shape[axis], count, scale), axis)
        else:
            positions = linear_positions(input.shape[axis], count, scale, align_corners)
            result = blended(result, positions, axis)
    return rounded(result, input.dtype)


def nearest_positions(size: int, count: int, scale: float | None) -> NDArray[np.int64]:
    """Return the input position of each output: floor(d * in / out), or floor(d / scale).

    Without a scale the quotient is exact, of integers; a scale divides in double precision.
    """
    outputs = np.arange(count, dtype=np.int64)
    if scale is None:
        return outputs * size // count
    return np.minimum(np.floor(outputs / scale).astype(np.int64), size - 1)


def linear_positions(
    size: int, count: int, scale: float | None, align_corners: bool
) -> NDArray[np.float64]:
    """Return the input position, between 0 and size - 1, of each output; in double precision."""
    outputs = np.arange(count, dtype=np.float64)
    if align_corners:
        positions = outputs * ((size - 1) / (count - 1)) if count > 1 else outputs
    else:
        ratio = size / count if scale is None else 1 / scale
        positions = (outputs + 0.5) * ratio - 0.5
    return np.clip(positions, 0, size - 1)


def blended(input: Array, positions: NDArray[np.float64], axis: int) -> Array:
    """Blend each position's two neighbours along an axis, weighted by distance."""
    before = np.floor(positions).astype(np.int64)
    after = np.minimum(before + 1, input.shape[axis] - 1)
    shape = [1] * input.ndim
    shape[axis] = -1
    weight = (positions - before).astype(input.dtype).reshape(shape)
    kept = np.multiply(input.take(before, axis), np.subtract(weight.dtype.type(1), weight))
    return np.add(kept, np.multiply(input.take(after, axis), weight))


@register_impls
class ResizeFunctions(OpFunctions):
    """What the ops of `dialect/resize.py` compute."""

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
        )
        return (result,)
