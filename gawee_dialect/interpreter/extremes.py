"""The least and the greatest of floats as IEEE 754-2019 has them: NaN is handed on, -0 is below 0.

NumPy's functions hand on NaN too, and return either of two zeros.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from gawee_dialect.dialect.arrays import OtherNumbers
from gawee_dialect.interpreter.arrays import Array


class Extreme:
    """A function of two arrays, and of an array along axes, as NumPy's functions are."""

    def __init__(self, usual: np.ufunc, signs: np.ufunc) -> None:
        self._usual = usual
        self._signs: Final = signs
        """Whether a result of 0 is negative, by the signs of what it is the least or greatest of.

        Numbers beside the least, which is 0, have no sign; beside the greatest all have one.
        """

    def __call__(self, lhs: Array, rhs: Array) -> Array:
        result = self._usual(lhs, rhs)
        if not _has_zeros(result):
            return result
        return _signed(result, self._signs(np.signbit(lhs), np.signbit(rhs)))

    def reduce(
        self,
        array: Array,
        axis: Sequence[int],
        dtype: np.dtype[np.generic],
        keepdims: bool,
    ) -> Array:
        """Return the least or the greatest along axes."""
        axes = tuple(axis)
        result = self._usual.reduce(array, axis=axes, dtype=dtype, keepdims=keepdims)
        if not _has_zeros(result):
            return result
        signs = self._signs.reduce(np.signbit(array), axis=axes, keepdims=keepdims)
        return _signed(result, signs)


def _has_zeros(result: Array) -> bool:
    """Whether an array has zeros; what is not NumPy's says itself which zero is which."""
    return not isinstance(result, OtherNumbers) and not np.all(result)


def _signed(result: Array, is_negative: Array) -> Array:
    zeros = np.copysign(np.zeros_like(result), np.where(is_negative, -1, 1).astype(result.dtype))
    return np.where(result == 0, zeros, result)


minimum = Extreme(np.minimum, np.logical_or)
maximum = Extreme(np.maximum, np.logical_and)
