"""In which precision an op accumulates.

float32 and float64 accumulate in themselves. float16 accumulates in float32 and is rounded once, at
the end of the op, as CPU kernels do; a sum of a few thousand terms would otherwise stop growing.
"""

import numpy as np

from gawee_dialect.interpreter.arrays import Array


def accumulator(array: Array) -> Array:
    """Return the array in the precision that sums of it are taken in."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def rounded(array: Array, dtype: np.dtype[np.generic]) -> Array:
    """Round a result to the IR's element type."""
    return array.astype(dtype, copy=False)
