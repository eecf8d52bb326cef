"""Tensors without axes beside those of one element: right at every level, by NumPy."""

import numpy as np
import pytest

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context

RESHAPED = """
func.func @main(%x: tensor<1xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = gawee.reshape %x shape [] : (tensor<1xf32>) -> tensor<f32>
  %r = gawee.add %0, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}"""

BESIDE = """
func.func @main(%x: tensor<1xf32>, %y: tensor<f32>) -> tensor<1xf32> {
  %r = gawee.add %x, %y : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}"""

COLLAPSED = """
func.func @main(%x: tensor<1xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = tensor.collapse_shape %x [] : tensor<1xf32> into tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %r = linalg.add ins(%0, %y : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}"""

SLICED = """
func.func @main(%x: tensor<5xf32>, %y: tensor<f32>) -> tensor<f32> {
  %s = tensor.extract_slice %x[3] [1] [1] : tensor<5xf32> to tensor<1xf32>
  %0 = tensor.collapse_shape %s [] : tensor<1xf32> into tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %r = linalg.add ins(%0, %y : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}"""

# A slice in a loop is a view with gaps; the reshape is of a copy.
IN_A_LOOP = """
func.func @main(%x: tensor<5xf32>, %y: tensor<f32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %y) -> (tensor<f32>) {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<5xf32> to tensor<1xf32>
    %0 = tensor.collapse_shape %s [] : tensor<1xf32> into tensor<f32>
    %n = linalg.sub ins(%0, %t : tensor<f32>, tensor<f32>) outs(%t : tensor<f32>) -> tensor<f32>
    scf.yield %n : tensor<f32>
  }
  return %r : tensor<f32>
}"""

# Small integers: every result is exact.
X, Y = np.array([3, 5, -4, 7, 2], np.float32), np.array(11, np.float32)
CASES = {
    "a reshape": (RESHAPED, X[:1], 14),
    "an element beside": (BESIDE, X[:1], 14),
    "a collapse": (COLLAPSED, X[:1], 14),
    "a slice": (SLICED, X, 18),
    "slices in a loop": (IN_A_LOOP, X, 24),
}


@pytest.mark.parametrize("algorithms", ["fast", PLAIN])
@pytest.mark.parametrize("level", [Level.GAWEE, Level.BUFFERS, Level.LOOPS, Level.LLVM])
@pytest.mark.parametrize("name", CASES)
def test_a_tensor_without_axes(name: str, level: Level, algorithms: str) -> None:
    text, x, wanted = CASES[name]
    model = Model(parse_mlir(make_context(), text, "rank_zero.mlir"))

    run = model.runner(level, options=CodeOptions(algorithms=algorithms), cache=False)

    (output,) = run({"x": x, "y": Y}).values()
    assert output.shape == (() if name != "an element beside" else (1,))
    assert output.item() == wanted
