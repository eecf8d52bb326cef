"""Sums of multiples of atoms: what an index is to ranges, maps, fusion and generated code alike.

An atom is what a sum is taken of: a dimension or a division of an iteration space, a loop counter
of generated code, the number of a vector lane. Only the caller, which made the atoms, can say what values
they take, and what a division is that no sum is equal to.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)
from xdsl.utils.exceptions import VerifyException

Atom = TypeVar("Atom", bound=Hashable)
Range = tuple[int, int]
"""The least and the greatest value."""


@dataclass(frozen=True)
class LinearForm(Generic[Atom]):
    """constant + sum of coefficient * atom; no coefficient is 0."""

    constant: int = 0
    terms: Mapping[Atom, int] = field(default_factory=dict[Atom, int])

    @property
    def is_constant(self) -> bool:
        """Whether there is no atom."""
        return not self.terms

    def __add__(self, other: Self) -> Self:
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + coefficient
        return type(self)(self.constant + other.constant, self.gathered(terms))

    def gathered(self, terms: Mapping[Atom, int]) -> Mapping[Atom, int]:
        """Return the terms of a sum without those of which nothing is left."""
        return {atom: coefficient for atom, coefficient in terms.items() if coefficient}

    def plus(self, number: int) -> Self:
        """Return the sum with a number."""
        return type(self)(self.constant + number, self.terms)

    def scaled(self, factor: int) -> Self:
        """Return a multiple."""
        terms = {atom: c * factor for atom, c in self.terms.items() if factor}
        return type(self)(self.constant * factor, terms)

    def range(self, range_of: Callable[[Atom], Range]) -> Range:
        """Return the least and the greatest value, from those of the atoms."""
        low = high = self.constant
        for atom, coefficient in self.terms.items():
            ends = sorted(coefficient * end for end in range_of(atom))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def parts(self, divisor: int) -> tuple[Self, Self]:
        """Return whole and rest: the form is whole * divisor + rest, all that divides in whole."""
        whole = {a: c // divisor for a, c in self.terms.items() if c % divisor == 0}
        rest = {a: c for a, c in self.terms.items() if c % divisor}
        kind = type(self)
        return kind(self.constant // divisor, whole), kind(self.constant % divisor, rest)

    def split(self, divisor: int, range_of: Callable[[Atom], Range]) -> tuple[Self, Self] | None:
        """Return quotient and remainder of the division that rounds down; None if not linear."""
        whole, rest = self.parts(divisor)
        low, high = (end // divisor for end in rest.range(range_of))
        return (whole.plus(low), rest.plus(-low * divisor)) if low == high else None


class Linear(Protocol):
    """What `evaluate` needs of a linear form, whatever its atoms are."""

    @property
    def constant(self) -> int: ...
    @property
    def is_constant(self) -> bool: ...
    def __add__(self, other: Self) -> Self: ...
    def plus(self, number: int) -> Self: ...
    def scaled(self, factor: int) -> Self: ...


Form = TypeVar("Form", bound=Linear)


def evaluate(
    expr: AffineExpr,
    leaf: Callable[[AffineConstantExpr | AffineDimExpr], Form],
    divide: Callable[[AffineBinaryOpKind, Form, int], Form | None],
) -> Form | None:
    """Return an affine expression as a linear form; None where `divide` returns None.

    `leaf` says what constants and dimensions are, `divide` what floordiv or mod by a number is.
    Raises VerifyException for a divisor that is no positive number.
    """
    if type(expr) is AffineDimExpr or type(expr) is AffineConstantExpr:
        return leaf(expr)
    match expr:
        case AffineBinaryOpExpr(kind=kind):
            lhs, rhs = evaluate(expr.lhs, leaf, divide), evaluate(expr.rhs, leaf, divide)
            return None if lhs is None or rhs is None else _combined(kind, lhs, rhs, divide)
        case _:
            raise AssertionError(f"kernels have no symbols: {expr}")


def _combined(
    kind: AffineBinaryOpKind,
    lhs: Form,
    rhs: Form,
    divide: Callable[[AffineBinaryOpKind, Form, int], Form | None],
) -> Form | None:
    if kind is AffineBinaryOpKind.Add:
        return lhs + rhs
    if kind is AffineBinaryOpKind.Mul:
        assert lhs.is_constant or rhs.is_constant, "xDSL makes no other products"
        return rhs.scaled(lhs.constant) if lhs.is_constant else lhs.scaled(rhs.constant)
    divisor = rhs.constant
    if not (rhs.is_constant and divisor > 0):
        raise VerifyException("expected a positive constant divisor in a map")
    if kind is AffineBinaryOpKind.CeilDiv:
        return divide(AffineBinaryOpKind.FloorDiv, lhs.plus(divisor - 1), divisor)
    return divide(kind, lhs, divisor)
