"""Shapes and element types that follow from equations, and those that do not fit."""

from collections.abc import Mapping

import pytest
from xdsl.dialects.builtin import f16, f32, f64, i1, i32, i64

from gawee_dialect.equations.functions import ParameterValue
from gawee_dialect.equations.instance import Misfit, Type
from tests.opdesc.index_notation.bodies import CONV, body, instance


def shape(
    text: str, parameters: Mapping[str, ParameterValue] | None = None, **shapes: tuple[int, ...]
) -> object:
    return instance(text, parameters, **shapes).outputs[0].shape


def misfit(
    text: str, parameters: Mapping[str, ParameterValue] | None = None, **shapes: tuple[int, ...]
) -> str:
    with pytest.raises(Misfit) as caught:
        instance(text, parameters, **shapes)
    return f"{caught.value.place}: {caught.value.message} hint: {caught.value.hint}"


def test_windows_give_the_sizes_of_convolutions() -> None:
    moves = {"s": 2, "d": 3, "p": 4, "q": 1}
    # (13 + 2*4 - 3*(3 - 1) - 1) // 2 + 1 and (11 + 2*1 - 3*(2 - 1) - 1) // 2 + 1
    assert shape(CONV, moves, x=(2, 5, 13, 11), k=(7, 5, 3, 2), b=(7,)) == (2, 7, 8, 5)


def test_limits_say_sizes_that_no_axis_has() -> None:
    text = """int p = 0, s = 2
    y[c, h < (size(x, 1) - 1)*s - 2*p + size(i)] =
        sum(i if (h + p - i) % s == 0) x[c, (h + p - i) // s] * k[i]"""
    assert shape(text, {"p": 1}, x=(3, 5), k=(4,)) == (3, 10)


def test_a_wildcard_stands_for_the_axes_that_are_left() -> None:
    text = "m[...] = sum(c) x[..., c] / size(c); y[..., c] = (x[..., c] - m[...]) * w[c]"
    assert shape(text, x=(2, 3, 5), w=(5,)) == (2, 3, 5)
    assert shape(text, x=(5,), w=(5,)) == (5,)
    assert shape("y[] = sum(...) x[...] / size(...)", x=(2, 3)) == ()


def test_steps_along_an_index_read_what_is_made() -> None:
    text = "h[t, n, k] = tanh(x[t, n, k] + sum(j) h[t-1, n, j else h0[n, j]] * w[k, j])"
    found = instance(text, x=(7, 2, 5), h0=(2, 5), w=(5, 5))

    assert found.outputs[0] == Type((7, 2, 5), f32)
    assert [(step.along, step.backward) for step in found.steps] == [("t", False)]
    (step,) = instance("y[t] = y[t+1] + x[t]", x=(4,)).steps
    assert (step.along, step.backward) == ("t", True)


def test_equations_that_need_each_other_go_along_one_index() -> None:
    text = """a[t, i] = b[t-1, i] + x[t, i]
    b[t, i] = a[t, i] * 2
    y[t, i] = a[t, i] + b[t, i]"""
    found = instance(text, x=(4, 3))

    assert [len(step.equations) for step in found.steps] == [2, 1]
    assert [step.along for step in found.steps] == ["t", None]


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("y[i] = x[i] * 2", f16),
        ("y[i] = x[i] > 2", i1),
        ("y[i] = f64(x[i]) + w[i]", f64),
        ("y[i] = f32(n[i]) + size(i)", f32),
        ("y[i] = n[i] * 2", i32),
        ("y[i] = x[i] > 0 ? i : 0", i64),
        ("y[i] = int(x[i])", i64),
        ("y[i] = float(n[i]) * x[i]", f16),
        ("y[i] = x[i] * 0 + i / 2", f16),
        ("y[i < size(x, 0)] = i / 2", f16),
        ("y[i] = any(j) (x[j] == x[i])", i1),
        ("y[i] = y[i-1] + n[i]", i32),
    ],
)
def test_element_types_follow_from_what_is_combined(text: str, element: object) -> None:
    known = {"x": Type((3,), f16), "w": Type((3,), f64), "n": Type((3,), i32)}
    inputs = {name: known[name] for name in body(text).program.inputs}
    assert body(text).instance(inputs, {}).outputs[0].element == element


VECTORS: dict[str, Type] = {
    "x": Type((5,), f32),
    "z": Type((4,), f32),
    "n": Type((5,), i32),
    "w": Type((3, 4), f32),
    "b": Type((5,), i1),
}

