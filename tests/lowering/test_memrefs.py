"""Functions on memrefs in upstream's words, interpreted and native, against NumPy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.upstream_mlir import requires_upstream, run_mlir_opt

F32 = NDArray[np.float32]


@dataclass(frozen=True)
class Function:
    """The body of a function of `%a`, 4x6, and `%b`, 6x4; it writes what `meaning` makes of `%b`."""

    text: str
    meaning: Callable[[F32, F32], F32]
    globals: str = ""

    @property
    def module(self) -> str:
        """The text of the module."""
        arguments = "%a: memref<4x6xf32>, %b: memref<6x4xf32>"
        return f"{self.globals}\nfunc.func @main({arguments}) {{\n{self.text}\n  return\n}}\n"


def lower_triangle(a: F32, b: F32) -> F32:
    """Return the transpose of `a` where a row is at least the column, else what was there doubled."""
    rows, columns = np.indices(b.shape)
    return np.where(rows >= columns, a.T, b + b)


FUNCTIONS = {
    "affine.if in loops of affine bounds": Function(
        """  affine.for %i = 0 to 6 {
    affine.for %j = 0 to min affine_map<(d0) -> (d0 + 9, 4)>(%i) {
      affine.if affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j) {
        %v = affine.load %a[%j, %i] : memref<4x6xf32>
        affine.store %v, %b[%i, %j] : memref<6x4xf32>
      } else {
        %v = affine.load %b[%i, %j] : memref<6x4xf32>
        %w = arith.addf %v, %v : f32
        affine.store %w, %b[%i, %j] : memref<6x4xf32>
      }
    }
  }""",
        lower_triangle,
    ),
    "affine.vector_load and affine.vector_store": Function(
        """  affine.for %i = 0 to 6 step 2 {
    %v = affine.vector_load %b[%i + 1, 0] : memref<6x4xf32>, vector<4xf32>
    affine.vector_store %v, %b[%i, 0] : memref<6x4xf32>, vector<4xf32>
  }""",
        lambda _, b: np.repeat(b[1::2], 2, axis=0),
    ),
    "memref.copy of a view, and memref.cast": Function(
        """  %v = memref.subview %a[0, 2] [4, 4] [1, 1] : memref<4x6xf32> to memref<4x4xf32, strided<[6, 1], offset: 2>>
  %w = memref.subview %b[1, 0] [4, 4] [1, 1] : memref<6x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 4>>
  memref.copy %v, %w : memref<4x4xf32, strided<[6, 1], offset: 2>> to memref<4x4xf32, strided<[4, 1], offset: 4>>
  %c = memref.cast %a : memref<4x6xf32> to memref<?x6xf32>
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %x = memref.load %c[%c3, %c3] : memref<?x6xf32>
  memref.store %x, %b[%c5, %c3] : memref<6x4xf32>""",
        lambda a, b: np.vstack([b[:1], a[:, 2:], np.concatenate([b[5:, :3], a[3:, 3:4]], axis=1)]),
    ),
    "branches to other blocks": Function(
        """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %c4 : index
  cf.cond_br %more, ^body, ^end
^body:
  %v = memref.load %a[%i, %c1] : memref<4x6xf32>
  memref.store %v, %b[%i, %i] : memref<6x4xf32>
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^end:""",
        lambda a, b: np.where(np.eye(*b.shape) == 1, np.append(a[:, 1], [0, 0])[:, None], b),
    ),
    "memref.global": Function(
        """  %w = memref.get_global @w : memref<4xf32>
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 4 {
      %v = affine.load %w[%j] : memref<4xf32>
      affine.store %v, %b[%i, %j] : memref<6x4xf32>
    }
  }""",
        lambda _, b: np.broadcast_to(np.array([1, 2, 3, -4], np.float32), b.shape),
        'memref.global "private" constant @w : memref<4xf32> = dense<[1.0, 2.0, 3.0, -4.0]>',
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_computes_what_numpy_does(name: str) -> None:
    function = FUNCTIONS[name]
    model = Model(parse_mlir(make_context(), function.module, "in.mlir"))
    random = np.random.default_rng(0)
    shapes = {"a": (4, 6), "b": (6, 4)}
    inputs = {key: random.uniform(-1, 1, shape).astype(np.float32) for key, shape in shapes.items()}
    expected = function.meaning(inputs["a"], inputs["b"])

    interpreted, native = model.run(inputs)["b"], model.compile(cache=False).run(inputs)["b"]

    # Nothing is rounded: numbers are moved, and one is doubled.
    np.testing.assert_array_equal(interpreted, expected)
    np.testing.assert_array_equal(native, expected)


@requires_upstream
@pytest.mark.parametrize("name", FUNCTIONS)
def test_upstream_reads_the_function(name: str) -> None:
    run_mlir_opt(FUNCTIONS[name].module)
