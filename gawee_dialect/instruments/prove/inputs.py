"""The numbers that a function is run on: values from data, residues drawn at random."""

import numpy as np

from gawee_dialect.instruments.prove.fresh import is_float
from gawee_dialect.instruments.prove.numbers import Numbers, as_array
from gawee_dialect.instruments.prove.residues import mixed, of_whole_numbers, unpacked
from gawee_dialect.interpreter.arrays import Array


def drawn(array: Array, seed: int) -> Array:
    """Return exact numbers for floats, and anything else as it is.

    A float that is no whole number stands for a variable: its residues are drawn by the seed and by
    its bits, so that equal floats stay equal. Whole numbers, masks of 0 and 1 among them, and what
    is not finite are themselves. Of numbers that were drawn it is a copy, which a run may write.
    """
    if isinstance(array, Numbers):
        return as_array(array.copy())
    if not is_float(array.dtype):
        return array
    value = np.asarray(array).astype(np.float64)
    whole = ~np.isfinite(value) | (value == np.rint(value))
    variables = unpacked(mixed(seed, value.view(np.uint64)))
    residues = np.where(whole, of_whole_numbers(np.where(whole, value, 0.0)), variables)
    return as_array(Numbers(np.concatenate((value[np.newaxis], residues)), array.dtype))
