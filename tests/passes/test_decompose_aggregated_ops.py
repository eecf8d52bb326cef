"""Ops that stand for several, at every level, against what NumPy says they mean."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context

Floats = NDArray[np.float32]

Arrays = dict[str, NDArray[np.generic]]

LEVELS: dict[str, Callable[[Model, Arrays], Arrays]] = {
    "interpreter": lambda model, inputs: model.run(inputs),
    "linalg": lambda model, inputs: model.run(inputs, "linalg"),
    "plain loops": lambda model, inputs: model.compile(CodeOptions(algorithms=PLAIN)).run(inputs),
    "kernels": lambda model, inputs: model.compile().run(inputs),
}

TEXT = """
func.func @main(%x: tensor<5x7xf32>, %y: tensor<2x7xf32>)
    -> (tensor<5x7xf32>, tensor<4x2x3x2xf32>, tensor<5x7xf32>, tensor<7x7xf32>, tensor<3x5xi64>) {
  %c = arith.constant 9.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %s = linalg.softmax dimension(0) ins(%x : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>)
    -> tensor<5x7xf32>
  %d = tensor.empty() : tensor<4x2x3x2xf32>
  %p = linalg.pack %x padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1]
    inner_tiles = [3, 2] into %d : tensor<5x7xf32> -> tensor<4x2x3x2xf32>
  %u = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [0, 1]
    inner_tiles = [3, 2] into %e : tensor<4x2x3x2xf32> -> tensor<5x7xf32>
  %j = tensor.concat dim(0) %y, %x : (tensor<2x7xf32>, tensor<5x7xf32>) -> tensor<7x7xf32>
  %g = tensor.generate {
  ^bb0(%a: index, %b: index):
    %0 = arith.muli %a, %b : index
    %1 = arith.index_cast %0 : index to i64
    tensor.yield %1 : i64
  } : tensor<3x5xi64>
  return %s, %p, %u, %j, %g
    : tensor<5x7xf32>, tensor<4x2x3x2xf32>, tensor<5x7xf32>, tensor<7x7xf32>, tensor<3x5xi64>
}
"""


def read(text: str) -> Model:
    """Return the model of a text."""
    return Model(parse_mlir(make_context(), text, "in.mlir"))


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_computes_what_the_op_means(level: str) -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((5, 7), np.float32)
    y = generator.standard_normal((2, 7), np.float32)
    powers = np.exp(x.astype(np.float64))
    tiles = np.empty((4, 2, 3, 2), np.float32)
    for index in np.ndindex(tiles.shape):
        row, column = index[1] * 3 + index[2], index[0] * 2 + index[3]
        tiles[index] = x[row, column] if row < 5 and column < 7 else 9

    softmax, packed, unpacked, joined, generated = LEVELS[level](
        read(TEXT), {"x": x, "y": y}
    ).values()

    # exp in f32 and sums of 5 terms.
    np.testing.assert_allclose(np.asarray(softmax, np.float64), powers / powers.sum(0), rtol=1e-6)
    np.testing.assert_array_equal(packed, tiles)
    np.testing.assert_array_equal(unpacked, x)
    np.testing.assert_array_equal(joined, np.concatenate([y, x]))
    np.testing.assert_array_equal(generated, np.outer(np.arange(3), np.arange(5)))


LOOK_UP = """
func.func @main(%t: tensor<5xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %c5 = arith.constant 5 : i64
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
      iterator_types = ["parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%n: i64, %o: f32):
    %ok = arith.cmpi ult, %n, %c5 : i64
    cf.assert %ok, "index must be smaller than dim size"
    %x = arith.index_cast %n : i64 to index
    %v = tensor.extract %t[%x] : tensor<5xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
"""


@pytest.mark.parametrize("level", LEVELS)
def test_an_assertion_that_holds_changes_nothing(level: str) -> None:
    table, places = np.arange(5, dtype=np.float32), np.array([4, 0, 2])

    (output,) = LEVELS[level](read(LOOK_UP), {"t": table, "i": places}).values()

    np.testing.assert_array_equal(output, [4, 0, 2])


@pytest.mark.parametrize("level", ["linalg", "loops"])
def test_an_assertion_that_does_not_hold_is_an_error(level: str) -> None:
    inputs = {"t": np.zeros(5, np.float32), "i": np.array([4, 7, 2])}

    with pytest.raises(GaweeError, match="assertion failed: index must be smaller than dim size"):
        read(LOOK_UP).run(inputs, level)


def test_native_code_ends_the_process_like_the_assert_of_c() -> None:
    from gawee_dialect.frontends.mlir_text import print_mlir

    text = print_mlir(read(LOOK_UP).lowered("llvm"))

    assert "llvm.call @abort() : () -> ()" in text
    assert "llvm.unreachable" in text
