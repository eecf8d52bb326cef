"""Which values an affine expression takes over an iteration space, and what it depends on."""

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from gawee_dialect.dialect.types import require


def value_range(expr: AffineExpr, bounds: Sequence[int]) -> tuple[int, int]:
    """Return the least and the greatest value of an affine expression over an iteration space.

    Exact for sums of multiples of dimensions; for quotients and remainders an enclosure.
    """
    match expr:
        case AffineConstantExpr():
            return expr.value, expr.value
        case AffineDimExpr():
            return 0, max(0, bounds[expr.position] - 1)
        case AffineBinaryOpExpr():
            low, high = value_range(expr.lhs, bounds)
            other, last = value_range(expr.rhs, bounds)
            return _binary_range(expr.kind, (low, high), (other, last))
        case _:
            raise AssertionError(f"kernels have no symbols: {expr}")


def _binary_range(
    kind: AffineBinaryOpKind, lhs: tuple[int, int], rhs: tuple[int, int]
) -> tuple[int, int]:
    if kind is AffineBinaryOpKind.Add:
        return lhs[0] + rhs[0], lhs[1] + rhs[1]
    if kind is AffineBinaryOpKind.Mul:
        products = [a * b for a in lhs for b in rhs]
        return min(products), max(products)
    divisor = rhs[0]
    require(rhs[0] == rhs[1] and divisor > 0, "expected a positive constant divisor in a map")
    if kind is AffineBinaryOpKind.FloorDiv:
        return lhs[0] // divisor, lhs[1] // divisor
    if kind is AffineBinaryOpKind.CeilDiv:
        return -(-lhs[0] // divisor), -(-lhs[1] // divisor)
    same = lhs[0] // divisor == lhs[1] // divisor
    return (lhs[0] % divisor, lhs[1] % divisor) if same else (0, divisor - 1)


def used_dims(map: AffineMap) -> set[int]:
    """Return the dimensions that a map depends on."""
    return {
        expr.position
        for result in map.results
        for expr in result.dfs()
        if isinstance(expr, AffineDimExpr)
    }
