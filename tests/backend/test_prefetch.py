"""Prefetches, inside of memory and outside, change nothing that is computed, on every engine."""

from collections.abc import Callable

import numpy as np
import pytest

from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.universe import make_context
from tests.instruments.prove.proving import prove, unproved
from tests.loops_level import llvm_module, run_native
from tests.upstream_loops import run_upstream
from tests.upstream_mlir import requires_upstream, run_mlir_translate

Arrays = dict[str, np.ndarray]
Engine = Callable[[str, str, Arrays], Arrays]

KIND = "memref<7x20xf32>"
ONE = f"memref.prefetch %x[%i, %ahead], read, locality<2>, data : {KIND}"
LOOP = f"""
func.func @main(%x: {KIND} {{gawee.input = "x"}}, %y: {KIND} {{gawee.output = "y"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c20 = arith.constant 20 : index
  %far = arith.constant 1000000000 : index
  scf.for %i = %c0 to %c7 step %c1 {{
    scf.for %j = %c0 to %c20 step %c1 {{
      %ahead = arith.addi %j, %c20 : index
      {ONE}
      memref.prefetch %x[%far, %j], write, locality<0>, data : {KIND}
      %a = memref.load %x[%i, %j] : {KIND}
      %b = arith.addf %a, %a : f32
      memref.store %b, %y[%i, %j] : {KIND}
    }}
  }}
  return
}}
"""


def run_interpreted(text: str, function: str, inputs: Arrays) -> Arrays:
    """Run a function in the interpreter, whose loops are compiled to Python."""
    module = parse_mlir(make_context(), text, "test.mlir")
    return run_module(module, inputs, function=function)


def run_op_by_op(text: str, function: str, inputs: Arrays) -> Arrays:
    """Run the function with one prefetch outside of the loops, which is interpreted by itself."""
    first = ONE.replace("%i", "%c7").replace("%ahead", "%c20")
    return run_interpreted(text.replace("  scf.for %i", f"{first}\n  scf.for %i"), function, inputs)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(run_native, id="our LLVM IR"),
        pytest.param(run_upstream, id="upstream's LLVM IR", marks=requires_upstream),
        pytest.param(run_interpreted, id="interpreter of loops"),
        pytest.param(run_op_by_op, id="interpreter"),
    ],
)
def test_what_is_fetched_ahead_changes_no_result(engine: Engine) -> None:
    x = np.random.default_rng(0).standard_normal((7, 20), np.float32)

    found = engine(LOOP, "main", {"x": x})

    np.testing.assert_array_equal(found["y"], 2 * x)


def test_loops_that_prefetch_are_proved() -> None:
    module = parse_mlir(make_context(), LOOP, "test.mlir")

    assert unproved(prove(module, "convert-to-llvm")) == {}


def test_the_hint_reaches_llvm() -> None:
    text = llvm_text(llvm_module(LOOP))

    calls = [line.strip() for line in text.splitlines() if "call void @llvm.prefetch" in line]
    assert [line.rpartition("i32 ")[0].partition(",")[2] for line in calls] == [
        " i32 0, i32 2, ",
        " i32 1, i32 0, ",
    ]


@requires_upstream
def test_upstream_translates_the_op_of_the_llvm_dialect() -> None:
    text = run_mlir_translate(str(llvm_module(LOOP)))

    assert text.count("call void @llvm.prefetch.p0(ptr ") == 2
    assert "i32 0, i32 2, i32 1)" in text
    assert "i32 1, i32 0, i32 1)" in text
