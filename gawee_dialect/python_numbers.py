"""Python's numbers as arguments of rank 0, what arguments are arrays, and complex ones as pairs."""

import math
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray


def as_array(value: object, dtype: np.dtype[np.generic]) -> NDArray[np.generic] | None:
    """Return a Python number as an array of rank 0; None where it is none that the dtype holds.

    An integer may stand for a float, rounded; nothing else is converted.
    """
    match value, dtype.kind:
        case bool(), kind:
            fits = kind == "b"
        case int(), "i" | "u":
            limits = np.iinfo(dtype.name)
            fits = limits.min <= value <= limits.max
        case ((int() | float()), "b" | "i" | "u"):
            fits = False
        case ((int() | float()), _):  # bfloat16 is of a kind of its own
            return _rounded(value, dtype)
        case _:
            return None
    return np.array(value, dtype) if fits else None


def _rounded(value: float, dtype: np.dtype[np.generic]) -> NDArray[np.generic] | None:
    try:
        number = float(value)
    except OverflowError:  # an integer that no float holds
        return None
    with np.errstate(over="ignore"):
        array = np.array(number, dtype)
    return array if math.isinf(number) or not np.isinf(array.astype(np.float64)) else None


def is_array(value: object) -> TypeGuard[NDArray[np.generic]]:
    """Whether a value is an array of NumPy."""
    return isinstance(value, np.ndarray)


PARTS = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the parts of complex numbers."""


def parts_of_array(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return complex numbers as pairs in a last axis, in their memory; other arrays as they are."""
    parts = PARTS.get(array.dtype.name)
    return array if parts is None else array[..., np.newaxis].view(parts)


def array_of_parts(array: NDArray[np.generic], dtype: str) -> NDArray[np.generic]:
    """Return pairs as the numbers of a complex dtype; arrays of others as they are."""
    if dtype not in PARTS:
        return array
    return np.ascontiguousarray(array).view(dtype).reshape(array.shape[:-1])
