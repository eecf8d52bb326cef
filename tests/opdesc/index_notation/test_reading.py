"""Index notation as text: what it means, and what is refused, with the place of every problem."""

import gc
import time

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.equations.parse import IndexNotationError
from gawee_dialect.equations.syntax import spelled
from tests.opdesc.index_notation.bodies import CONV, body


def value(text: str) -> str:
    (definition,) = body(f"int a = 1, b = 2, c = 3\n y[i < 3] = {text}").program.definitions
    return spelled(definition.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b*c - x[i]", "a + b*c - x[i]"),
        ("(a + b) * c", "(a + b)*c"),
        ("a - (b - c)", "a - (b - c)"),
        ("-a ** 2", "-a**2"),
        ("2 ** -a", "2**(-a)"),
        ("a // b % c", "a // b % c"),
        ("a < b && !(b == c) || c > 1 ? x[i] : 0", "a < b && !(b == c) || c > 1 ? x[i] : 0"),
        ("sum(j) x[j] * z[j, i] + b", "sum(j) x[j]*z[j, i] + b"),
        ("sum(j) (x[j] + 1)", "sum(j) (x[j] + 1)"),
        ("max(x[i], 0)", "max(x[i], 0)"),
        ("max(j) x[j]", "max(j) x[j]"),
        ("min(j < 3, k < a if j <= k) x[j + k]", "min(j < 3, k < a if j <= k) x[j + k]"),
        ("x[i - 1 else -inf]", "x[i - 1 else -inf]"),
        ("x[i]\n   + 1 # the line before goes on", "x[i] + 1"),
        ("x[i] +\n\n  1", "x[i] + 1"),
        ("size(x, 0) * size(i) * 1e-5", "size(x, 0)*size(i)*1e-05"),
    ],
)
def test_operators_bind_as_in_python_and_a_reduction_takes_the_product_behind_it(
    text: str, expected: str
) -> None:
    assert value(text) == expected
    assert value(expected) == expected


def test_arguments_follow_from_the_equations() -> None:
    program = body(CONV).program

    assert program.inputs == ["x", "k", "b"]
    assert program.outputs == ["y"]
    assert [(each.name, each.default) for each in program.parameters] == [
        ("s", 1),
        ("d", 1),
        ("p", 0),
        ("q", 0),
    ]


def test_declared_inputs_and_results_are_in_their_order() -> None:
    program = body("inputs w, x; return b, a; a[i] = x[i] * w[i]; b[i] = a[i] + 1").program

    assert (program.inputs, program.outputs) == (["w", "x"], ["b", "a"])


PROBLEMS = {
    "y[i] = x[i": "1:11: error: expected ']', got the end of the statement",
    "y = x[i]": "1:3: error: expected '[' behind 'y', got '='",
    "y[i] x[i]": "1:6: error: expected '=', got 'x'",
    "y[i] = x[i] x[i]": "1:13: error: expected the end of the statement, got 'x'",
    "y[i] = $": "1:8: error: expected index notation, got '$'",
    "": "1:1: error: expected an equation such as y[n] = x[n], got none",
    "int s": "1:1: error: expected an equation such as y[n] = x[n], got none",
    "3": "1:1: error: expected a statement, got '3'",
    "if[i] = 1": "1:1: error: expected a statement, got 'if'",
    "y[i] = else": "1:8: error: expected an expression, got 'else'",
    "y[i] = x[*]": "1:10: error: expected an expression, got '*'",
    "y[if] = x[i]": "1:3: error: expected a name, got 'if', which has a meaning",
    "int s = 1.5; y[i] = x[i*s]": "1:9: error: expected an integer, got 1.5",
    "int s = ; y[i] = x[i]": "1:9: error: expected a number, got the end of the statement",
    "bool s = 1; y[i] = x[i]": "1:10: error: expected true or false, got '1'",
    "int s[2] = [1]; y[i] = x[i]": "1:12: error: expected 2 elements, got 1",
    "int s[99] = [1]; y[i] = x[i]": "1:5: error: expected an array of 1 to 16 elements, got 99",
    "int s[1.5] = [1]; y[i] = x[i]": "1:7: error: expected an integer, got 1.5",
    "y[i] = 1e999": "1:8: error: expected a finite number, got 1e999",
    "y[i] = 1234567890123456789": "1:8: error: expected a number of at most 18 digits, got 19",
    "require 1, 2; y[i] = x[i]": "1:12: error: expected a message in quotes, got '2'",
    "y[i] = foo(x[i])": "1:8: error: unknown function 'foo'",
    "y[i] = sqr(x[i])": "hint: did you mean 'sqrt'?",
    "y[i] = max(x[i], 1, 2)": "1:8: error: expected 2 arguments of 'max', got 3",
    "y[i] = exp(1, 2)": "1:8: error: expected 1 argument of 'exp', got 2",
    "int stride = 2; y[i] = x[i*strid]": "1:28: error: unknown name 'strid'\nhint: did you mean",
    "y[i] = x[i] + x": "hint: an element of a tensor has subscripts: x[...]",
    "y[i] = x[j]": "hint: an index is bound by = or sum(i), a parameter declared: int j = 1",
    "inputs bias; y[i] = bais[i]": "1:21: error: unknown tensor 'bais'\nhint: did you mean 'bias'?",
    "inputs x, z; y[i] = x[i]": "1:11: error: expected input 'z' to be read, it is not",
    "inputs x, x; y[i] = x[i]": "1:11: error: expected inputs to differ, got 'x' twice",
    "inputs x; inputs x; y[i] = x[i]": "1:11: error: expected inputs to be declared once, got",
    "inputs y; y[i] = x[i]": "1:8: error: expected input 'y' not to be defined by an equation",
    "return z; y[i] = x[i]": "1:8: error: expected an equation for output 'z', got none",
    "return y, y; y[i] = x[i]": "1:11: error: expected outputs to differ, got 'y' twice",
    "return y; return y; y[i] = x[i]": "1:11: error: expected outputs to be declared once, got",
    "return y; m[i] = x[i]; y[i] = x[i]": "1:11: error: expected 'm' to be read or returned, it",
    "y[i] = x[i]; y[i] = x[i]": "1:14: error: expected one equation for 'y', got two",
    "int s, s; y[i] = x[i]": "1:8: error: expected parameters to differ, got 's' twice",
    "int pi; y[i] = x[i]": "1:5: error: expected another name than 'pi', which is a constant",
    "int s; y[s] = x[s]": "1:10: error: expected another name than 's' for an index, it has a",
    "int s; y[i] = x[i] * s[0]": "1:22: error: expected 's' without subscripts, it is one number",
    "int s[2]; y[i] = x[i] * s[2]": "expected one number from 0 to 1 in the brackets of parameter",
    "int s[2]; y[i] = x[i] * s": "expected an element of parameter 's', such as s[0]",
    "y[i, i] = x[i]": "1:6: error: expected indices to differ, got 'i' twice",
    "y[i] = sum(i) x[i]": "1:12: error: expected indices to differ, got 'i' twice",
    "y[..., ...] = x[...]": "1:8: error: expected '...' once among indices, got it twice",
    "y[...] = x[..., ...]": "1:17: error: expected '...' once in a subscript, got it twice",
    "y[i] = x[i, ...]": "1:13: error: expected '...' among the indices of the equation or of a",
    "y[i] = x[i] * size(...)": "1:15: error: expected '...' among the indices, got none",
    "y[i] = x[i] + x[i, i]": "1:15: error: expected 1 subscripts of 'x', got 2",
    "y[i] = x[i] * size(j)": "1:15: error: unknown index 'j'",
    "y[i] = x[i] * size(x)": "hint: the size of an axis: size(x, 0)",
    "inputs x; y[i] = x[i] * size(z, 0)": "1:25: error: unknown tensor 'z'",
    "require x[0] > 0; y[i] = x[i]": "expected a requirement to be about sizes and parameters",
    "y[i, j] = x[i + j]": "1:3: error: expected index 'i' to have a size, got none",
    "y[i] = sum(j) x[i]": "hint: say how many values it has: j < 3",
    "y[t] = y[t] + x[t]": "expected 'y' to be read one step earlier, as in y[t - 1]",
    "y[t] = y[t-1] + y[t+1] + x[t]": "hint: an equation may read what it defines along one index",
    "y[t] = y[2*t] + x[t]": "expected 'y' to be read one step earlier",
}


