"""How far last digits move an output is what the arithmetic of its ops says.

Oracle: the derivative of what is computed, by hand.
"""

import numpy as np
import pytest
from xdsl.dialects import arith

from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.rounding import moved_by_last_digits
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.universe import make_context
from tests.instruments.checking import check, notes, parse
from tests.instruments.wrong.changes import replace_first
from tests.instruments.wrong.wrong_pass import Wrong

ULP = 2.0**-23


def moved(body: str, type: str = "5x7xf32", result: str = "5x7xf32") -> dict[str, float]:
    module = parse(f"""
      func.func @main(%x: tensor<{type}> {{gawee.input = "x"}})
          -> (tensor<{result}> {{gawee.output = "y"}}) {{
        {body}
        return %y : tensor<{result}>
      }}""")
    dtype = np.float16 if "f16" in type else np.float32
    x = np.random.default_rng(0).uniform(1, 2, (5, 7)).astype(dtype)
    return dict(moved_by_last_digits(module, "main", DataSet({"x": x})))


UNARY = ": (tensor<5x7xf32>) -> tensor<5x7xf32>"
BINARY = ": (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>"


def test_an_exponential_moves_by_its_argument() -> None:
    found = moved(f"%y = gawee.exp %x {UNARY}")

    # Numbers from 1 to 2 are 2^-23 apart; exp is its own derivative, and NumPy's is off itself.
    assert np.e * ULP / 4 < found["y"] < 1.5 * np.e**2 * ULP


def test_what_is_read_twice_is_one_number() -> None:
    assert moved(f"%y = gawee.sub %x, %x {BINARY}") == {"y": 0.0}


def test_what_is_computed_before_cancels_no_more() -> None:
    there = f"%a = gawee.exp %x {UNARY}\n %b = gawee.log %a {UNARY}"
    found = moved(f"{there}\n %y = gawee.sub %x, %b {BINARY}")

    assert ULP / 4 <= found["y"] <= 4 * ULP


def test_results_of_f16_are_off_and_operands_are_not() -> None:
    half, wide = "tensor<5x7xf16>", "tensor<5x7xf32>"

    found = moved(
        f"%0 = gawee.exp %x : ({half}) -> {half}\n %y = gawee.cast %0 : ({half}) -> {wide}",
        type="5x7xf16",
    )
    exact = moved(f"%y = gawee.cast %x : ({half}) -> {wide}", type="5x7xf16")

    # From 4 to 8, numbers of f16 are 2^-8 apart, half of which is a rounding.
    assert found == {"y": 2.0**-9}
    assert exact == {"y": 0.0}


@pytest.mark.parametrize("jump", ["floor %x", "sign %x"])
def test_of_jumps_nothing_is_said(jump: str) -> None:
    assert moved(f"%0 = gawee.{jump} {UNARY}\n %y = gawee.exp %0 {UNARY}") == {}


# A row of one number has no deviation; a mean that misses it by a rounding has.
ROWS = """
func.func @main(%x: tensor<5x1xf32> {gawee.input = "x"}) -> (tensor<5x13xf32> {gawee.output = "y"}) {
  %0 = gawee.broadcast_to %x shape [5, 13] : (tensor<5x1xf32>) -> tensor<5x13xf32>
  %y = gawee.layer_norm %0 normalized_rank 1 eps 1.000000e-06 : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}
"""


def test_the_mean_of_a_row_of_one_number_may_miss_it_by_a_rounding() -> None:
    assert "lower-to-linalg" not in notes(check(parse(ROWS), "lower-to-linalg"))


def test_the_mean_of_a_row_of_one_number_may_not_be_another() -> None:
    module = parse(ROWS)
    check(module, "lower-to-linalg")
    with pytest.raises(CheckFailure), instrumented(CheckEach()):
        run_passes(make_context(), module, [Wrong(replace_first(arith.DivfOp, arith.MulfOp))])


ROUNDED = """
func.func @main(%x: tensor<2x9xf32> {gawee.input = "x"}) -> (tensor<2x9xf64> {gawee.output = "y"}) {
  %0 = gawee.cos %x : (tensor<2x9xf32>) -> tensor<2x9xf32>
  %y = gawee.cast %0 : (tensor<2x9xf32>) -> tensor<2x9xf64>
  return %y : tensor<2x9xf64>
}
"""


@pytest.mark.parametrize("jumps", [False, True], ids=["read", "sorted"])
def test_beside_nan_what_was_rounded_to_f32_is_not_held_to_the_digits_of_f64(jumps: bool) -> None:
    sorted = """%y, %i = gawee.sort %1 axis 1 descending false : (tensor<2x9xf64>) -> (tensor<2x9xf64>, tensor<2x9xi64>)"""
    text = ROUNDED.replace("%y = gawee.cast", "%1 = gawee.cast") if jumps else ROUNDED
    text = text.replace("  return", f"  {sorted}\n  return") if jumps else text

    found = notes(check(parse(text), "gawee-to-llvm"))

    assert not [note for note in found.values() if "wrong" in note]


MEANS = """
func.func @main(%x: tensor<1x1x3x3xf16> {gawee.input = "x"}) -> (tensor<1x1x1x3xf32> {gawee.output = "y"}) {
  %0 = gawee.avg_pool %x kernel [3, 2] strides [1, 1] padding [0, 1, 0, 0] ceil_mode false count_include_pad false : (tensor<1x1x3x3xf16>) -> tensor<1x1x1x3xf16>
  %y = gawee.cast %0 : (tensor<1x1x1x3xf16>) -> tensor<1x1x1x3xf32>
  return %y : tensor<1x1x1x3xf32>
}
"""


def test_a_mean_of_f16_may_be_rounded_twice_though_it_is_read_as_f32() -> None:
    assert "lower-to-linalg" not in notes(check(parse(MEANS), "lower-to-linalg"))


def test_a_mean_of_f16_may_not_be_another() -> None:
    module = parse(MEANS)
    check(module, "lower-to-linalg")
    with pytest.raises(CheckFailure), instrumented(CheckEach()):
        run_passes(make_context(), module, [Wrong(replace_first(arith.DivfOp, arith.MulfOp))])