MISFITS = {
    "y[i] = x[i] + z[i]": "b:1:15: expected index 'i' to have one size, got 5 (axis 0 of 'x') and 4",
    "y[i] = x[i+1] - x[i-1]": "expected index 'i' to have one size, got 4 by 'x[i + 1]' and 7 by",
    "y[i] = x[i+1] - x[i]": "expected 'i + 1' to stay in axis 0 of 'x' of size 5, got 1 to 5",
    "y[i < 7] = x[i]": "expected 'i' to stay in axis 0 of 'x' of size 5, got 0 to 6",
    "y[i < 0] = x[i]": "expected at least one value of index 'i', got 0 by 'i < 0'",
    "y[i] = x[i + 9]": "expected at least one value of index 'i', got -4 by axis 0 of 'x' of shape",
    "y[i] = w[i]": "expected 'w' of 1 dimensions, got [3, 4]",
    "y[i, ..., j] = x[i, ..., j]": "expected 'x' of at least 2 dimensions, got [5]",
    "y[...] = x[...] + z[...]": "expected '...' to stand for the same sizes, got [5] of 'x' and [4]",
    "y[i] = x[5 - i]": "expected a multiple of index 'i' of at least 1, got -1",
    "y[i < size(x, 1)] = x[0]": "expected 'x' of more than 1 dimensions, got 1",
    "y[i < 1 // 0] = x[i]": "expected a divisor other than 0, got 1 // 0",
    "y[i < 2 ** 99] = x[i]": "expected a power of 0 to 64, got 99",
    "y[i < 2 ** 64] = x[i]": "expected an integer of at most 63 bits",
    "y[i < int((0 - 8.0) ** 0.5)] = x[i]": "cannot compute -8.0 ** 0.5",
    "y[i < 2.5] = x[i]": "expected an integer, got 2.5 hint: a // b rounds down",
    "y[i < int(erf(1))] = x[i]": "unsupported function 'erf' in a size; supported: max, min",
    "y[i < int(log(0))] = x[i]": "cannot compute log(0)",
    "y[i < int(x[0])] = x[i]": "expected a number that is known beforehand",
    "y[i < 2 ** 21, j < 2 ** 21] = x[0]": "expected 'y' of at most 1099511627776 elements",
    "y[i] = x[x[i]]": "expected 'x[i]' to be an integer, got f32",
    "y[i] = x[i] && b[i]": "expected 'x[i]' to be a condition, got f32",
    "y[i] = -b[i]": "expected 'b[i]' to be a number, got a condition",
    "y[i] = x[i] + n[i]": "expected operands of one type, got f32 and i32 in 'x[i] + n[i]'",
    "y[i] = n[i] * 0.5": "expected operands of one type, got i32 and a float",
    "y[i] = x[i] % 2": "expected integers beside '%', got f32 hint: floor(a / b)",
    "y[i] = n[i] / 2": "expected floats in 'n[i] / 2', got i32",
    "y[i] = exp(n[i])": "expected floats in 'exp(n[i])', got i32",
    "y[i] = sum(j) b[j] * n[i]": "expected 'b[j]' to be a number, got a condition",
    "y[t] = f64(y[t-1]) + x[t] * 0 + 1": "expected operands of one type, got f64 and f32",
    "require size(x, 0) % 2 == 0; y[i] = x[i]": "expected 'size(x, 0) % 2 == 0', got size(x, 0) = 5",
    'int g = 3; require g == 2, "two groups"; y[i] = x[i]': "expected two groups, got g = 3",
    "int g; y[i] = x[i*g]": "expected a parameter 'g', got none",
    "a[t] = b[t-1] + x[t]; b[t] = a[t-1] + z[t]": "expected 't' to have one size, got 5 in 'a'",
}


@pytest.mark.parametrize("text", MISFITS)
def test_what_does_not_fit_is_named_with_its_values(text: str) -> None:
    read = body(text)
    with pytest.raises(Misfit) as caught:
        read.instance({name: VECTORS[name] for name in read.program.inputs}, {})
    found = f"{caught.value.place}: {caught.value.message} hint: {caught.value.hint}"
    assert MISFITS[text] in found


def test_what_leaves_an_axis_may_say_what_is_read_there() -> None:
    assert shape("y[i < 7] = x[i else 0]", x=(5,)) == (7,)
    assert shape("y[i < 9] = x[i else z[i - size(x, 0)]]", x=(5,), z=(4,)) == (9,)
    assert "stay in axis 0 of 'z' of size 4" in misfit("y[i < 9] = x[i else z[i]]", x=(5,), z=(4,))
