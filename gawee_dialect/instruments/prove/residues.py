"""Numbers modulo three primes at once, in arrays whose first axis is the prime.

By the Chinese remainder theorem that is arithmetic modulo their product, 2^63. A residue is a whole
number in a float64, of a magnitude below 2^20 + 1: products of two, and sums of 4096 such products,
are exact in float64, so that a matrix product is one call of BLAS.
"""

import ctypes
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isqrt
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import Diagnostic

LIBRARIES = "*openblas*"
"""What the library is called that NumPy's wheels bring; others are left as they are."""

GET, SET = "scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"


@cache
def _library() -> ctypes.CDLL | None:
    folder = Path(np.__file__).parent
    for path in (
        *(folder.parent / "numpy.libs").glob(LIBRARIES),
        *folder.glob(f".dylibs/{LIBRARIES}"),
    ):
        library = ctypes.CDLL(str(path))
        if hasattr(library, GET) and hasattr(library, SET):
            return library
    return None


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Multiply matrices in one thread, for the time of a with block."""
    library = _library()
    if library is None:
        yield
        return
    threads = library[GET]()
    library[SET](1)
    try:
        yield
    finally:
        library[SET](threads)


Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]

Primes: TypeAlias = tuple[int, int, int]

GREATEST: Primes = (2097143, 2097133, 2097131)
"""The greatest primes below 2^21: those of what is no proof by a seed."""

LEAST = 7 << 18
"""Where primes that are drawn begin: some 18,000 are between it and 2^21."""


def primes_of(seed: int) -> Primes:
    """Draw three primes: a pass that adds a multiple of theirs is no pass that others add."""
    generator, found = np.random.default_rng((seed, 21)), dict[int, None]()
    while len(found) < 3:
        number = int(generator.integers(LEAST, 1 << 21)) | 1
        if all(number % each for each in range(3, 1 + isqrt(number), 2)):
            found[number] = None
    first, second, third = found
    return first, second, third


EXACT_TERMS = 4096
"""The most products of two residues whose sum is exact."""

LARGEST_EXACT = float(1 << 52)
"""Below it a double that has no fraction is reduced as it is."""

RANKS = 2.0**21
"""More than a residue is."""

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


# What is computed beside the values: residues, or what a run has in their place (`degrees.py`).

Function: TypeAlias = Callable[[Floats, Floats], Floats]
Along: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Residues:
    """Arithmetic modulo three primes, on data: values, and their residues behind them."""

    primes: Primes = GREATEST

    def linear(self, function: Function, left: Floats, right: Floats) -> Floats:
        """Compute a sum, a difference or a product."""
        return _reduced(function(left, right))

    def added(self, data: Floats, add: Along, largest: Along) -> Floats:
        """Add up as a function does; `largest` finds the largest along the same axes."""
        return _reduced(add(data))

    def matmul(self, left: Floats, right: Floats) -> Floats:
        """Multiply matrices; the sums are cut where they would not be exact."""
        total = np.zeros(())
        for start in range(0, max(1, left.shape[-1]), EXACT_TERMS):
            block = slice(start, start + EXACT_TERMS)
            total = total + _reduced(product_of(left[..., block], right[..., block, :]))
        return _reduced(total)

    def reciprocals(self, residues: Floats) -> Floats:
        """Return the residues of 1 / x."""
        return inverse(residues)

    def variables(self, values: Floats, seed: int) -> Floats:
        """Return residues for floats, by a seed and their bits; whole numbers are themselves."""
        drawn = unpacked(mixed(seed, values.view(np.uint64)))
        fractions = is_fraction(values)
        return np.where(fractions, drawn, of_whole_numbers(np.where(fractions, 0.0, values)))

    def of_function(self, name: str, operands: Sequence[Floats], shape: Sequence[int]) -> Floats:
        """Return residues for a function that is not interpreted: a hash of its operands."""
        words = mixed(crc32(name.encode()), *map(self.words, operands))
        return unpacked(np.broadcast_to(words, shape))

    def equals(self, data: Floats, whole: Floats) -> NDArray[np.bool_]:
        """Whether numbers are some whole ones, whatever rounding did to the values."""
        small = np.abs(whole) < LARGEST_EXACT
        rest = reduce_in_place(data[1:] - np.where(small, whole, 0.0))
        return small & (rest == 0).all(axis=0)

    def rank(self, data: Floats) -> Floats:
        """Return what orders numbers that values do not: it distinguishes two of their residues."""
        first, second, _ = canonical(data[1:])
        return first.astype(np.float64) * RANKS + second.astype(np.float64)

    def words(self, data: Floats) -> Words:
        """Return a word for each number; equal numbers have equal words.

        An infinity is one word each, and all NaN are one: the value distinguishes them.
        """
        value, words = data[0], packed(data[1:])
        finite = np.isfinite(value)
        if finite.all():
            return words
        special = np.where(np.isnan(value), 1, np.where(value > 0, 2, 3))
        return np.where(finite, words, ~special.astype(np.uint64))


LARGE_PRODUCT = 10**8
"""So many multiplications of a matrix product take as long as threads take to begin and end."""


def product_of(left: Floats, right: Floats) -> Floats:
    """Multiply matrices, small ones in one thread."""
    if left.shape[-2] * left.shape[-1] * right.shape[-1] > LARGE_PRODUCT:
        return np.matmul(left, right)
    with one_blas_thread():
        return np.matmul(left, right)


def _reduced(data: Floats) -> Floats:
    reduce_in_place(data[1:])
    return data


def is_fraction(values: Floats) -> NDArray[np.bool_]:
    """Whether floats are finite, and no whole numbers."""
    return np.isfinite(values) & (values != np.rint(values))


_used: list[Residues] = [Residues()]


def current() -> Residues:
    """Return what computes now."""
    return _used[-1]


def primes() -> Primes:
    """Return the primes of now."""
    return _used[-1].primes


@contextmanager
def computed_by(chosen: Residues) -> Generator[None]:
    """Compute by some arithmetic, in all threads, for the time of a with block."""
    _used.append(chosen)
    try:
        yield
    finally:
        _used.pop()


# What is raised where a module cannot be run on exact numbers.


class NotProvable(Exception):
    """A module has an op that has no meaning on exact numbers."""

    def __init__(self, diagnostic: Diagnostic):
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))
