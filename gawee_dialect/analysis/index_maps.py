"""Affine expressions over bounded loops: simplified, composed, and solved for their loops."""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from gawee_dialect.dialect.affine_range import sum_of, value_range


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
