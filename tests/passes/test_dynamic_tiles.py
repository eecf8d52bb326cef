"""Tiles whose last one is smaller, as tiling passes leave them: right at every level.

The oracle is NumPy in float64. Tolerance: sums of up to 45 products of float32 in another order
differ by about 1e-6 of their size; 1e-5 is an order of magnitude more. Those of float16 are rounded
once to 11 bits: 1e-3.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import memref
from xdsl.dialects.builtin import Float16Type, TensorType

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.hints import isa
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.effort import crossed

Array = NDArray[np.float64]

CONSTANTS = "\n".join(
    f"  %c{number} = arith.constant {number} : index" for number in (0, 1, 2, 3, 4, 5, 7, 11, 13)
)

# Three loops of tiles that divide no size; the innermost one adds up.
MATMUL = """
func.func @main(%a: tensor<11x13xf32>, %b: tensor<13x7xf32>) -> tensor<11x7xf32> {
CONSTANTS
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<11x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<11x7xf32>) -> tensor<11x7xf32>
  %r = scf.for %i = %c0 to %c11 step %c4 iter_args(%t0 = %init) -> (tensor<11x7xf32>) {
    %s = scf.for %j = %c0 to %c7 step %c3 iter_args(%t1 = %t0) -> (tensor<11x7xf32>) {
      %u = scf.for %k = %c0 to %c13 step %c5 iter_args(%t = %t1) -> (tensor<11x7xf32>) {
        %m = affine.min affine_map<(d0) -> (-d0 + 11, 4)>(%i)
        %n = affine.min affine_map<(d0) -> (-d0 + 7, 3)>(%j)
        %l = affine.min affine_map<(d0) -> (-d0 + 13, 5)>(%k)
        %x = tensor.extract_slice %a[%i, %k] [%m, %l] [1, 1] : tensor<11x13xf32> to tensor<?x?xf32>
        %y = tensor.extract_slice %b[%k, %j] [%l, %n] [1, 1] : tensor<13x7xf32> to tensor<?x?xf32>
        %z = tensor.extract_slice %t[%i, %j] [%m, %n] [1, 1] : tensor<11x7xf32> to tensor<?x?xf32>
        %p = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
        %q = tensor.insert_slice %p into %t[%i, %j] [%m, %n] [1, 1] : tensor<?x?xf32> into tensor<11x7xf32>
        scf.yield %q : tensor<11x7xf32>
      }
      scf.yield %u : tensor<11x7xf32>
    }
    scf.yield %s : tensor<11x7xf32>
  }
  return %r : tensor<11x7xf32>
}"""

# Sizes by arith.minui and by a comparison; tiles of tiles that carry a tensor of any size.
NESTED = """
func.func @main(%a: tensor<13x7xf32>) -> tensor<13x7xf32> {
CONSTANTS
  %e = tensor.empty() : tensor<13x7xf32>
  %r = scf.for %i = %c0 to %c13 step %c5 iter_args(%t = %e) -> (tensor<13x7xf32>) {
    %left = arith.subi %c13, %i : index
    %m = arith.minui %left, %c5 : index
    %x = tensor.extract_slice %a[%i, 0] [%m, 7] [1, 1] : tensor<13x7xf32> to tensor<?x7xf32>
    %y = tensor.extract_slice %t[%i, 0] [%m, 7] [1, 1] : tensor<13x7xf32> to tensor<?x7xf32>
    %rows = tensor.dim %x, %c0 : tensor<?x7xf32>
    %s = scf.for %j = %c0 to %rows step %c2 iter_args(%u = %y) -> (tensor<?x7xf32>) {
      %rest = arith.subi %rows, %j : index
      %is_less = arith.cmpi slt, %rest, %c2 : index
      %n = arith.select %is_less, %rest, %c2 : index
      %v = tensor.extract_slice %x[%j, 0] [%n, 7] [1, 1] : tensor<?x7xf32> to tensor<?x7xf32>
      %w = tensor.extract_slice %u[%j, 0] [%n, 7] [1, 1] : tensor<?x7xf32> to tensor<?x7xf32>
      %p = linalg.exp ins(%v : tensor<?x7xf32>) outs(%w : tensor<?x7xf32>) -> tensor<?x7xf32>
      %q = tensor.insert_slice %p into %u[%j, 0] [%n, 7] [1, 1] : tensor<?x7xf32> into tensor<?x7xf32>
      scf.yield %q : tensor<?x7xf32>
    }
    %o = tensor.insert_slice %s into %t[%i, 0] [%m, 7] [1, 1] : tensor<?x7xf32> into tensor<13x7xf32>
    scf.yield %o : tensor<13x7xf32>
  }
  return %r : tensor<13x7xf32>
}"""

# A tile of its own for what is in between: a buffer for the largest, outside of the loop.
SCRATCH = """
func.func @main(%a: tensor<3x11xf32>) -> tensor<3x11xf32> {
CONSTANTS
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<3x11xf32>
  %r = affine.for %i = 0 to 11 step 4 iter_args(%t = %e) -> (tensor<3x11xf32>) {
    %n = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 4)>(%i)[%c11]
    %x = tensor.extract_slice %a[0, %i] [3, %n] [1, 1] : tensor<3x11xf32> to tensor<3x?xf32>
    %f = tensor.empty(%n) : tensor<3x?xf32>
    %twos = linalg.fill ins(%two : f32) outs(%f : tensor<3x?xf32>) -> tensor<3x?xf32>
    %g = tensor.empty(%n) : tensor<3x?xf32>
    %y = linalg.mul ins(%x, %twos : tensor<3x?xf32>, tensor<3x?xf32>) outs(%g : tensor<3x?xf32>) -> tensor<3x?xf32>
    %z = linalg.add ins(%y, %twos : tensor<3x?xf32>, tensor<3x?xf32>) outs(%f : tensor<3x?xf32>) -> tensor<3x?xf32>
    %o = tensor.insert_slice %z into %t[0, %i] [3, %n] [1, 1] : tensor<3x?xf32> into tensor<3x11xf32>
    affine.yield %o : tensor<3x11xf32>
  }
  return %r : tensor<3x11xf32>
}"""

# Row %i of the result is the sum of the first %i + 1 rows: bounds and sizes by affine maps.
TRIANGLE = """
func.func @main(%a: tensor<5x4xf32>) -> tensor<5x4xf32> {
CONSTANTS
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %r = affine.for %i = 0 to 5 iter_args(%t = %init) -> (tensor<5x4xf32>) {
    %first = affine.max affine_map<(d0) -> (0, d0 - 2)>(%i)
    %n = affine.apply affine_map<(d0, d1) -> (d0 - d1 + 1)>(%i, %first)
    %x = tensor.extract_slice %a[%first, 0] [%n, 4] [1, 1] : tensor<5x4xf32> to tensor<?x4xf32>
    %y = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %s = linalg.reduce ins(%x : tensor<?x4xf32>) outs(%y : tensor<4xf32>) dimensions = [0]
      (%in: f32, %sum: f32) {
        %0 = arith.addf %in, %sum : f32
        linalg.yield %0 : f32
      }
    %o = tensor.insert_slice %s into %t[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<5x4xf32>
    affine.yield %o : tensor<5x4xf32>
  }
  return %r : tensor<5x4xf32>
}"""

# The last tile is padded to the size of the others, which is known.
PADDED = """
func.func @main(%a: tensor<7x5xf32>) -> tensor<7x5xf32> {
CONSTANTS
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<7x5xf32>
  %r = scf.for %i = %c0 to %c7 step %c3 iter_args(%t = %e) -> (tensor<7x5xf32>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 7, 3)>(%i)
    %high = affine.apply affine_map<(d0) -> (-d0 + 3)>(%n)
    %x = tensor.extract_slice %a[%i, 0] [%n, 5] [1, 1] : tensor<7x5xf32> to tensor<?x5xf32>
    %p = tensor.pad %x low[0, 0] high[%high, 0] {
    ^bb0(%k: index, %l: index):
      tensor.yield %one : f32
    } : tensor<?x5xf32> to tensor<3x5xf32>
    %f = tensor.empty() : tensor<3x5xf32>
    %y = linalg.exp ins(%p : tensor<3x5xf32>) outs(%f : tensor<3x5xf32>) -> tensor<3x5xf32>
    %z = tensor.extract_slice %y[0, 0] [%n, 5] [1, 1] : tensor<3x5xf32> to tensor<?x5xf32>
    %o = tensor.insert_slice %z into %t[%i, 0] [%n, 5] [1, 1] : tensor<?x5xf32> into tensor<7x5xf32>
    scf.yield %o : tensor<7x5xf32>
  }
  return %r : tensor<7x5xf32>
}"""

# Rows of a convolution: each tile reads as many more as the window reaches.
CONV = """
func.func @main(%x: tensor<1x2x11x7xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x9x5xf32> {
CONSTANTS
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x9x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x9x5xf32>) -> tensor<1x3x9x5xf32>
  %r = scf.for %i = %c0 to %c9 step %c4 iter_args(%t = %init) -> (tensor<1x3x9x5xf32>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 9, 4)>(%i)
    %m = affine.apply affine_map<(d0) -> (d0 + 2)>(%n)
    %a = tensor.extract_slice %x[0, 0, %i, 0] [1, 2, %m, 7] [1, 1, 1, 1] : tensor<1x2x11x7xf32> to tensor<1x2x?x7xf32>
    %c = tensor.extract_slice %t[0, 0, %i, 0] [1, 3, %n, 5] [1, 1, 1, 1] : tensor<1x3x9x5xf32> to tensor<1x3x?x5xf32>
    %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %w : tensor<1x2x?x7xf32>, tensor<3x2x3x3xf32>) outs(%c : tensor<1x3x?x5xf32>) -> tensor<1x3x?x5xf32>
    %o = tensor.insert_slice %y into %t[0, 0, %i, 0] [1, 3, %n, 5] [1, 1, 1, 1] : tensor<1x3x?x5xf32> into tensor<1x3x9x5xf32>
    scf.yield %o : tensor<1x3x9x5xf32>
  }
  return %r : tensor<1x3x9x5xf32>
}"""

# Sums of float16 are taken in float32, of tiles too.
HALF = """
func.func @main(%a: tensor<7x13xf16>) -> tensor<7xf16> {
CONSTANTS
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<7xf16>
  %r = scf.for %i = %c0 to %c7 step %c4 iter_args(%t = %e) -> (tensor<7xf16>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 7, 4)>(%i)
    %x = tensor.extract_slice %a[%i, 0] [%n, 13] [1, 1] : tensor<7x13xf16> to tensor<?x13xf16>
    %f = tensor.empty(%n) : tensor<?xf16>
    %y = linalg.fill ins(%zero : f16) outs(%f : tensor<?xf16>) -> tensor<?xf16>
    %s = linalg.reduce ins(%x : tensor<?x13xf16>) outs(%y : tensor<?xf16>) dimensions = [1]
      (%in: f16, %sum: f16) {
        %0 = arith.addf %in, %sum : f16
        linalg.yield %0 : f16
      }
    %o = tensor.insert_slice %s into %t[%i] [%n] [1] : tensor<?xf16> into tensor<7xf16>
    scf.yield %o : tensor<7xf16>
  }
  return %r : tensor<7xf16>
}"""

# Each tile is written where another one was read: nothing is in place. The casts forget and know.
MOVED = """
func.func @main(%a: tensor<11x3xf32>) -> tensor<11x3xf32> {
CONSTANTS
  %r = scf.for %i = %c0 to %c11 step %c4 iter_args(%t = %a) -> (tensor<11x3xf32>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 11, 4)>(%i)
    %j = affine.apply affine_map<(d0, d1) -> (-d0 - d1 + 11)>(%i, %n)
    %x = tensor.extract_slice %t[%i, 0] [%n, 3] [1, 1] : tensor<11x3xf32> to tensor<?x3xf32>
    %y = tensor.cast %x : tensor<?x3xf32> to tensor<?x?xf32>
    %z = tensor.cast %y : tensor<?x?xf32> to tensor<?x3xf32>
    %o = tensor.insert_slice %z into %a[%j, 0] [%n, 3] [1, 1] : tensor<?x3xf32> into tensor<11x3xf32>
    %p = tensor.insert_slice %z into %t[%j, 0] [%n, 3] [1, 1] : tensor<?x3xf32> into tensor<11x3xf32>
    %q = linalg.add ins(%o, %p : tensor<11x3xf32>, tensor<11x3xf32>) outs(%t : tensor<11x3xf32>) -> tensor<11x3xf32>
    scf.yield %q : tensor<11x3xf32>
  }
  return %r : tensor<11x3xf32>
}"""


def windows(a: Array) -> Array:
    return np.stack([a[max(0, row - 2) : row + 1].sum(axis=0) for row in range(len(a))])


def conv(x: Array, w: Array) -> Array:
    views = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.einsum("bchwij,ocij->bohw", views, w)


def moved(a: Array) -> Array:
    t = a.copy()
    for i in range(0, 11, 4):
        n = min(11 - i, 4)
        j = 11 - i - n
        o, p = a.copy(), t.copy()
        o[j : j + n] = p[j : j + n] = t[i : i + n]
        t = o + p
    return t


CASES: dict[str, tuple[str, Callable[..., Array]]] = {
    "a matmul with tails": (MATMUL, lambda a, b: a @ b),
    "tiles of tiles": (NESTED, np.exp),
    "tiles in between": (SCRATCH, lambda a: 2 * a + 2),
    "sums over windows": (TRIANGLE, windows),
    "padded tiles": (PADDED, np.exp),
    "rows of a convolution": (CONV, conv),
    "sums of float16": (HALF, lambda a: a.sum(axis=1)),
    "tiles that move": (MOVED, moved),
}

IN_PLACE = ["a matmul with tails", "tiles of tiles", "rows of a convolution", "sums over windows"]


def parsed(text: str) -> Model:
    return Model(parse_mlir(make_context(), text.replace("CONSTANTS", CONSTANTS), "tiles.mlir"))


def random_inputs(model: Model) -> dict[str, NDArray[np.floating]]:
    generator = np.random.default_rng(1)
    inputs: dict[str, NDArray[np.floating]] = {}
    for argument in model.entry.main.inputs:
        assert isa(argument.type, TensorType)
        half = isinstance(argument.type.element_type, Float16Type)
        numbers = generator.normal(size=argument.type.get_shape())
        inputs[argument.name] = numbers.astype(np.float16 if half else np.float32)
    return inputs


@pytest.mark.parametrize(("name", "level"), crossed(CASES, Level))
def test_smaller_last_tiles(name: str, level: Level) -> None:
    text, expected = CASES[name]
    model = parsed(text)
    inputs = random_inputs(model)

    (output,) = model.run(inputs, level).values()

    wanted = expected(*(array.astype(np.float64) for array in inputs.values()))
    tolerance = 1e-3 if output.dtype == np.float16 and level is not Level.GAWEE else 1e-5
    if output.dtype == np.float16 and level is Level.GAWEE:
        tolerance = 1e-2  # as it was read: every sum is rounded
    assert_allclose(output, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", IN_PLACE)
def test_tiles_of_any_size_are_computed_where_they_belong(name: str) -> None:
    module = parsed(CASES[name][0]).lowered(Level.BUFFERS)

    assert not [op for op in module.walk() if isinstance(op, memref.AllocOp | memref.CopyOp)]


def test_a_buffer_for_tiles_is_as_large_as_the_largest() -> None:
    module = parsed(SCRATCH).lowered(Level.BUFFERS)

    shapes = {op.memref.type.get_shape() for op in module.walk() if isinstance(op, memref.AllocOp)}

    assert shapes == {(3, 4)}


GROWS = """
func.func @main(%a: tensor<11xf32>) -> tensor<11xf32> {
CONSTANTS
  %s = tensor.extract_slice %a[0] [%c5] [1] : tensor<11xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %s) -> (tensor<?xf32>) {
    %n = arith.addi %i, %c4 : index
    %x = tensor.extract_slice %a[0] [%n] [1] : tensor<11xf32> to tensor<?xf32>
    scf.yield %x : tensor<?xf32>
  }
  %o = tensor.insert_slice %r into %a[0] [%c5] [1] : tensor<?xf32> into tensor<11xf32>
  return %o : tensor<11xf32>
}"""


def test_a_tensor_that_changes_its_size_is_refused() -> None:
    with pytest.raises(GaweeError, match="expected a tensor of the size of the one that the loop"):
        parsed(GROWS).lowered(Level.BUFFERS)


def test_the_axis_of_a_size_is_a_constant() -> None:
    text = NESTED.replace("tensor.dim %x, %c0", "tensor.dim %x, %i")

    with pytest.raises(GaweeError, match="cannot be bufferized: expected a constant axis"):
        parsed(text).lowered(Level.BUFFERS)


@pytest.mark.parametrize("axis", ["-1", "64"])
def test_an_axis_that_a_tensor_has_not_is_refused(axis: str) -> None:
    text = f"""
func.func @main(%x: tensor<2x3xf32>) -> index {{
  %axis = arith.constant {axis} : index
  %n = tensor.dim %x, %axis : tensor<2x3xf32>
  return %n : index
}}"""

    with pytest.raises(GaweeError, match=f"expected one of 2 dimensions, got {axis}"):
        parsed(text).lowered(Level.BUFFERS)
