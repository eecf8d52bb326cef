"""Arrays that an interpreted op makes: exact numbers for floats, plain arrays for all else."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute

from gawee_dialect.instruments.prove.numbers import Numbers, as_array
from gawee_dialect.interpreter.arrays import (
    Array,
    attribute_value,
    dtype_of,
    fresh_array,
)


def is_float(dtype: np.dtype[np.generic]) -> bool:
    """Whether a dtype is one of floats, bfloat16 included."""
    return dtype.kind in "fV" or dtype.name == "bfloat16"


def filled(shape: Sequence[int], fill: Array | float, dtype: np.dtype[np.generic]) -> Array:
    """Return an array of one number."""
    plain = np.full(shape, fill, dtype)
    return as_array(Numbers.constants(plain, dtype)) if is_float(dtype) else plain


def unwritten(type: Attribute, sizes: Sequence[Array] = ()) -> Array:
    """Return an array of a type that nothing was written to, of given sizes where it is dynamic."""
    plain = fresh_array(type, sizes)
    dtype = dtype_of(type)
    return as_array(Numbers.unwritten(plain.shape, dtype)) if is_float(dtype) else plain


def constant(value: Attribute, type: Attribute) -> Array:
    """Return what a constant attribute stands for."""
    plain = attribute_value(value, type)
    dtype = dtype_of(type)
    return as_array(Numbers.constants(plain, dtype)) if is_float(dtype) else plain
