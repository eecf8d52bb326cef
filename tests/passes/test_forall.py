"""scf.forall: iterations that put tensors together, right at every level.

The oracle is NumPy in float64. Tolerance: sums of up to 13 products of float32 in another order
differ by about 1e-6 of their size; 1e-5 is an order of magnitude more.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import memref, scf

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.passes.modules import shape_of
from tests.upstream_mlir import requires_upstream, run_mlir_opt

Array = NDArray[np.float64]

MATMUL = """
func.func @main(%a: tensor<11x13xf32>, %b: tensor<13x7xf32>) -> tensor<11x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<11x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<11x7xf32>) -> tensor<11x7xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (11, 7) step (4, 3) shared_outs(%t = %init) -> (tensor<11x7xf32>) {
    %m = affine.min affine_map<(d0) -> (-d0 + 11, 4)>(%i)
    %n = affine.min affine_map<(d0) -> (-d0 + 7, 3)>(%j)
    %x = tensor.extract_slice %a[%i, 0] [%m, 13] [1, 1] : tensor<11x13xf32> to tensor<?x13xf32>
    %y = tensor.extract_slice %b[0, %j] [13, %n] [1, 1] : tensor<13x7xf32> to tensor<13x?xf32>
    %z = tensor.extract_slice %t[%i, %j] [%m, %n] [1, 1] : tensor<11x7xf32> to tensor<?x?xf32>
    %p = linalg.matmul ins(%x, %y : tensor<?x13xf32>, tensor<13x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %t[%i, %j] [%m, %n] [1, 1] : tensor<?x?xf32> into tensor<11x7xf32>
    }
  }
  return %r : tensor<11x7xf32>
}"""

# Each row becomes the one before it, as it was: an iteration reads what another one writes.
ROTATED = """
func.func @main(%a: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<5x3xf32>
  %x = linalg.exp ins(%a : tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %r = scf.forall (%i) in (%c5) shared_outs(%t = %x) -> (tensor<5x3xf32>) {
    %k = affine.apply affine_map<(d0) -> ((d0 + 4) mod 5)>(%i)
    %row = tensor.extract_slice %t[%k, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %t[%i, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
    }
  }
  return %r : tensor<5x3xf32>
}"""

# Memory of its own for an iteration, and two results.
SCRATCH = """
func.func @main(%a: tensor<6x3xf32>) -> (tensor<6x3xf32>, tensor<3x6xf32>) {
  %e = tensor.empty() : tensor<6x3xf32>
  %f = tensor.empty() : tensor<3x6xf32>
  %r, %s = scf.forall (%i) = (0) to (6) step (2) shared_outs(%t = %e, %u = %f) -> (tensor<6x3xf32>, tensor<3x6xf32>) {
    %x = tensor.extract_slice %a[%i, 0] [2, 3] [1, 1] : tensor<6x3xf32> to tensor<2x3xf32>
    %g = tensor.empty() : tensor<2x3xf32>
    %y = linalg.exp ins(%x : tensor<2x3xf32>) outs(%g : tensor<2x3xf32>) -> tensor<2x3xf32>
    %h = tensor.empty() : tensor<3x2xf32>
    %z = linalg.transpose ins(%y : tensor<2x3xf32>) outs(%h : tensor<3x2xf32>) permutation = [1, 0]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %t[%i, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<6x3xf32>
      tensor.parallel_insert_slice %z into %u[0, %i] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<3x6xf32>
    }
  }
  return %r, %s : tensor<6x3xf32>, tensor<3x6xf32>
}"""

NESTED = """
func.func @main(%a: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %e = tensor.empty() : tensor<6x5xf32>
  %r = scf.forall (%i) = (0) to (6) step (3) shared_outs(%t = %e) -> (tensor<6x5xf32>) {
    %x = tensor.extract_slice %a[%i, 0] [3, 5] [1, 1] : tensor<6x5xf32> to tensor<3x5xf32>
    %y = tensor.extract_slice %t[%i, 0] [3, 5] [1, 1] : tensor<6x5xf32> to tensor<3x5xf32>
    %s = scf.forall (%j) in (5) shared_outs(%u = %y) -> (tensor<3x5xf32>) {
      %v = tensor.extract_slice %x[0, %j] [3, 1] [1, 1] : tensor<3x5xf32> to tensor<3x1xf32>
      %w = tensor.extract_slice %u[0, %j] [3, 1] [1, 1] : tensor<3x5xf32> to tensor<3x1xf32>
      %p = linalg.exp ins(%v : tensor<3x1xf32>) outs(%w : tensor<3x1xf32>) -> tensor<3x1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %p into %u[0, %j] [3, 1] [1, 1] : tensor<3x1xf32> into tensor<3x5xf32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %t[%i, 0] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<6x5xf32>
    }
  }
  return %r : tensor<6x5xf32>
}"""

CASES: dict[str, tuple[str, Callable[..., list[Array]]]] = {
    "a matmul with tails": (MATMUL, lambda a, b: [a @ b]),
    "rows that are rotated": (ROTATED, lambda a: [np.exp(np.roll(a, 1, axis=0))]),
    "memory for each iteration": (SCRATCH, lambda a: [np.exp(a), np.exp(a).T]),
    "loops in loops": (NESTED, lambda a: [np.exp(a)]),
}


def parsed(name: str) -> Model:
    return Model(parse_mlir(make_context(), CASES[name][0], "forall.mlir"))


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("name", CASES)
def test_iterations_put_tensors_together(name: str, level: Level) -> None:
    model = parsed(name)
    generator = np.random.default_rng(1)
    inputs = {
        each.name: generator.normal(size=shape_of(each)).astype(np.float32)
        for each in model.entry.main.inputs
    }

    outputs = list(model.run(inputs, level).values())

    wanted = CASES[name][1](*(array.astype(np.float64) for array in inputs.values()))
    assert len(outputs) == len(wanted)
    for output, reference in zip(outputs, wanted, strict=True):
        assert_allclose(output, reference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["a matmul with tails", "loops in loops"])
def test_iterations_without_memory_of_their_own_are_parallel(name: str) -> None:
    module = parsed(name).lowered(Level.BUFFERS)

    assert any(isinstance(op, scf.ParallelOp) for op in module.walk())
    assert not [op for op in module.walk() if isinstance(op, memref.AllocOp | memref.CopyOp)]


def test_iterations_that_use_the_same_memory_run_one_after_the_other() -> None:
    module = parsed("memory for each iteration").lowered(Level.BUFFERS)

    assert not any(isinstance(op, scf.ParallelOp) for op in module.walk())


@requires_upstream
@pytest.mark.parametrize("name", CASES)
def test_upstream_reads_what_is_printed(name: str) -> None:
    from gawee_dialect.frontends.mlir_text import print_mlir

    run_mlir_opt(print_mlir(parsed(name).module))
    run_mlir_opt(print_mlir(parsed(name).module, generic=True))
