"""Sums of array elements along axes, as every op means them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


def total_dtype(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """Return what sums of a dtype are taken in: float64 for float32, its own for any other."""
    return np.dtype(np.float64) if dtype == np.float32 else dtype


def sum_along(array: Array, axes: int | Sequence[int], *, keep_dims: bool = True) -> Array:
    """Add up the elements along axes; integers wrap around, float32 is rounded once, at the end."""
    along = axes if isinstance(axes, int) else tuple(axes)
    total = np.add.reduce(array, axis=along, dtype=total_dtype(array.dtype), keepdims=keep_dims)
    return total.astype(array.dtype, copy=False)
