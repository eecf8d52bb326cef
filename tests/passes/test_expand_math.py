"""What expand-math computes: distance from the exact values, limits, the same bits everywhere."""

from collections.abc import Iterator
from math import erf

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
from gawee_dialect.passes.loops.expand_math import EXPANSIONS, EXPANSIONS_OF_F64, ExpandMath
from gawee_dialect.passes.loops.expand_math.trigonometric import LARGEST
from gawee_dialect.universe import make_context
from tests.effort import crossed, mostly_full

EXACT = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "tanh": np.tanh,
    "erf": np.vectorize(erf, otypes=[np.float64]),
    "expm1": np.expm1,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}
"""The functions in double precision, by NumPy and Python: a millionth of an ulp of f32."""

ULP = {function.name.removeprefix("math."): each.ulp for function, each in EXPANSIONS.items()}

Values = NDArray[np.float32]


def program(name: str, size: int, lanes: int, element: str = "f32") -> str:
    """Write a function that applies a math op to an array, by vectors, or by scalars if lanes = 1."""
    buffer, vector = f"memref<{size}x{element}>", f"vector<{lanes}x{element}>"
    body = f"""
    %v = vector.load %x[%i] : {buffer}, {vector}
    %r = math.{name} %v : {vector}
    vector.store %r, %y[%i] : {buffer}, {vector}"""
    if lanes == 1:
        body = f"""
    %v = memref.load %x[%i] : {buffer}
    %r = math.{name} %v : {element}
    memref.store %r, %y[%i] : {buffer}"""
    return f"""
func.func @main(%x: {buffer} {{gawee.input = "x"}}, %y: {buffer} {{gawee.output = "y"}}) {{
  %c0 = arith.constant 0 : index
  %n = arith.constant {size} : index
  %step = arith.constant {lanes} : index
  scf.for %i = %c0 to %n step %step {{{body}
  }}
  return
}}
"""


def compiled(name: str, size: int, lanes: int = 16, element: str = "f32") -> CompiledModel:
    module = parse_mlir(make_context(), program(name, size, lanes, element), "test.mlir")
    ExpandMath().apply(make_context(), module)
    module.verify()
    assert name in ANGLES or f"math.{name} " not in str(module)
    ConvertToLLVM().apply(make_context(), module)
    return CompiledModel(module)


def applied(name: str, x: np.ndarray, lanes: int = 16, element: str = "f32") -> np.ndarray:
    return compiled(name, x.size, lanes, element).run({"x": x})["y"]


