"""The degree of what a module computes, and what follows from it for two that are compared.

A run that counts has the same values as one on exact numbers, and three counts in the place of the
residues: the degree of a number as a polynomial in the inputs, in what functions return, and in
reciprocals; the largest degree of an argument of a function that it is computed of; and how many
functions lie one in the other. A sum has the larger degree, a product the sum of both, a function's
result degree 1, and a constant 0. Counts are in steps of UNIT: the residues of constants, which are
below 2^21, stand for 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log2

import numpy as np

from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.residues import LEAST, UNIT


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
