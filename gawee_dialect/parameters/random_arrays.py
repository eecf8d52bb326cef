"""Seeded arrays for what nobody gives."""

from collections.abc import Sequence

import numpy as np

from gawee_dialect.parameters.store import Array


def random_array(
    shape: Sequence[int], dtype: np.dtype[np.generic], generator: np.random.Generator
) -> Array:
    """Return standard normal floats, bits for bool, or integers from 0 to 9."""
    if dtype.kind == "f":
        return np.asarray(generator.standard_normal(shape)).astype(dtype)
    high = 2 if dtype.kind == "b" else 10
    return np.asarray(generator.integers(0, high, shape)).astype(dtype)
