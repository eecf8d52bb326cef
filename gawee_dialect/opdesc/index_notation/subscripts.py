"""Subscripts as sums of multiples of indices: `h*s + i*d - p` is h times s, i times d, and -p."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from gawee_dialect.opdesc.index_notation.syntax import (
    Access,
    Binary,
    Expression,
    Name,
    Number,
    Reduction,
    Unary,
    walk,
)


@dataclass(frozen=True)
class Linear:
    """A sum: of each index times its coefficient, and of a constant, both free of indices."""

    terms: Mapping[str, Expression]
    constant: Expression

    def is_moved(self, index: str) -> bool:
        """Whether the subscript is one index plus a constant."""
        return Linear(self.terms, Number(0, 0)).is_index(index)

    def is_index(self, index: str | None = None) -> bool:
        """Whether the subscript is one index, or a given one, and nothing else."""
        one = all(isinstance(each, Number) and each.value == 1 for each in self.terms.values())
        zero = isinstance(self.constant, Number) and self.constant.value == 0
        found = len(self.terms) == 1 and one and zero
        return found and (index is None or index in self.terms)


def linear(expression: Expression, indices: AbstractSet[str]) -> Linear | None:
    """Return a subscript as a sum of multiples of indices; None where it is none."""
    offset = expression.offset
    zero, one = Number(offset, 0), Number(offset, 1)
    if isinstance(expression, Name) and expression.name in indices:
        return Linear({expression.name: one}, zero)
    if is_free(expression, indices):
        return Linear({}, expression)
    match expression:
        case Unary(operator="-", operand=operand):
            inner = linear(operand, indices)
            return None if inner is None else _scaled(inner, Number(offset, -1))
        case Binary(operator="+" | "-", lhs=lhs, rhs=rhs):
            left, right = linear(lhs, indices), linear(rhs, indices)
            if left is None or right is None:
                return None
            return _sum(left, right if expression.operator == "+" else _negated(right))
        case Binary(operator="*", lhs=lhs, rhs=rhs) if is_free(rhs, indices):
            inner = linear(lhs, indices)
            return None if inner is None else _scaled(inner, rhs)
        case Binary(operator="*", lhs=lhs, rhs=rhs) if is_free(lhs, indices):
            inner = linear(rhs, indices)
            return None if inner is None else _scaled(inner, lhs)
        case _:
            return None


def is_free(expression: Expression, indices: AbstractSet[str]) -> bool:
    """Whether an expression depends on no index and on no element: it is one number."""
    return not any(
        isinstance(each, Access | Reduction) or (isinstance(each, Name) and each.name in indices)
        for each in walk(expression)
    )


def _product(lhs: Expression, rhs: Expression) -> Expression:
    if isinstance(lhs, Number) and isinstance(rhs, Number):
        return Number(lhs.offset, lhs.value * rhs.value)
    for one, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(one, Number) and one.value in (0, 1):
            return other if one.value == 1 else one
    return Binary(lhs.offset, "*", lhs, rhs)


def _total(lhs: Expression, rhs: Expression) -> Expression:
    if isinstance(lhs, Number) and isinstance(rhs, Number):
        return Number(lhs.offset, lhs.value + rhs.value)
    for one, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(one, Number) and one.value == 0:
            return other
    return Binary(lhs.offset, "+", lhs, rhs)


def _scaled(form: Linear, by: Expression) -> Linear:
    terms = {index: _product(each, by) for index, each in form.terms.items()}
    return Linear(terms, _product(form.constant, by))


def _negated(form: Linear) -> Linear:
    return _scaled(form, Number(form.constant.offset, -1))


def _sum(lhs: Linear, rhs: Linear) -> Linear:
    terms = dict(lhs.terms)
    for index, each in rhs.terms.items():
        terms[index] = _total(terms[index], each) if index in terms else each
    return Linear(terms, _total(lhs.constant, rhs.constant))
