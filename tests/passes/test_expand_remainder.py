"""The remainder that expand-math computes: the very bits of libm's, whose remainder is exact."""

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
from gawee_dialect.passes.loops.expand_math import ExpandMath
from gawee_dialect.universe import make_context

Values = NDArray[np.float32]

COUNT = 1 << 15


def remainders(x: Values, y: Values, lanes: int) -> Values:
    """Compute remainders by vectors, or by scalars where lanes = 1."""
    buffer = f"memref<{x.size}xf32>"
    type_ = f"vector<{lanes}xf32>" if lanes > 1 else "f32"
    load, store = ("vector.load", "vector.store") if lanes > 1 else ("memref.load", "memref.store")
    types = f"{buffer}, {type_}" if lanes > 1 else buffer
    text = f"""
func.func @main(%x: {buffer} {{gawee.input = "x"}}, %y: {buffer} {{gawee.input = "y"}},
                %z: {buffer} {{gawee.output = "z"}}) {{
  %c0 = arith.constant 0 : index
  %n = arith.constant {x.size} : index
  %step = arith.constant {lanes} : index
  scf.for %i = %c0 to %n step %step {{
    %a = {load} %x[%i] : {types}
    %b = {load} %y[%i] : {types}
    %r = arith.remf %a, %b : {type_}
    {store} %r, %z[%i] : {types}
  }}
  return
}}
"""
    module = parse_mlir(make_context(), text, "test.mlir")
    ExpandMath().apply(make_context(), module)
    module.verify()
    assert "math.fma" in str(module)
    ConvertToLLVM().apply(make_context(), module)
    return np.asarray(CompiledModel(module).run({"x": x, "y": y})["z"], np.float32)


def any_floats(random: np.random.Generator) -> Values:
    return random.integers(0, 1 << 32, COUNT, dtype=np.uint32).view(np.float32)


def of_one_size(random: np.random.Generator) -> tuple[Values, Values]:
    """Quotients of a few: no lane needs libm."""
    x, y = random.standard_normal((2, COUNT)).astype(np.float32)
    return x, np.where(np.abs(y) < 1e-3, np.float32(0.5), y)


def near_multiples(random: np.random.Generator) -> tuple[Values, Values]:
    """Numbers beside a multiple of y, where a quotient rounds up to the next whole number."""
    y = np.abs(any_floats(random))
    y = np.where((y > 1e-30) & (y < 1e8), y, np.float32(0.7))
    whole = np.floor(2.0 ** random.uniform(0, 51, COUNT))
    x = (y * whole).astype(np.float32)
    return np.nextafter(x, random.choice([-np.inf, np.inf], COUNT).astype(np.float32)), y


def of_any_size(random: np.random.Generator) -> tuple[Values, Values]:
    """Infinities, NaN and denormals too; quotients up to 2^276."""
    return any_floats(random), any_floats(random)


def about_the_bound(random: np.random.Generator) -> tuple[Values, Values]:
    """Quotients of 2^50 to 2^54, in vectors where no other is larger."""
    y = random.uniform(1, 2, COUNT).astype(np.float32)
    scale = 2.0 ** np.repeat(random.integers(50, 55, COUNT // 16), 16)
    return (random.uniform(1, 2, COUNT) * scale).astype(np.float32), y


SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 1e-38],
    np.float32,
)


def specials(random: np.random.Generator) -> tuple[Values, Values]:
    """All pairs of numbers that are treated apart."""
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    fill = -x.size % 16
    return np.pad(x.ravel(), (0, fill)), np.pad(y.ravel(), (0, fill))


@pytest.mark.parametrize(
    "pairs", [of_one_size, near_multiples, of_any_size, about_the_bound, specials]
)
@pytest.mark.parametrize("lanes", [16, 8, 1])
def test_a_remainder_is_exact(pairs, lanes: int) -> None:
    x, y = pairs(np.random.default_rng(5))

    found = remainders(x, y, lanes)

    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    np.testing.assert_array_equal(found, expected)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(expected)[is_number])
