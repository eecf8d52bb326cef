"""Functions that call others, right at every level; the oracle is NumPy in float64."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter.functions import RunError
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose

# A function on tensors and a scalar that is called twice, once in a loop on a slice; one on scalars.
CALLS = """
func.func private @scale(%x: tensor<2x5xf32>, %s: f32) -> (tensor<2x5xf32>, f32) {
  %e = tensor.empty() : tensor<2x5xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %r = linalg.mul ins(%x, %f : tensor<2x5xf32>, tensor<2x5xf32>) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %t = func.call @double(%s) : (f32) -> f32
  return %r, %t : tensor<2x5xf32>, f32
}
func.func private @double(%s: f32) -> f32 {
  %t = arith.addf %s, %s : f32
  return %t : f32
}
func.func @main(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %s = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %r, %u = scf.for %i = %c0 to %c6 step %c2 iter_args(%t = %e, %v = %s) -> (tensor<6x5xf32>, f32) {
    %a = tensor.extract_slice %x[%i, 0] [2, 5] [1, 1] : tensor<6x5xf32> to tensor<2x5xf32>
    %b, %w = func.call @scale(%a, %v) : (tensor<2x5xf32>, f32) -> (tensor<2x5xf32>, f32)
    %n = tensor.insert_slice %b into %t[%i, 0] [2, 5] [1, 1] : tensor<2x5xf32> into tensor<6x5xf32>
    scf.yield %n, %w : tensor<6x5xf32>, f32
  }
  return %r : tensor<6x5xf32>
}"""

# A function of the C library, which the process that runs the code has.
EXTERNAL = """
func.func private @cosf(f32) -> f32
func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %y = linalg.map ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) (%v: f32, %out: f32) {
    %c = func.call @cosf(%v) : (f32) -> f32
    linalg.yield %c : f32
  }
  return %y : tensor<3x5xf32>
}"""

RECURSIVE = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = func.call @main(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}"""


def parsed(text: str) -> Model:
    return Model(parse_mlir(make_context(), text, "calls.mlir"))


@pytest.mark.parametrize("level", Level)
def test_a_function_that_is_called(level: Level) -> None:
    x = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)

    (output,) = parsed(CALLS).run({"x": x}, level).values()

    factors = np.repeat([3.0, 6.0, 12.0], 2)[:, None]
    # One product, rounded once.
    assert_allclose(output, x.astype(np.float64) * factors, rtol=1e-6)


def test_a_function_of_another_library_is_called_natively() -> None:
    x = np.random.default_rng(1).normal(size=(3, 5)).astype(np.float32)

    (output,) = parsed(EXTERNAL).run({"x": x}, Level.LLVM).values()

    # A few units in the last place: libm's float cosine.
    assert_allclose(output, np.cos(x.astype(np.float64)), rtol=1e-5, atol=1e-6)


def test_the_interpreter_has_no_functions_of_other_libraries() -> None:
    x = np.zeros((3, 5), np.float32)

    with pytest.raises((GaweeError, RunError), match="cosf"):
        parsed(EXTERNAL).run({"x": x}, Level.LOOPS)


def test_a_function_that_calls_itself_is_refused() -> None:
    with pytest.raises(GaweeError, match="cannot be inlined: expected '@main' not to call itself"):
        parsed(RECURSIVE).lowered(Level.LLVM)
