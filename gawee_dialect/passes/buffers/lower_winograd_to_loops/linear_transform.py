"""A small constant matrix times a vector of values, with sums and differences shared."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, VectorType, f32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.kernels.winograd import Matrix
from gawee_dialect.hints import isa
from gawee_dialect.upstream.arith import arithmetic

Terms = list[tuple[Fraction, SSAValue]]


def apply_matrix(builder: Builder, matrix: Matrix, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Insert the product of a matrix and a vector of vectors; returns the rows of the result.

    Of vectors of integers the matrix has no numbers but 0, 1 and -1.

    Two columns that agree but for signs are added and subtracted once for all rows. Two rows that
    agree but for signs are the sum and the difference of the parts that have the same and the
    other sign.
    """
    columns = _paired_columns(matrix)
    if columns:
        return [_sum(builder, row) for row in _rows_over_pairs(builder, matrix, values, columns)]
    done: dict[int, SSAValue] = {}
    for index, row in enumerate(matrix):
        if index in done:
            continue
        partner = next(
            (other for other in range(index + 1, len(matrix)) if _mirrors(row, matrix[other])), None
        )
        if partner is None:
            done[index] = _sum(builder, _terms(row, values))
            continue
        same = [a if a == b else Fraction(0) for a, b in zip(row, matrix[partner], strict=True)]
        other = [a if a != b else Fraction(0) for a, b in zip(row, matrix[partner], strict=True)]
        even, odd = _sum(builder, _terms(same, values)), _sum(builder, _terms(other, values))
        done[index], done[partner] = _added(builder, even, odd), _less(builder, even, odd)
    return [done[index] for index in range(len(matrix))]


def _mirrors(row: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
    """Whether rows have the same magnitudes, some with the same sign and some with the other."""
    pairs = [(a, b) for a, b in zip(row, other, strict=True) if a or b]
    magnitudes = all(abs(a) == abs(b) for a, b in pairs)
    return magnitudes and any(a == b for a, b in pairs) and any(a != b for a, b in pairs)


def _paired_columns(matrix: Matrix) -> list[tuple[int, int]]:
    columns = list(zip(*matrix, strict=True))
    pairs: list[tuple[int, int]] = []
    free = list(range(len(columns)))
    while free:
        first = free.pop(0)
        for other in free:
            if _mirrors(columns[first], columns[other]):
                pairs.append((first, other))
                free.remove(other)
                break
    return pairs


def _rows_over_pairs(
    builder: Builder,
    matrix: Matrix,
    values: Sequence[SSAValue],
    pairs: Sequence[tuple[int, int]],
) -> list[Terms]:
    paired = {column for pair in pairs for column in pair}
    sums = {
        (a, b): (
            _added(builder, values[a], values[b]),
            _less(builder, values[a], values[b]),
        )
        for a, b in pairs
    }
    rows: list[Terms] = []
    for row in matrix:
        terms = [(c, values[i]) for i, c in enumerate(row) if c and i not in paired]
        for (a, b), (total, difference) in sums.items():
            if row[a]:
                terms.append((row[a], total if row[a] == row[b] else difference))
        rows.append(terms)
    return rows


def _terms(row: Sequence[Fraction], values: Sequence[SSAValue]) -> Terms:
    return [(c, value) for c, value in zip(row, values, strict=True) if c]


def _sum(builder: Builder, terms: Terms) -> SSAValue:
    """Add multiples of values, those with factor one first."""
    ordered = sorted(terms, key=lambda term: (abs(term[0]) != 1, term[0] < 0))
    factor, total = ordered[0]
    if factor != 1:
        scale = _constant(builder, factor, total)
        total = arithmetic(builder, arith.MulfOp, total, scale)
    for factor, value in ordered[1:]:
        if abs(factor) == 1:
            total = (_added if factor == 1 else _less)(builder, total, value)
        else:
            scale = _constant(builder, factor, value)
            total = arithmetic(builder, math.FmaOp, value, scale, total)
    return total


def _added(builder: Builder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return arithmetic(builder, arith.AddiOp if _is_whole(lhs) else arith.AddfOp, lhs, rhs)


def _less(builder: Builder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return arithmetic(builder, arith.SubiOp if _is_whole(lhs) else arith.SubfOp, lhs, rhs)


def _is_whole(value: SSAValue) -> bool:
    return isa(value.type, VectorType[IntegerType])


def _constant(builder: Builder, value: Fraction, like: SSAValue) -> SSAValue:
    type = like.type
    assert isinstance(type, VectorType)
    return builder.insert(arith.ConstantOp(_splat(float(value), type.get_shape()))).result


@lru_cache(maxsize=256)
def _splat(value: float, shape: tuple[int, ...]) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr.from_list(VectorType(f32, shape), [value])
