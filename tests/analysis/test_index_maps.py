"""Maps over bounded loops: simplified without changing a value, solved exactly or not at all."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser

from gawee_dialect.dialect.affine_range import composed, is_linear, simplified, solve
from gawee_dialect.universe import make_context

BOUNDS = (3, 1, 4)


def map_of(text: str) -> AffineMap:
    attribute = Parser(make_context(), f"affine_map<{text}>").parse_attribute()
    assert isinstance(attribute, AffineMapAttr)
    return attribute.data


def expressions() -> st.SearchStrategy[AffineExpr]:
    leaves = st.one_of(
        st.integers(0, 2).map(AffineExpr.dimension), st.integers(0, 5).map(AffineExpr.constant)
    )

    def grown(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        number = st.integers(1, 6)
        return st.one_of(
            st.builds(lambda a, b: a + b, inner, inner),
            st.builds(lambda a, n: a * n, inner, number),
            st.builds(lambda a, n: a // n, inner, number),
            st.builds(lambda a, n: a % n, inner, number),
            st.builds(lambda a, n: a.ceil_div(n), inner, number),
        )

    return st.recursive(leaves, grown, max_leaves=6)


@settings(max_examples=200)
@given(expr=expressions())
def test_a_simplified_expression_has_the_same_values(expr: AffineExpr) -> None:
    result = simplified(expr, BOUNDS)

    for point in product(*map(range, BOUNDS)):
        assert result.eval(point, ()) == expr.eval(point, ())


def test_a_split_of_joined_axes_is_the_axes() -> None:
    joined = map_of("(i, u, j) -> (i * 4 + j)")

    split = composed(map_of("(x) -> (x floordiv 4, x mod 4)"), joined.results, BOUNDS)

    assert split == map_of("(i, u, j) -> (i, j)")


def test_joined_parts_of_a_split_axis_are_the_axis() -> None:
    split = map_of("(x) -> (x floordiv 4, x mod 4)")

    joined = composed(map_of("(i, j) -> (i * 4 + j)"), split.results, (12,))

    assert joined == map_of("(x) -> (x)")


def test_a_permutation_with_an_offset_is_solved() -> None:
    found = solve(map_of("(n, c) -> (c, n + 1)"), (5, 3), map_of("(i, j) -> (i, j + 2)"), (3, 4))

    assert found == list(map_of("(i, j) -> (j + 1, i)").results)


def test_loops_that_count_an_axis_like_digits_are_solved() -> None:
    found = solve(map_of("(g, c) -> (g * 4 + c)"), (3, 4), map_of("(x) -> (x)"), (12,))

    assert found == list(map_of("(x) -> (x floordiv 4, x mod 4)").results)


def test_nothing_is_solved_outside_of_what_is_there() -> None:
    padded = map_of("(i) -> (i + 1)")
    identity = map_of("(i) -> (i)")

    assert solve(padded, (3,), identity, (5,)) is None  # the first and last are padding
    assert solve(map_of("(i) -> (i * 2)"), (3,), identity, (5,)) is None
    assert solve(map_of("(i, j) -> (i)"), (3, 2), identity, (3,)) is None  # j is any
    assert solve(map_of("(i) -> (i, i)"), (3,), map_of("(i, j) -> (i, j)"), (3, 3)) is None


def test_quotients_and_remainders_are_not_linear() -> None:
    assert is_linear(map_of("(i, j) -> (i * 4 + j + 1, 0)"))
    assert not is_linear(map_of("(i) -> (i floordiv 4)"))
    assert not is_linear(map_of("(i) -> (i mod 4 + 1)"))
