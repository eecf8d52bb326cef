"""Right modules break no static rule; `test_wrong_levels.py` has those that do."""

from pathlib import Path

import pytest

from gawee_dialect.instruments.check.static_rules import violations
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.instruments.checking import modules_in, parse
from tests.instruments.prove import networks
from tests.instruments.wrong import buffers, llvm, parallel

FILECHECK = Path(__file__).parent.parent / "filecheck"
OFFSETS = """
func.func @main(%x: memref<4xf32> {gawee.input = "x"}, %y: memref<4xf32> {gawee.output = "y"}) {
  %places = arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
  %one = arith.constant dense<1> : vector<4xindex>
  %next = arith.addi %places, %one : vector<4xindex>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %at = vector.extract %next[%i] : index from vector<4xindex>
    %before = arith.subi %at, %c1 : index
    %a = memref.load %x[%before] : memref<4xf32>
    memref.store %a, %y[%i] : memref<4xf32>
  }
  return
}
"""
"""What a lane of a vector says is where a load begins."""

UNSIGNED = """
func.func @main(%x: memref<4xf32> {gawee.input = "x"}, %y: memref<4xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %most = arith.constant -1 : i32
  %two = arith.constant 2 : i32
  scf.for %i = %c0 to %c4 step %c1 {
    %largest = arith.maxui %most, %two : i32
    %is_most = arith.cmpi eq, %largest, %most : i32
    %at = arith.select %is_most, %i, %c4 : index
    %a = memref.load %x[%at] : memref<4xf32>
    memref.store %a, %y[%i] : memref<4xf32>
  }
  return
}
"""
"""The greatest unsigned number of 32 bits is -1: the load is never at 4."""

RIGHT = {
    "a vector of indices": OFFSETS,
    "an unsigned maximum": UNSIGNED,
    "a reduction": buffers.SUM,
    "two halves of the workspace": buffers.TURNED,
    "a sum in a loop": parallel.LOOPS,
    "vectors": parallel.VECTORS,
    "rows, one after the other": parallel.SCAN,
    "calls of kernels": llvm.CALL,
    "whole numbers": llvm.WHOLE,
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(
    "passes", ["", "lower-linalg-to-loops,convert-scf-to-openmp,convert-to-llvm"]
)
def test_right_modules_break_no_rule(name: str, passes: str) -> None:
    module = parse(RIGHT[name])
    run_passes(make_context(), module, parse_passes(passes, all_passes()) if passes else ())

    assert list(violations(module)) == []


def test_slices_that_do_not_overlap_break_no_rule() -> None:
    assert list(violations(parse(parallel.SLICES))) == []


@pytest.mark.parametrize("name", ["RESIDUAL", "MOBILE", "TRANSFORMER", "WINOGRAD", "HALVES"])
def test_our_own_passes_break_no_rule(name: str) -> None:
    module, ctx = parse(getattr(networks, name)), make_context()
    passes = "gawee-to-kernels{num-threads=2},gawee-kernels-to-loops,convert-scf-to-openmp,convert-to-llvm"
    for each in parse_passes(passes, all_passes()):
        run_passes(ctx, module, [each])
        assert list(violations(module)) == []


@pytest.mark.parametrize("name", ["lower_kernels_to_loops", "convert_scf_to_openmp"])
def test_loops_of_ir_tests_break_no_rule(name: str) -> None:
    for module in modules_in(FILECHECK / "passes" / f"{name}.mlir"):
        assert list(violations(module)) == []
