"""Which number a float constant stands for.

A compiler writes 1/49 as the nearest float, and divides by 49 elsewhere: both mean one fraction.
"""

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.instruments.prove.residues import (
    PRIMES,
    Floats,
    inverse,
    of_whole_numbers,
    reduce_in_place,
)

LARGEST_PRODUCT = 2.0**20
"""How large numerator times denominator may be: a float32 says about as much as 2^24."""

STEPS = 12
"""How many terms of a continued fraction are looked at."""


def fractions_of(values: Floats) -> tuple[Floats, Floats]:
    """Return numerators and denominators: of a simple fraction whose nearest float32 is the value.

    The first such convergent of the continued fraction counts, where numerator times denominator is
    at most LARGEST_PRODUCT. Any other number has denominator 0.
    """
    singles = values.astype(np.float32)
    rest = np.abs(singles.astype(np.float64))
    numerator, denominator = np.ones_like(rest), np.zeros_like(rest)
    numerator_before, denominator_before = np.zeros_like(rest), np.ones_like(rest)
    found_top, found_bottom = np.zeros_like(rest), np.zeros_like(rest)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            term = np.floor(rest)
            numerator, numerator_before = term * numerator + numerator_before, numerator
            denominator, denominator_before = term * denominator + denominator_before, denominator
            small = numerator * denominator <= LARGEST_PRODUCT
            equal = (numerator / denominator).astype(np.float32) == np.abs(singles)
            first = (found_bottom == 0) & small & equal
            found_top = np.where(first, numerator, found_top)
            found_bottom = np.where(first, denominator, found_bottom)
            rest = 1 / (rest - term)
    return np.copysign(found_top, singles), found_bottom


def numbers_of(array: NDArray[np.generic]) -> tuple[Floats, Floats]:
    """Return values and residues of constants; the residues have an axis before the others.

    1. Whole numbers are what they are.
    2. A float32 that is the nearest to a simple fraction is that fraction.
    3. Any other stands for itself, rounded to float32: what passes compute of constants in double
       precision is compared with what they store in single precision.

    What is no finite number has residue 0, and is told by its value.
    """
    values = np.asarray(array).astype(np.float64)
    flat, places = np.unique(values.reshape(-1), return_inverse=True)
    whole = ~np.isfinite(flat) | (flat == np.rint(flat))
    residues = of_whole_numbers(np.where(whole, flat, 0.0))
    rest = np.flatnonzero(~whole)
    if rest.size:
        flat[rest], residues[:, rest] = _of_others(flat[rest])
    return flat[places].reshape(values.shape), residues[:, places].reshape(3, *values.shape)


def _of_others(values: Floats) -> tuple[Floats, Floats]:
    top, bottom = fractions_of(values)
    simple = bottom > 0
    with np.errstate(all="ignore"):
        singles = values.astype(np.float32).astype(np.float64)
        in_range = np.isfinite(singles) & (singles != 0)
        exact = np.where(in_range, singles, values)
        fraction = np.where(simple, top / bottom, exact)
    mantissa, exponent = np.frexp(exact)
    numerator = np.where(simple, top, mantissa * 2.0**53)
    divisor = inverse(of_whole_numbers(np.where(simple, bottom, 1.0)))
    scale = np.where(simple, 1.0, _powers_of_two(np.where(simple, 0, exponent - 53)))
    product = reduce_in_place(of_whole_numbers(numerator) * divisor)
    return fraction, reduce_in_place(product * scale)


def _powers_of_two(exponents: NDArray[np.generic]) -> Floats:
    """Return the residues of 2^e."""
    flat, places = np.unique(exponents, return_inverse=True)
    powers = [[pow(2, int(each), prime) for each in flat] for prime in PRIMES]
    residues = reduce_in_place(np.array(powers, np.float64))
    return residues[:, places].reshape(3, *exponents.shape)
