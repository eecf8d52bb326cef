"""The degree of what a module computes, and what follows from it for two that are compared.

A run that counts has the same values as one on exact numbers, and three counts in the place of the
residues: the degree of a number as a polynomial in the inputs, in what functions return, and in
reciprocals; the largest degree of an argument of a function that it is computed of; and how many
functions lie one in the other. A sum has the larger degree, a product the sum of both, a function's
result degree 1, and a constant 0. Counts are in steps of UNIT: the residues of constants, which are
below 2^21, stand for 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.residues import (
    LEAST,
    Along,
    Floats,
    Function,
    Residues,
    Words,
    is_fraction,
    product_of,
)

UNIT = 2.0**40
"""A degree of one, as it stands in the place of a residue."""

NEAR = 1e-9
"""So near to a whole number a value is one, where no residue says whether it is."""


@dataclass(frozen=True)
class Counts(Residues):
    """Counts in the place of residues; what residues decide elsewhere, values do."""

    def linear(self, function: Function, left: Floats, right: Floats) -> Floats:
        counted = np.fmax(left[1:], right[1:])
        if function is np.multiply:
            np.add(left[1], right[1], out=counted[0])
        return np.concatenate((function(left[:1], right[:1]), counted))

    def added(self, data: Floats, add: Along, largest: Along) -> Floats:
        return np.concatenate((add(data[:1]), largest(data[1:])))

    def matmul(self, left: Floats, right: Floats) -> Floats:
        rows, columns = left.max(axis=-1, keepdims=True), right.max(axis=-2, keepdims=True)
        data = self.linear(np.multiply, rows, columns)
        data[0] = product_of(left[0], right[0])
        return data

    def reciprocals(self, residues: Floats) -> Floats:
        return residues

    def variables(self, values: Floats, seed: int) -> Floats:
        none = np.zeros(values.shape)
        return np.stack([np.where(is_fraction(values), UNIT, none), none, none])

    def of_function(self, name: str, operands: Sequence[Floats], shape: Sequence[int]) -> Floats:
        counted = [np.broadcast_to(data[1:], (3, *shape)) for data in operands]
        degree, inner, depth = np.fmax.reduce(counted)
        made = np.stack([np.full(shape, UNIT), np.fmax(inner, degree), depth + UNIT])
        return np.where(degree > UNIT / 2, made, 0.0)

    def equals(self, data: Floats, whole: Floats) -> NDArray[np.bool_]:
        return np.abs(data[0] - whole) < NEAR

    def rank(self, data: Floats) -> Floats:
        return np.zeros(data.shape[1:])

    def words(self, data: Floats) -> Words:
        return data[0].view(np.uint64)


@dataclass(frozen=True)
class Degrees:
    """The largest degrees of some numbers, and of the arguments of functions in them."""

    degree: int = 0
    inner: int = 0
    depth: int = 0

    def joined(self, other: "Degrees") -> "Degrees":
        """Return the larger of each."""
        pairs = (
            (self.degree, other.degree),
            (self.inner, other.inner),
            (self.depth, other.depth),
        )
        return Degrees(*map(max, pairs))

    @property
    def chance(self) -> float:
        """With which probability two such expressions that differ have equal residues, at most.

        By the lemma of Schwartz and Zippel that is d / p modulo one prime, for results, and for
        the arguments of each level of functions, whose results differ where these do.
        """
        of_results, of_arguments = ((each / LEAST) ** 3 for each in (self.degree, self.inner))
        return min(1.0, of_results + self.depth * of_arguments)

    def __str__(self) -> str:
        if not self.chance:
            return "0"
        return "1" if self.chance == 1 else f"2^{log2(self.chance):.0f}"


def degrees_of(outputs: Iterable[object]) -> Degrees:
    """Return the degrees of what a run returned that counts."""
    found = Degrees()
    for each in outputs:
        if isinstance(each, Numbers) and each.size:
            largest = np.rint(np.nan_to_num(each.residues).reshape(3, -1).max(axis=1) / UNIT)
            found = found.joined(Degrees(*(int(count) for count in largest)))
    return found
