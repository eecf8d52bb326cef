"""Linear forms: the same values as what they are made of, whatever their atoms are."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.affine_range import sum_of, value_range
from gawee_dialect.dialect.linear_form import LinearForm
from gawee_dialect.interpreter.loop_views import element_indices

SIZES = {"i": 3, "j": 1, "k": 5}
BOUNDS = (3, 1, 5)
Form = LinearForm[str]

forms = st.builds(
    lambda constant, terms: Form(constant, {atom: c for atom, c in terms.items() if c}),
    st.integers(-9, 9),
    st.dictionaries(st.sampled_from(sorted(SIZES)), st.integers(-7, 7)),
)


def values(form: Form) -> list[int]:
    """Every value of a form, in one order of the points."""
    return [
        form.constant + sum(c * point[atom] for atom, c in form.terms.items())
        for place in product(*map(range, SIZES.values()))
        for point in [dict(zip(SIZES, place, strict=True))]
    ]


def range_of(atom: str) -> tuple[int, int]:
    return 0, SIZES[atom] - 1


@given(forms, forms, st.integers(-4, 4))
def test_sums_and_multiples_have_the_values_of_their_parts(a: Form, b: Form, factor: int) -> None:
    sums = [x + factor * y for x, y in zip(values(a), values(b), strict=True)]

    total = a + b.scaled(factor)

    assert values(total) == sums
    assert 0 not in total.terms.values()
    assert values(a.plus(factor)) == [x + factor for x in values(a)]


@given(forms)
def test_a_range_is_that_of_all_values(form: Form) -> None:
    assert form.range(range_of) == (min(values(form)), max(values(form)))


@given(forms, st.integers(1, 8))
def test_a_division_is_exact_or_none(form: Form, divisor: int) -> None:
    parts = form.split(divisor, range_of)

    whole, rest = form.parts(divisor)
    assert values(whole.scaled(divisor) + rest) == values(form)
    if parts is not None:
        assert values(parts[0]) == [value // divisor for value in values(form)]
        assert values(parts[1]) == [value % divisor for value in values(form)]


@pytest.mark.parametrize(
    ("form", "parts"),
    [
        (Form(0, {"i": 4, "k": 1}), None),
        (Form(3, {"i": 8, "j": 1}), (Form(0, {"i": 2}), Form(3, {"j": 1}))),
        (Form(9, {"i": 1}), (Form(2), Form(1, {"i": 1}))),
    ],
)
def test_a_division_is_found_where_no_carry_crosses(
    form: Form, parts: tuple[Form, Form] | None
) -> None:
    assert form.split(4, range_of) == parts


def affine() -> st.SearchStrategy[AffineExpr]:
    leaves = st.one_of(
        st.integers(0, 2).map(AffineExpr.dimension), st.integers(-5, 5).map(AffineExpr.constant)
    )

    def grown(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        number = st.integers(1, 6)
        return st.one_of(
            st.builds(lambda a, b: a + b, inner, inner),
            st.builds(lambda a, n: a * n, inner, st.integers(-3, 3)),
            st.builds(lambda a, n: a // n, inner, number),
            st.builds(lambda a, n: a % n, inner, number),
            st.builds(lambda a, n: a.ceil_div(n), inner, number),
        )

    return st.recursive(leaves, grown, max_leaves=6)


@given(affine())
def test_a_range_holds_all_that_the_interpreter_evaluates(expr: AffineExpr) -> None:
    shifted = expr + 10_000  # the interpreter refuses indices below zero
    (indices,) = element_indices(AffineMap(3, 0, (shifted,)), BOUNDS, (20_000,))

    low, high = value_range(expr, BOUNDS)

    assert low <= indices.min() - 10_000
    assert indices.max() - 10_000 <= high


def test_quotient_and_remainder_of_a_dimension_are_that_dimension() -> None:
    d = AffineExpr.dimension(2)

    assert sum_of((d // 4) * 4 + d % 4, BOUNDS) == sum_of(d, BOUNDS)
    assert value_range((d // 4) * 4 + d % 4, BOUNDS) == (0, 4)


@pytest.mark.parametrize("divisor", [0, -2])
def test_a_division_by_no_positive_number_is_refused(divisor: int) -> None:
    with pytest.raises(VerifyException, match="expected a positive constant divisor in a map"):
        value_range(AffineExpr.dimension(0) % divisor, BOUNDS)
