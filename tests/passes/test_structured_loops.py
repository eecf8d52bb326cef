"""Structured ops in loops, as tiling passes leave them: right at every level, in place where it can be.

The oracle is NumPy in float64. Tolerance: sums of up to 13 products of float32 in another order
differ by about 1e-6 of their size; 1e-5 is an order of magnitude more.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import memref

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.passes.modules import shape_of

CONSTANTS = "\n".join(
    f"  %c{number} = arith.constant {number} : index" for number in (0, 1, 2, 3, 4, 5, 6, 8, 12)
)

TILED_MATMUL = """
func.func @main(%a: tensor<12x13xf32>, %b: tensor<13x8xf32>) -> tensor<12x8xf32> {{
{constants}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<12x8xf32>) -> tensor<12x8xf32>
  %r = scf.for %i = %c0 to %c12 step %c3 iter_args(%rows = %init) -> (tensor<12x8xf32>) {{
    %s = scf.for %j = %c0 to %c8 step %c4 iter_args(%t = %rows) -> (tensor<12x8xf32>) {{
      %x = tensor.extract_slice %a[%i, 0] [3, 13] [1, 1] : tensor<12x13xf32> to tensor<3x13xf32>
      %y = tensor.extract_slice %b[0, %j] [13, 4] [1, 1] : tensor<13x8xf32> to tensor<13x4xf32>
      %z = tensor.extract_slice %t[%i, %j] [3, 4] [1, 1] : tensor<12x8xf32> to tensor<3x4xf32>
      %p = linalg.matmul ins(%x, %y : tensor<3x13xf32>, tensor<13x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
      %n = tensor.insert_slice %p into %t[%i, %j] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<12x8xf32>
      scf.yield %n : tensor<12x8xf32>
    }}
    scf.yield %s : tensor<12x8xf32>
  }}
  return %r : tensor<12x8xf32>
}}"""

TILES_OF_TILES = """
func.func @main(%a: tensor<12x8xf32>) -> tensor<12x8xf32> {{
{constants}
  %e = tensor.empty() : tensor<12x8xf32>
  %r = scf.for %i = %c0 to %c12 step %c6 iter_args(%t = %e) -> (tensor<12x8xf32>) {{
    %x = tensor.extract_slice %a[%i, 0] [6, 8] [1, 1] : tensor<12x8xf32> to tensor<6x8xf32>
    %y = tensor.extract_slice %t[%i, 0] [6, 8] [1, 1] : tensor<12x8xf32> to tensor<6x8xf32>
    %s = scf.for %j = %c0 to %c6 step %c2 iter_args(%u = %y) -> (tensor<6x8xf32>) {{
      %v = tensor.extract_slice %x[%j, 0] [2, 8] [1, 1] : tensor<6x8xf32> to tensor<2x8xf32>
      %w = tensor.extract_slice %u[%j, 0] [2, 8] [1, 1] : tensor<6x8xf32> to tensor<2x8xf32>
      %q = linalg.exp ins(%v : tensor<2x8xf32>) outs(%w : tensor<2x8xf32>) -> tensor<2x8xf32>
      %m = tensor.insert_slice %q into %u[%j, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<6x8xf32>
      scf.yield %m : tensor<6x8xf32>
    }}
    %n = tensor.insert_slice %s into %t[%i, 0] [6, 8] [1, 1] : tensor<6x8xf32> into tensor<12x8xf32>
    scf.yield %n : tensor<12x8xf32>
  }}
  return %r : tensor<12x8xf32>
}}"""

# Each version reads rows of the one before: not what the iteration has written already.
SHIFTED = """
func.func @main(%a: tensor<5x8xf32>) -> tensor<5x8xf32> {{
{constants}
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %a) -> (tensor<5x8xf32>) {{
    %k = arith.addi %i, %c1 : index
    %old = tensor.extract_slice %t[%k, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<1x8xf32>
    %here = tensor.extract_slice %t[%i, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<1x8xf32>
    %s = linalg.add ins(%here, %old : tensor<1x8xf32>, tensor<1x8xf32>) outs(%here : tensor<1x8xf32>) -> tensor<1x8xf32>
    %n = tensor.insert_slice %s into %t[%k, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<5x8xf32>
    %m = tensor.insert_slice %old into %n[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<5x8xf32>
    scf.yield %m : tensor<5x8xf32>
  }}
  return %r : tensor<5x8xf32>
}}"""

# Two carried tensors change places in every iteration.
SWAPPED = """
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
{constants}
  %x, %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a, %t = %b) -> (tensor<4xf32>, tensor<4xf32>) {{
    %n = linalg.add ins(%s, %t : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t, %n : tensor<4xf32>, tensor<4xf32>
  }}
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}}"""

# What a loop only reads stays what it was, and so does a version that is used after a newer one.
KEPT = """
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {{
{constants}
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %x, %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %b, %l = %b) -> (tensor<4xf32>, tensor<4xf32>) {{
    %n = linalg.mul ins(%s, %b : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %n, %s : tensor<4xf32>, tensor<4xf32>
  }}
  return %x, %y, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}}"""

# A slice without the axis of one element, and a scratch tensor that each iteration fills anew.
ROWS = """
func.func @main(%a: tensor<5x8xf32>) -> tensor<5x8xf32> {{
{constants}
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<5x8xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %e) -> (tensor<5x8xf32>) {{
    %x = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
    %f = tensor.empty() : tensor<8xf32>
    %o = linalg.fill ins(%one : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    %y = linalg.add ins(%x, %o : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    %n = tensor.insert_slice %y into %t[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<5x8xf32>
    scf.yield %n : tensor<5x8xf32>
  }}
  return %r : tensor<5x8xf32>
}}"""

Array = NDArray[np.float64]


def shifted(a: Array) -> list[Array]:
    t = a.copy()
    for i in range(4):
        t[i], t[i + 1] = t[i + 1].copy(), t[i] + t[i + 1]
    return [t]


def swapped(a: Array, b: Array) -> list[Array]:
    for _ in range(3):
        a, b = b, a + b
    return [a, b]


CASES = {
    "a matmul in tiles": (TILED_MATMUL, lambda a, b: [a @ b]),
    "tiles of tiles": (TILES_OF_TILES, lambda a: [np.exp(a)]),
    "rows that depend on others": (SHIFTED, shifted),
    "tensors that change places": (SWAPPED, swapped),
    "tensors that are kept": (KEPT, lambda a: [np.exp(4 * a), np.exp(3 * a), np.exp(a)]),
    "rows": (ROWS, lambda a: [a + 1]),
}


def parsed(text: str) -> Model:
    return Model(parse_mlir(make_context(), text.format(constants=CONSTANTS), "loops.mlir"))


@pytest.mark.parametrize("level", ["gawee", "kernels", "buffers", "loops", "llvm"])
@pytest.mark.parametrize("name", CASES)
def test_structured_ops_in_loops(name: str, level: str) -> None:
    text, expected = CASES[name]
    model = parsed(text)
    generator = np.random.default_rng(1)
    inputs = {
        each.name: generator.normal(size=shape_of(each)).astype(np.float32)
        for each in model.entry.main.inputs
    }

    outputs = list(model.run(inputs, level).values())

    wanted = expected(*(array.astype(np.float64) for array in inputs.values()))
    assert len(outputs) == len(wanted)
    for output, reference in zip(outputs, wanted, strict=True):
        assert_allclose(output, reference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["a matmul in tiles", "tiles of tiles"])
def test_tiles_are_computed_where_they_belong(name: str) -> None:
    module = parsed(CASES[name][0]).lowered(Level.BUFFERS)

    assert not [op for op in module.walk() if isinstance(op, memref.AllocOp | memref.CopyOp)]
