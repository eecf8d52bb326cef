"""Affine expressions over an iteration space: as sums, what values they take, what they depend on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.dialect.linear_form import LinearForm, Range, evaluate

LINEAR_KINDS = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)


@dataclass(frozen=True)
class AffineSum(LinearForm[AffineExpr]):
    """A sum of multiples of dimensions, and of quotients and remainders that are no sums."""

    def gathered(self, terms: Mapping[AffineExpr, int]) -> Mapping[AffineExpr, int]:
        joined = dict(terms)
        _join_divisions(joined)
        return super().gathered(joined)

    def divided(self, divisor: int, bounds: Sequence[int]) -> tuple["AffineSum", "AffineSum"]:
        """Return quotient and remainder of the division that rounds down."""
        parts = self.split(divisor, lambda atom: value_range(atom, bounds))
        if parts is not None:
            return parts
        whole, rest = self.parts(divisor)
        expr, by = rest.expression(), AffineExpr.constant(divisor)
        quotient = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, expr, by)
        remainder = AffineBinaryOpExpr(AffineBinaryOpKind.Mod, expr, by)
        return whole + AffineSum(terms={quotient: 1}), AffineSum(terms={remainder: 1})

    def expression(self) -> AffineExpr:
        """Return the sum as an expression."""
        total: AffineExpr | None = None
        for atom, coefficient in self.terms.items():
            part = atom if coefficient == 1 else atom * coefficient
            total = part if total is None else total + part
        if total is None:
            return AffineExpr.constant(self.constant)
        return total + self.constant if self.constant else total


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


def sum_of(expr: AffineExpr, bounds: Sequence[int]) -> AffineSum:
    """Return an expression as a sum in which no part is left that the bounds decide.

    A loop of one point is 0. Raises VerifyException where the expression is not affine.
    """

    def leaf(part: AffineConstantExpr | AffineDimExpr) -> AffineSum:
        if isinstance(part, AffineConstantExpr):
            return AffineSum(part.value)
        return AffineSum() if bounds[part.position] == 1 else AffineSum(terms={part: 1})

    def divide(kind: AffineBinaryOpKind, form: AffineSum, divisor: int) -> AffineSum:
        quotient, remainder = form.divided(divisor, bounds)
        return quotient if kind is AffineBinaryOpKind.FloorDiv else remainder

    found = evaluate(expr, leaf, divide)
    assert found is not None
    return found


def value_range(expr: AffineExpr, bounds: Sequence[int]) -> Range:
    """Return the least and the greatest value of an affine expression over an iteration space.

    Exact for sums of multiples of dimensions; for quotients and remainders an enclosure. Raises
    VerifyException where the expression is not affine.
    """
    match expr:
        case AffineDimExpr():
            return 0, max(bounds[expr.position] - 1, 0)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=AffineConstantExpr(value=divisor)) if (
            kind not in LINEAR_KINDS and divisor > 0
        ):
            return _range_of_division(kind, value_range(lhs, bounds), divisor)
        case _:
            return sum_of(expr, bounds).range(lambda atom: value_range(atom, bounds))


def _range_of_division(kind: AffineBinaryOpKind, values: Range, divisor: int) -> Range:
    low, high = values
    if kind is AffineBinaryOpKind.FloorDiv:
        return low // divisor, high // divisor
    if kind is AffineBinaryOpKind.CeilDiv:
        return -(-low // divisor), -(-high // divisor)
    same = low // divisor == high // divisor
    return (low % divisor, high % divisor) if same else (0, divisor - 1)


def is_linear(map: AffineMap) -> bool:
    """Whether a map has no quotient and no remainder."""
    return all(
        inner.kind in LINEAR_KINDS
        for expr in map.results
        for inner in expr.dfs()
        if isinstance(inner, AffineBinaryOpExpr)
    )


def used_dims(map: AffineMap) -> set[int]:
    """Return the dimensions that a map depends on."""
    return {
        expr.position
        for result in map.results
        for expr in result.dfs()
        if isinstance(expr, AffineDimExpr)
    }


def simplified(expr: AffineExpr, bounds: Sequence[int]) -> AffineExpr:
    """Return an equal expression of fewer parts; a loop alone stays, even if it has one point."""
    return expr if isinstance(expr, AffineDimExpr) else sum_of(expr, bounds).expression()


def composed(map: AffineMap, dims: Sequence[AffineExpr], bounds: Sequence[int]) -> AffineMap:
    """Return the map that reads `map` at `dims`, expressions over loops with these bounds."""
    return _composed(map, tuple(dims), tuple(bounds))


# A network has the same maps again and again.
@lru_cache(maxsize=4096)
def _composed(map: AffineMap, dims: tuple[AffineExpr, ...], bounds: tuple[int, ...]) -> AffineMap:
    results = (simplified(expr.replace_dims_and_symbols(dims, ()), bounds) for expr in map.results)
    return AffineMap(len(bounds), 0, tuple(results))


def solve(
    map: AffineMap, own_bounds: Sequence[int], targets: AffineMap, bounds: Sequence[int]
) -> list[AffineExpr] | None:
    """Find where `map`, over loops of its own, gives the same as `targets` over other loops.

    Returns each loop of `map` as an expression over the loops of `targets`, None where there is no
    such expression for each point of theirs.

    `(n, c) -> (c, n + 1)` against `(i, j) -> (i, j + 1)` gives n = j, c = i.
    """
    found = _solution(map, tuple(own_bounds), targets, tuple(bounds))
    return None if found is None else list(found)


@lru_cache(maxsize=4096)
def _solution(
    map: AffineMap, own_bounds: tuple[int, ...], targets: AffineMap, bounds: tuple[int, ...]
) -> tuple[AffineExpr, ...] | None:
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
    return tuple(solution) if same else None


def _solve_axis(
    expr: AffineExpr, own_bounds: Sequence[int], target: AffineExpr, bounds: Sequence[int]
) -> dict[int, AffineExpr]:
    """Solve for the loops of one axis: the one alone, or those that count it like digits."""
    if isinstance(expr, AffineDimExpr):
        return {expr.position: target}
    own = sum_of(expr, own_bounds)
    rest = sum_of(target, bounds).plus(-own.constant)
    found: dict[int, AffineExpr] = {}
    for atom, coefficient in sorted(own.terms.items(), key=lambda term: -term[1]):
        if not isinstance(atom, AffineDimExpr) or coefficient <= 0:
            return found
        quotient, rest = rest.divided(coefficient, bounds)
        found[atom.position] = quotient.expression()
    return found
