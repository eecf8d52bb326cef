"""Affine expressions over bounded loops: simplified, composed, and solved for their loops."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.dialect.affine_range import value_range

LINEAR_KINDS = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)


@dataclass(frozen=True)
class Sum:
    """constant + sum of coefficient * atom; atoms are loops, quotients and remainders."""

    constant: int = 0
    terms: dict[AffineExpr, int] = field(default_factory=dict[AffineExpr, int])

    def __add__(self, other: "Sum") -> "Sum":
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + coefficient
        _join_divisions(terms)
        return Sum(self.constant + other.constant, {a: c for a, c in terms.items() if c})

    def scaled(self, factor: int) -> "Sum":
        """Return a multiple."""
        terms = {atom: c * factor for atom, c in self.terms.items() if factor}
        return Sum(self.constant * factor, terms)

    def range(self, bounds: Sequence[int]) -> tuple[int, int]:
        """Return the least and the greatest value."""
        return value_range(self.expression(), bounds)

    def divided(self, divisor: int, bounds: Sequence[int]) -> tuple["Sum", "Sum"]:
        """Return quotient and remainder of the division that rounds down."""
        whole = {a: c // divisor for a, c in self.terms.items() if c % divisor == 0}
        rest = Sum(self.constant % divisor, {a: c for a, c in self.terms.items() if c % divisor})
        quotient = Sum(self.constant // divisor, whole)
        low, high = (end // divisor for end in rest.range(bounds))
        if low == high:
            return quotient + Sum(low), rest + Sum(-low * divisor)
        expr = rest.expression()
        return (
            quotient + Sum(terms={_divided(AffineBinaryOpKind.FloorDiv, expr, divisor): 1}),
            Sum(terms={_divided(AffineBinaryOpKind.Mod, expr, divisor): 1}),
        )

    def expression(self) -> AffineExpr:
        """Return the sum as an expression."""
        total: AffineExpr | None = None
        for atom, coefficient in self.terms.items():
            part = atom if coefficient == 1 else atom * coefficient
            total = part if total is None else total + part
        if total is None:
            return AffineExpr.constant(self.constant)
        return total + self.constant if self.constant else total


def _divided(kind: AffineBinaryOpKind, expr: AffineExpr, divisor: int) -> AffineExpr:
    return AffineBinaryOpExpr(kind, expr, AffineExpr.constant(divisor))


def _join_divisions(terms: dict[AffineExpr, int]) -> None:
    """n * (x floordiv n) + x mod n -> x, where x is one loop"""
    for atom, coefficient in tuple(terms.items()):
        if not isinstance(atom, AffineBinaryOpExpr) or atom.kind is not AffineBinaryOpKind.Mod:
            continue
        quotient = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, atom.lhs, atom.rhs)
        divisor = atom.rhs
        assert isinstance(divisor, AffineConstantExpr)
        if isinstance(atom.lhs, AffineDimExpr) and (
            terms.get(quotient) == coefficient * divisor.value
        ):
            del terms[atom], terms[quotient]
            terms[atom.lhs] = terms.get(atom.lhs, 0) + coefficient


def sum_of(expr: AffineExpr, bounds: Sequence[int]) -> Sum:
    """Return an expression as a sum in which no part is left that the bounds decide.

    A loop of one point is 0.
    """
    match expr:
        case AffineConstantExpr():
            return Sum(expr.value)
        case AffineDimExpr():
            return Sum() if bounds[expr.position] == 1 else Sum(terms={expr: 1})
        case AffineBinaryOpExpr():
            return _combined(expr.kind, sum_of(expr.lhs, bounds), sum_of(expr.rhs, bounds), bounds)
        case _:
            raise AssertionError(f"kernels have no symbols: {expr}")


def _combined(kind: AffineBinaryOpKind, lhs: Sum, rhs: Sum, bounds: Sequence[int]) -> Sum:
    if kind is AffineBinaryOpKind.Add:
        return lhs + rhs
    if kind is AffineBinaryOpKind.Mul:
        return rhs.scaled(lhs.constant) if not lhs.terms else lhs.scaled(rhs.constant)
    divisor = rhs.constant
    if kind is AffineBinaryOpKind.CeilDiv:
        return (lhs + Sum(divisor - 1)).divided(divisor, bounds)[0]
    quotient, remainder = lhs.divided(divisor, bounds)
    return quotient if kind is AffineBinaryOpKind.FloorDiv else remainder


def simplified(expr: AffineExpr, bounds: Sequence[int]) -> AffineExpr:
    """Return an equal expression of fewer parts; a loop alone stays, even if it has one point."""
    return expr if isinstance(expr, AffineDimExpr) else sum_of(expr, bounds).expression()


def composed(map: AffineMap, dims: Sequence[AffineExpr], bounds: Sequence[int]) -> AffineMap:
    """Return the map that reads `map` at `dims`, expressions over loops with these bounds."""
    results = (simplified(expr.replace_dims_and_symbols(dims, ()), bounds) for expr in map.results)
    return AffineMap(len(bounds), 0, tuple(results))


def is_linear(map: AffineMap) -> bool:
    """Whether a map has no quotient and no remainder."""
    return all(
        inner.kind in LINEAR_KINDS
        for expr in map.results
        for inner in expr.dfs()
        if isinstance(inner, AffineBinaryOpExpr)
    )


def solve(
    map: AffineMap, own_bounds: Sequence[int], targets: AffineMap, bounds: Sequence[int]
) -> list[AffineExpr] | None:
    """Find where `map`, over loops of its own, gives the same as `targets` over other loops.

    Returns each loop of `map` as an expression over the loops of `targets`, None where there is no
    such expression for each point of theirs.

    `(n, c) -> (c, n + 1)` against `(i, j) -> (i, j + 1)` gives n = j, c = i.
    """
    found: list[AffineExpr | None] = [None] * map.num_dims
    for expr, target in zip(map.results, targets.results, strict=True):
        for dim, value in _solve_axis(expr, own_bounds, target, bounds).items():
            if found[dim] is None:
                found[dim] = value
    solution: list[AffineExpr] = []
    for value, size in zip(found, own_bounds, strict=True):
        if value is None and size != 1:
            return None
        value = AffineExpr.constant(0) if value is None else value
        low, high = value_range(value, bounds)
        if low < 0 or high >= size:
            return None
        solution.append(value)
    again = composed(map, solution, bounds)
    same = all(
        sum_of(expr, bounds) == sum_of(target, bounds)
        for expr, target in zip(again.results, targets.results, strict=True)
    )
    return solution if same else None


def _solve_axis(
    expr: AffineExpr, own_bounds: Sequence[int], target: AffineExpr, bounds: Sequence[int]
) -> dict[int, AffineExpr]:
    """Solve for the loops of one axis: the one alone, or those that count it like digits."""
    if isinstance(expr, AffineDimExpr):
        return {expr.position: target}
    own = sum_of(expr, own_bounds)
    rest = sum_of(target, bounds) + Sum(-own.constant)
    found: dict[int, AffineExpr] = {}
    for atom, coefficient in sorted(own.terms.items(), key=lambda term: -term[1]):
        if not isinstance(atom, AffineDimExpr) or coefficient <= 0:
            return found
        quotient, rest = rest.divided(coefficient, bounds)
        found[atom.position] = quotient.expression()
    return found