@pytest.mark.parametrize("text", PROBLEMS)
def test_what_cannot_be_meant_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(IndexNotationError) as caught:
        body(text)
    assert PROBLEMS[text] in str(caught.value)


def test_all_problems_of_a_body_are_in_one_report() -> None:
    with pytest.raises(IndexNotationError) as caught:
        body("y[i] = exq(x[i])\nz[i] = x[k]\nw[i] = size(q)")
    assert [each.place for each in caught.value.diagnostics] == ["b:1:8", "b:2:10", "b:3:8"]

    with pytest.raises(IndexNotationError) as caught:
        body("y[i] =\n  exp(]\nz[i] = * 2\nw[i] = 1 1")
    assert [each.place for each in caught.value.diagnostics] == ["b:2:7", "b:3:8", "b:4:10"]


HOSTILE = {
    "long text": "y[i] = x[i]" + " " * 10_000_000,
    "deep brackets": "y[i] = " + "(" * 9000 + "1" + ")" * 9000,
    "deep sums": "y[i] = " + "+".join("1" * 9000),
    "deep negation": "y[i] = " + "-" * 9000 + "1",
    "deep powers": "y[i] = " + "2**" * 6000 + "2",
    "deep choices": "y[i] = " + "1<2?" * 4000 + "1",
    "deep reductions": "y[i] = " + "sum(j)" * 3000 + "1",
    "deep functions": "y[i] = " + "max(" * 4000,
    "deep subscripts": "y[i] = " + "x[" * 9000,
    "many indices": "y[" + ",".join(f"i{k}" for k in range(3000)) + "] = 1",
    "many subscripts": "y[i] = x[" + ",".join("i" * 9000) + "]",
    "many equations": "\n".join(f"y{k}[i]=x[i]" for k in range(1000)),
    "deep condition": "y[i] = x[i]; require " + "+".join("1" * 9000),
    "deep limit": "y[i < " + "+".join("1" * 9000) + "] = 1",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_end_in_an_error_within_a_second(name: str) -> None:
    gc.freeze()  # what other tests left behind is not collected in this one's time
    start = time.process_time()
    with pytest.raises(GaweeError, match="expected"):
        body(HOSTILE[name])
    seconds = time.process_time() - start
    gc.unfreeze()
    assert seconds < 1


def test_limits_are_named() -> None:
    messages = {
        "long text": "expected index notation of at most 20000 characters, got 10000011",
        "deep brackets": "expected at most 24 brackets inside brackets, got more",
        "deep sums": "expected at most 100 operations inside one another, got more",
        "deep negation": "expected at most 24 signs, got 9000",
        "deep powers": "expected at most 24 powers of powers, got more",
        "deep reductions": "expected at most 24 reductions of reductions, got more",
        "many indices": "expected at most 16 indices, got 3000",
        "many subscripts": "expected at most 16 subscripts, got 9000",
        "many equations": "expected at most 200 statements, got more",
    }
    for name, message in messages.items():
        with pytest.raises(GaweeError, match=message):
            body(HOSTILE[name])
