"""Numbers modulo three primes at once, in arrays whose first axis is the prime.

By the Chinese remainder theorem that is arithmetic modulo their product, 2^63. A residue is a whole
number in a float64, of a magnitude below 2^20 + 1: products of two, and sums of 4096 such products,
are exact in float64, so that a matrix product is one call of BLAS.
"""

from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import Diagnostic

Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]

Primes: TypeAlias = tuple[int, int, int]

GREATEST: Primes = (2097143, 2097133, 2097131)
"""The greatest primes below 2^21: those of what is no proof by a seed."""

LEAST = 7 << 18
"""Where primes that are drawn begin: some 18,000 are between it and 2^21."""

_used: list[Primes] = [GREATEST]


def primes() -> Primes:
    """Return the primes of now."""
    return _used[-1]


def primes_of(seed: int) -> Primes:
    """Draw three primes: a pass that adds a multiple of theirs is no pass that others add."""
    generator, found = np.random.default_rng((seed, 21)), dict[int, None]()
    while len(found) < 3:
        number = int(generator.integers(LEAST, 1 << 21)) | 1
        if all(number % each for each in range(3, 1 + isqrt(number), 2)):
            found[number] = None
    first, second, third = found
    return first, second, third


@contextmanager
def modulo(chosen: Primes) -> Generator[None]:
    """Compute modulo three primes, in all threads, for the time of a with block."""
    _used.append(chosen)
    try:
        yield
    finally:
        _used.pop()


# Runs that count degrees (`degrees.py`): what residues are elsewhere are degrees there.

UNIT = 2.0**40
"""A degree of one, as it stands in the place of a residue."""

_counts: list[bool] = [False]


def counts() -> bool:
    """Whether runs count degrees, and compute no residues."""
    return _counts[-1]


@contextmanager
def counting() -> Generator[None]:
    """Count degrees, in all threads, for the time of a with block."""
    _counts.append(True)
    try:
        yield
    finally:
        _counts.pop()


EXACT_TERMS = 4096
"""The most products of two residues whose sum is exact."""

LARGEST_EXACT = float(1 << 52)
"""Below it a double that has no fraction is reduced as it is."""

_BITS = 21
_MASK = np.uint64((1 << _BITS) - 1)


def _moduli(rank: int) -> Floats:
    return np.array(primes(), np.float64).reshape(3, *(1 for _ in range(rank - 1)))


def reduce_in_place(residues: Floats) -> Floats:
    """Bring whole numbers below 2^53 back to about half their prime, and return the array.

    Next to half a prime either of the two representatives may come out; `canonical` has one.
    """
    moduli = _moduli(residues.ndim)
    quotient = np.multiply(residues, 1 / moduli)
    np.rint(quotient, out=quotient)
    np.multiply(quotient, moduli, out=quotient)
    return np.subtract(residues, quotient, out=residues)


def canonical(residues: Floats) -> Words:
    """Return the representatives from 0 to the prime; what is not finite counts as 0."""
    moduli = _moduli(residues.ndim)
    finite = np.where(np.isfinite(residues), residues, 0.0)
    positive = np.where(finite < 0, finite + moduli, finite)
    return positive.astype(np.uint64)


def packed(residues: Floats) -> Words:
    """Return one word for the three residues of every number: equal words, equal numbers."""
    first, second, third = canonical(residues)
    return first | second << np.uint64(_BITS) | third << np.uint64(2 * _BITS)


def unpacked(words: Words) -> Floats:
    """Return residues that depend on every bit of a word, and are spread as its values are."""
    parts = [np.remainder(words, np.uint64(prime)) for prime in primes()]
    return reduce_in_place(np.stack(parts).astype(np.float64))


def inverse(residues: Floats) -> Floats:
    """Return the inverses; that of 0 is 0. By Fermat's theorem: the power p - 2."""
    results = [
        _power(each, prime - 2, prime) for each, prime in zip(residues, primes(), strict=True)
    ]
    return np.stack(results)


def _power(base: Floats, exponent: int, prime: int) -> Floats:
    result = np.ones_like(base)
    for bit in f"{exponent:b}":
        result = _modulo(result * result, prime)
        if bit == "1":
            result = _modulo(result * base, prime)
    return result


def _modulo(values: Floats, prime: int) -> Floats:
    return values - np.rint(values * (1 / prime)) * prime


def of_whole_numbers(values: Floats) -> Floats:
    """Return the residues of whole numbers of any magnitude; those of what is not finite are 0."""
    finite = np.where(np.isfinite(values), values, 0.0)
    return reduce_in_place(np.stack([np.fmod(finite, prime) for prime in primes()]))


def of_fraction(number: Fraction) -> tuple[int, ...]:
    """Return the residues of a fraction, 0 modulo a prime that divides its denominator."""
    return tuple(
        number.numerator * pow(number.denominator, prime - 2, prime) % prime for prime in primes()
    )


def mixed(*words: Words | int) -> Words:
    """Return a hash of some words, element by element, in which each bit depends on all of theirs.

    By the finalizer of splitmix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number
    Generators), applied after each word.
    """
    state: Words = np.zeros((), np.uint64)
    with np.errstate(over="ignore"):
        for word in words:
            state = _stirred(state ^ np.asarray(word, np.uint64))
    return state


def _stirred(state: Words) -> Words:
    state = np.asarray(state + np.uint64(0x9E3779B97F4A7C15))
    state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ state >> np.uint64(31))


# What is raised where a module cannot be run on exact numbers.


class NotProvable(Exception):
    """A module has an op that has no meaning on exact numbers."""

    def __init__(self, diagnostic: Diagnostic):
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))
