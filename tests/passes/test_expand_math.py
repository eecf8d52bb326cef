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
from gawee_dialect.passes.convert_to_llvm import ConvertToLLVM
from gawee_dialect.passes.expand_math import EXPANSIONS, ExpandMath
from gawee_dialect.universe import make_context

EXACT = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "tanh": np.tanh,
    "erf": np.vectorize(erf, otypes=[np.float64]),
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
    assert f"math.{name} " not in str(module)
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


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("lanes", [16, 8, 1])
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
}


@pytest.mark.parametrize("name", EXACT)
def test_errors_are_within_what_is_stated_where_the_function_changes(name: str) -> None:
    x = np.random.default_rng(2).uniform(*RANGES[name], 1 << 17).astype(np.float32)

    off = distance(applied(name, x), EXACT[name](x.astype(np.float64)))

    assert off.max() <= ULP[name], f"at {x[off.argmax()]!r}"


TINY = np.float32(1e-45)
LIMITS = {
    "exp": [(np.inf, np.inf), (-np.inf, 0), (0, 1), (-0.0, 1), (TINY, 1), (89, np.inf), (-104, 0)],
    "exp2": [(np.inf, np.inf), (-np.inf, 0), (0, 1), (127, 2.0**127), (128, np.inf), (-149, TINY)],
    "log": [(np.inf, np.inf), (1, 0), (0, -np.inf), (-0.0, -np.inf), (-1, np.nan), (-TINY, np.nan)],
    "tanh": [(np.inf, 1), (-np.inf, -1), (0, 0), (-0.0, -0.0), (TINY, TINY), (-3e-42, -3e-42)],
    "erf": [(np.inf, 1), (-np.inf, -1), (0, 0), (-0.0, -0.0), (TINY, TINY), (10, 1)],
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
    np.testing.assert_array_equal(np.signbit(found[:6]), np.signbit(expected[:6]))


@pytest.mark.parametrize("name", EXACT)
def test_the_interpreter_computes_the_same_bits(name: str) -> None:
    bits = np.arange(0, 1 << 32, 6700417, dtype=np.uint64).astype(np.uint32)
    x = bits[: bits.size // 16 * 16].view(np.float32)
    module = parse_mlir(make_context(), program(name, x.size, 16), "test.mlir")
    ExpandMath().apply(make_context(), module)

    found = run_module(module, {"x": x})["y"]

    np.testing.assert_array_equal(found, applied(name, x))


@pytest.mark.parametrize("name", EXACT)
def test_half_precision_is_rounded_once_more(name: str) -> None:
    x = np.linspace(0.1, 3, 64).astype(np.float16)

    found = applied(name, x, 16, "f16")

    # a few ulp of f32, then half an ulp of f16, which is 5e-4 relative
    expected = EXACT[name](x.astype(np.float64))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=5e-4, atol=1e-7)


def test_double_precision_is_left_to_libm() -> None:
    module = parse_mlir(make_context(), program("exp", 8, 8, "f64"), "test.mlir")

    ExpandMath().apply(make_context(), module)

    assert "math.exp " in str(module)


def test_only_the_functions_that_are_named_are_expanded() -> None:
    module = parse_mlir(make_context(), program("exp", 8, 8), "test.mlir")

    ExpandMath(("log", "erf")).apply(make_context(), module)

    assert "math.exp " in str(module)


def test_a_function_that_has_no_expansion_is_refused() -> None:
    module = parse_mlir(make_context(), program("exp", 8, 8), "test.mlir")

    with pytest.raises(GaweeError, match="unsupported function 'sin' of expand-math; supported: "):
        ExpandMath(("sin",)).apply(make_context(), module)


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
            worst = max(worst, float(distance(native.run({"x": x})["y"], expected).max()))
    assert worst <= ULP[name]
