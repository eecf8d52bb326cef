"""Parallel loops, what they compute, and their threads: for tests and for processes that they start.

Those import all of it, and nothing of pytest.
"""

import os

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.backend import openmp
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.jit import initialize
from tests.loops_level import llvm_module

__all__ = [
    "EXPECTED",
    "INPUTS",
    "ROWS",
    "TWO_LOOPS",
    "CompiledModel",
    "llvm_module",
    "np",
    "openmp",
    "runtime",
    "thread_count",
]

ROWS = """
func.func @main(%x: memref<7x13xf32> {gawee.input = "x"}, %scale: memref<f32> {gawee.input = "scale"},
                %y: memref<7x13xf32> {gawee.output = "y"}, %workspace: memref<1024xi8> {gawee.workspace}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c12 = arith.constant 12 : index
  %c13 = arith.constant 13 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.load %scale[] : memref<f32>
  %between = memref.view %workspace[%c128][] : memref<1024xi8> to memref<7x13xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c7, %c13) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<7x13xf32>
    %scaled = arith.mulf %v, %s : f32
    memref.store %scaled, %between[%i, %j] : memref<7x13xf32>
    scf.reduce
  }
  // The columns of a row in pairs: both get the sum of the row up to the first of them.
  scf.parallel (%i) = (%c0) to (%c7) step (%c1) {
    %own = memref.alloca() : memref<1xf32>
    memref.store %zero, %own[%c0] : memref<1xf32>
    scf.for %j = %c0 to %c13 step %c2 {
      %v = memref.load %between[%i, %j] : memref<7x13xf32>
      %before = memref.load %own[%c0] : memref<1xf32>
      %sum = arith.addf %before, %v : f32
      memref.store %sum, %own[%c0] : memref<1xf32>
      memref.store %sum, %y[%i, %j] : memref<7x13xf32>
      %is_last = arith.cmpi eq, %j, %c12 : index
      scf.if %is_last {
      } else {
        %next = arith.addi %j, %c1 : index
        memref.store %sum, %y[%i, %next] : memref<7x13xf32>
      }
    }
    scf.reduce
  }
  return
}
"""
"""Captures of memrefs, views, numbers and a stack buffer of each iteration's own."""

RNG = np.random.default_rng(0)
INPUTS: dict[str, NDArray[np.float32]] = {
    "x": RNG.integers(-8, 8, (7, 13)).astype(np.float32),
    "scale": np.array(0.5, np.float32),
}
# Small integers and halves: every sum is exact, so results are equal to the last bit.
EXPECTED = np.repeat(np.cumsum(INPUTS["x"][:, ::2] * 0.5, axis=1), 2, axis=1)[:, :13]


def thread_count() -> int:
    return len(os.listdir("/proc/self/task"))


def runtime(*symbols: str) -> openmp.Runtime:
    """Return what starts the teams of code that calls some functions."""
    initialize()
    with openmp.linked(symbols or (openmp.START_TEAM,)) as found:
        assert found is not None
        return found


TWO_LOOPS = """
func.func @main(%x: memref<50xf32> {gawee.input = "x"}, %y: memref<50xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c49 = arith.constant 49 : index
  %c50 = arith.constant 50 : index
  %t = memref.alloca() : memref<50xf32>
  "omp.parallel"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0>}> ({
    "omp.wsloop"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> ({
      "omp.loop_nest"(%c0, %c49, %c1) <{loop_inclusive}> ({
      ^bb0(%i: index):
        %v = memref.load %x[%i] : memref<50xf32>
        memref.store %v, %t[%i] : memref<50xf32>
        omp.yield
      }) : (index, index, index) -> ()
    }) : () -> ()
    "omp.wsloop"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> ({
      "omp.loop_nest"(%c0, %c50, %c1) ({
      ^bb0(%i: index):
        %back = arith.subi %c49, %i : index
        %v = memref.load %t[%back] : memref<50xf32>
        memref.store %v, %y[%i] : memref<50xf32>
        omp.yield
      }) : (index, index, index) -> ()
    }) : () -> ()
    "omp.terminator"() : () -> ()
  }) : () -> ()
  return
}
"""