def distance(found: Values, exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many units in the last place a result is away; infinite where a limit is wrong."""
    with np.errstate(over="ignore"):
        nearest = exact.astype(np.float32)
    unit = np.spacing(np.abs(np.where(np.isfinite(nearest), nearest, 1))).astype(np.float64)
    with np.errstate(invalid="ignore"):
        off = np.abs(found.astype(np.float64) - exact) / unit
    same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    return np.where(np.isfinite(nearest) & np.isfinite(found), off, np.where(same, 0.0, np.inf))


@pytest.mark.parametrize(("name", "lanes"), crossed(EXACT, [16, 8, 1]))
def test_errors_are_within_what_is_stated(name: str, lanes: int) -> None:
    # Every 20011th of all floats, which is a prime: all exponents and both signs take part.
    bits = np.arange(0, 1 << 32, 20011, dtype=np.uint64).astype(np.uint32)
    x = bits[: bits.size // 16 * 16].view(np.float32)

    found = applied(name, x, lanes)

    with np.errstate(all="ignore"):
        off = distance(found, EXACT[name](x.astype(np.float64)))
    assert off.max() <= ULP[name], f"at {x[off.argmax()]!r}"


RANGES = {
    "exp": (-104, 89),
    "exp2": (-150, 128),
    "log": (0, 4),
    "tanh": (-9.2, 9.2),
    "erf": (-4, 4),
    "expm1": (-20, 89),
    "log1p": (-1, 4),
    "log2": (0, 4),
    "log10": (0, 4),
    "sinh": (-89, 89),
    "cosh": (-89, 89),
    "asinh": (-9, 9),
    "acosh": (1, 4),
    "atanh": (-1, 1),
    "cbrt": (-9, 9),
    "sin": (-9, 9),
    "cos": (-9, 9),
    "tan": (-9, 9),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atan": (-9, 9),
}


@pytest.mark.parametrize("name", EXACT)
def test_errors_are_within_what_is_stated_where_the_function_changes(name: str) -> None:
    low, high = RANGES[name]
    x = np.random.default_rng(2).uniform(low, high, 1 << 17).astype(np.float32)

    off = distance(applied(name, x), EXACT[name](x.astype(np.float64)))

    assert off.max() <= ULP[name], f"at {x[off.argmax()]!r}"


ANGLES = ("sin", "cos", "tan")

TINY = np.float32(1e-45)
LIMITS = {
    "exp": [(np.inf, np.inf), (-np.inf, 0), (0, 1), (-0.0, 1), (TINY, 1), (89, np.inf), (-104, 0)],
    "exp2": [(np.inf, np.inf), (-np.inf, 0), (0, 1), (127, 2.0**127), (128, np.inf), (-149, TINY)],
    "log": [(np.inf, np.inf), (1, 0), (0, -np.inf), (-0.0, -np.inf), (-1, np.nan), (-TINY, np.nan)],
    "tanh": [(np.inf, 1), (-np.inf, -1), (0, 0), (-0.0, -0.0), (TINY, TINY), (-3e-42, -3e-42)],
    "erf": [(np.inf, 1), (-np.inf, -1), (0, 0), (-0.0, -0.0), (TINY, TINY), (10, 1)],
    "expm1": [(np.inf, np.inf), (-np.inf, -1), (0, 0), (-0.0, -0.0), (TINY, TINY), (89, np.inf)],
    "log1p": [(np.inf, np.inf), (-1, -np.inf), (0, 0), (-0.0, -0.0), (TINY, TINY), (-2, np.nan)],
    "log2": [(np.inf, np.inf), (1, 0), (0, -np.inf), (8, 3), (TINY, -149), (-TINY, np.nan)],
    "log10": [(np.inf, np.inf), (1, 0), (0, -np.inf), (1000, 3), (1e-5, -5), (-1, np.nan)],
    "sinh": [
        (np.inf, np.inf),
        (-np.inf, -np.inf),
        (0, 0),
        (-0.0, -0.0),
        (TINY, TINY),
        (-3e-42,) * 2,
    ],
    "cosh": [(np.inf, np.inf), (-np.inf, np.inf), (0, 1), (-0.0, 1), (TINY, 1), (90, np.inf)],
    "asinh": [(np.inf, np.inf), (-np.inf, -np.inf), (0, 0), (-0.0, -0.0), (TINY, TINY)],
    "acosh": [(np.inf, np.inf), (1, 0), (0, np.nan), (-3, np.nan), (-np.inf, np.nan)],
    "atanh": [(1, np.inf), (-1, -np.inf), (0, 0), (-0.0, -0.0), (2, np.nan), (np.inf, np.nan)],
    "cbrt": [(np.inf, np.inf), (-np.inf, -np.inf), (0, 0), (-0.0, -0.0), (-27, -3), (125, 5)],
    "sin": [(np.inf, np.nan), (-np.inf, np.nan), (0, 0), (-0.0, -0.0), (TINY, TINY)],
    "cos": [(np.inf, np.nan), (-np.inf, np.nan), (0, 1), (-0.0, 1), (TINY, 1)],
    "tan": [(np.inf, np.nan), (-np.inf, np.nan), (0, 0), (-0.0, -0.0), (TINY, TINY)],
    "asin": [(2, np.nan), (-np.inf, np.nan), (0, 0), (-0.0, -0.0), (TINY, TINY)],
    "acos": [(2, np.nan), (-np.inf, np.nan), (1, 0), (-1, np.pi), (0, np.pi / 2)],
    "atan": [(np.inf, np.pi / 2), (-np.inf, -np.pi / 2), (0, 0), (-0.0, -0.0), (TINY, TINY)],
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("lanes", [8, 1])
def test_limits_are_exact(name: str, lanes: int) -> None:
    pairs = [*LIMITS[name], (np.nan, np.nan)]
    pairs += [(1.0, float(EXACT[name](1.0)))] * (-len(pairs) % 8)
    x, expected = np.array(pairs, np.float32).T

    found = applied(name, np.ascontiguousarray(x), lanes)

    # exact but for the value at 1 that fills the vector up
    np.testing.assert_array_max_ulp(found[: len(LIMITS[name])], expected[: len(LIMITS[name])], 0)
    assert np.isnan(found[len(LIMITS[name])])
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("name", mostly_full([*EXACT]))
def test_the_interpreter_computes_the_same_bits(name: str) -> None:
    bits = np.arange(0, 1 << 32, 6700417, dtype=np.uint64).astype(np.uint32)
    x = bits[: bits.size // 16 * 16].view(np.float32)
    if name in ANGLES:
        x = np.where(np.abs(x) <= LARGEST, x, np.float32(0.1))  # beyond it libm computes
    module = parse_mlir(make_context(), program(name, x.size, 16), "test.mlir")
    ExpandMath().apply(make_context(), module)

    found = run_module(module, {"x": x})["y"]

    np.testing.assert_array_equal(found, applied(name, x))


@pytest.mark.parametrize("name", EXACT)
def test_half_precision_is_rounded_once_more(name: str) -> None:
    x = np.linspace(*((1, 3) if name == "acosh" else (0.1, 0.9)), 64).astype(np.float16)

    found = applied(name, x, 16, "f16")

    # a few ulp of f32, then half an ulp of f16, which is 5e-4 relative
    expected = EXACT[name](x.astype(np.float64))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=5e-4, atol=1e-7)


def test_functions_of_doubles_that_have_no_expansion_are_left_to_libm() -> None:
    module = parse_mlir(make_context(), program("erf", 8, 8, "f64"), "test.mlir")

    ExpandMath().apply(make_context(), module)

    assert "math.erf " in str(module)


DOUBLE_RANGES = {
    "exp": (-745, 709.7),
    "expm1": (-40, 709.7),
    "log": (0, 4),
    "log1p": (-1, 4),
    "tanh": (-20, 20),
}


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double is a double here")
@pytest.mark.parametrize("name", DOUBLE_RANGES)
@pytest.mark.parametrize("lanes", [8, 1])
def test_errors_of_doubles_are_within_what_is_stated(name: str, lanes: int) -> None:
    numbers = np.random.default_rng(3)
    low, high = DOUBLE_RANGES[name]
    wide, narrow = numbers.uniform(low, high, 1 << 15), numbers.uniform(-0.99, 1.5, 1 << 15)
    if name == "log":
        narrow = np.concatenate([2.0 ** numbers.uniform(-1074, 1023, 1 << 14), 1 + narrow[::2] / 9])
    x = np.concatenate([wide, narrow, narrow * 2.0 ** numbers.integers(-300, 0, narrow.size)])
    x = np.abs(x) if name == "log" else x

    found = applied(name, x, lanes, "f64")

    exact = EXACT[name](x.astype(np.longdouble))  # 2^-11 ulp of f64
    unit = np.spacing(np.abs(exact.astype(np.float64)))
    off = np.where(found == exact, 0, np.abs(found.astype(np.longdouble) - exact) / unit)
    ulp = next(e.ulp for op, e in EXPANSIONS_OF_F64.items() if op.name == f"math.{name}")
    assert off.max() <= ulp, f"at {x[off.argmax()]!r}"


@pytest.mark.parametrize("name", DOUBLE_RANGES)
def test_limits_of_doubles_are_exact(name: str) -> None:
    x = np.array([np.inf, -np.inf, 0.0, -0.0, np.nan, 5e-324, 1e308, -1e308])

    found = applied(name, x, 8, "f64")

    with np.errstate(all="ignore"):
        expected = EXACT[name](x)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    np.testing.assert_array_max_ulp(found[finite], expected[finite], 2)
    np.testing.assert_array_equal(np.signbit(found[finite]), np.signbit(expected[finite]))


def applied_to_two(name: str, lhs: np.ndarray, rhs: np.ndarray, lanes: int) -> np.ndarray:
    """Apply a function of two numbers; NaN fills the last vector up."""
    fill = -lhs.size % lanes
    x, y = (np.concatenate([each, np.full(fill, np.nan, np.float32)]) for each in (lhs, rhs))
    text = program("OP", x.size, lanes).replace(
        "@main(", f'@main(%l: memref<{x.size}xf32> {{gawee.input = "l"}}, '
    )
    load = "vector.load" if lanes > 1 else "memref.load"
    types = f", vector<{lanes}xf32>" if lanes > 1 else ""
    element = f"vector<{lanes}xf32>" if lanes > 1 else "f32"
    text = text.replace(
        "%r = math.OP %v",
        f"%u = {load} %l[%i] : memref<{x.size}xf32>{types}\n%r = math.{name} %u, %v",
    )
    assert f": {element}" in text
    module = parse_mlir(make_context(), text, "test.mlir")
    ExpandMath().apply(make_context(), module)
    assert f"math.{name} " not in str(module)
    ConvertToLLVM().apply(make_context(), module)
    return CompiledModel(module).run({"l": x, "x": y})["y"][: lhs.size]


TWO = {"powf": np.power, "atan2": np.arctan2}


@pytest.mark.parametrize(("name", "lanes"), crossed(TWO, [16, 8, 1]))
def test_errors_of_functions_of_two_numbers(name: str, lanes: int) -> None:
    numbers = np.random.default_rng(4)
    count = 1 << 16
    x = numbers.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)
    y = numbers.normal(0, 3, count).astype(np.float32)
    lhs = np.concatenate([np.abs(x), numbers.uniform(0.9, 1.1, count), numbers.normal(0, 9, count)])
    rhs = np.concatenate([y, y * 100, np.where(y > 0, np.rint(y), y)])
    lhs, rhs = lhs.astype(np.float32), rhs.astype(np.float32)

    found = applied_to_two(name, lhs, rhs, lanes)

    with np.errstate(all="ignore"):
        off = distance(found, TWO[name](lhs.astype(np.float64), rhs.astype(np.float64)))
    assert off.max() <= ULP[name], f"at {lhs[off.argmax()]!r}, {rhs[off.argmax()]!r}"


@pytest.mark.parametrize("name", TWO)
def test_limits_of_functions_of_two_numbers_are_those_of_c(name: str) -> None:
    special = [0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, np.inf, -np.inf, np.nan, TINY, -TINY]
    special += [float.fromhex("0x1p24"), float.fromhex("-0x1.fffffep23"), 3e38, -3e38]
    lhs, rhs = (each.ravel() for each in np.meshgrid(*[np.array(special, np.float32)] * 2))

    found = applied_to_two(name, lhs, rhs, 8)

    with np.errstate(all="ignore"):
        expected = TWO[name](lhs.astype(np.float64), rhs.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("name", ANGLES)
@pytest.mark.parametrize("lanes", [16, 1])
def test_one_large_angle_leaves_all_lanes_right(name: str, lanes: int) -> None:
    x = np.linspace(-3, 3, 64, dtype=np.float32)
    x[5], x[40] = 1e30, -3e9

    off = distance(applied(name, x, lanes), EXACT[name](x.astype(np.float64)))

    assert off.max() <= 1  # of libm


def test_only_the_functions_that_are_named_are_expanded() -> None:
    module = parse_mlir(make_context(), program("exp", 8, 8), "test.mlir")

    ExpandMath(("log", "erf")).apply(make_context(), module)

    assert "math.exp " in str(module)


def test_a_function_that_has_no_expansion_is_refused() -> None:
    module = parse_mlir(make_context(), program("exp", 8, 8), "test.mlir")

    with pytest.raises(GaweeError, match="unsupported function 'sine' of expand-math; supported: "):
        ExpandMath(("sine",)).apply(make_context(), module)


def all_floats(step: int) -> Iterator[Values]:
    """Yield every float, so many at a time."""
    for first in range(0, 1 << 32, step):
        yield np.arange(first, first + step, dtype=np.uint64).astype(np.uint32).view(np.float32)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", EXACT)
def test_errors_over_all_floats(name: str) -> None:
    torch = pytest.importorskip("torch")  # its erf takes arrays
    step = 1 << 22
    native = compiled(name, step)
    exact = getattr(torch.special, name) if name == "erf" else None
    worst = 0.0
    for x in all_floats(step):
        wide = x.astype(np.float64)
        with np.errstate(all="ignore"):
            expected = exact(torch.from_numpy(wide)).numpy() if exact else EXACT[name](wide)
            worst = max(
                worst,
                float(distance(np.asarray(native.run({"x": x})["y"], np.float32), expected).max()),
            )
    assert worst <= ULP[name]
