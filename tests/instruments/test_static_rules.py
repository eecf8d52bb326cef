"""What no run can see, and a rule does: loops that are not parallel, claims that are not so.

Each wrong module computes the right numbers when it is run, one iteration after the other.
"""

from dataclasses import dataclass

import pytest

from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.check.static_rules import violations
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.instruments.checking import parse
from tests.instruments.edited import Edited

SUM = """
func.func @main(%x: memref<3x5xf32> {gawee.input = "x"}, %y: memref<3xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0.000000e+00 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<3xf32>)
  linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x5xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    linalg.yield %d : f32
  } loc("net.json":10:5)
  return
}
"""

LOOPS = """
func.func @main(%x: memref<3x5xf32> {gawee.input = "x"}, %y: memref<3xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
    memref.store %zero, %y[%i] : memref<3xf32>
    scf.for %k = %c0 to %c5 step %c1 {
      %a = memref.load %x[%i, %k] : memref<3x5xf32>
      %b = memref.load %y[%i] : memref<3xf32>
      %d = arith.addf %a, %b : f32
      memref.store %d, %y[%i] : memref<3xf32>
    }
    scf.reduce
  } loc("net.json":20:5)
  return
}
"""

CALL = """
func.func @main(%x: memref<8xf32> {gawee.input = "x"}, %y: memref<8xf32> {gawee.output = "y"}, %m: memref<128xi8> {gawee.workspace}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %t = memref.view %m[%c0][] : memref<128xi8> to memref<8xf32>
  %u = memref.view %m[%c64][] : memref<128xi8> to memref<8xf32>
  func.call @k(%x, %t) : (memref<8xf32>, memref<8xf32>) -> ()
  func.call @k(%t, %u) : (memref<8xf32>, memref<8xf32>) -> () loc("net.json":30:5)
  func.call @k(%u, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}
func.func private @k(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %d = memref.load %a[%i] : memref<8xf32>
    %e = arith.addf %d, %d : f32
    memref.store %e, %b[%i] : memref<8xf32>
  }
  return
}
"""


@dataclass(frozen=True)
class Case:
    """What a pass changes at some level, and what has to be said about it."""

    module: str
    edit: Edited
    message: str
    before: str = ""


INNER = ("scf.for %k = %c0 to %c5 step %c1 {", "scf.parallel (%k) = (%c0) to (%c5) step (%c1) {")
OMP = "convert-scf-to-openmp"
LLVM = "convert-to-llvm"

CASES = {
    "a reduction that is called parallel": Case(
        SUM,
        Edited(('"reduction"', '"parallel"')),
        "net.json:10:5: error: pass 'edited' is wrong where no run shows it: 'linalg.generic' op "
        "calls loop 1 parallel, which no index of its output depends on",
    ),
    "a sum in a parallel loop": Case(
        LOOPS,
        Edited(INNER),
        "'scf.parallel' op runs loop 0 in parallel, each iteration of which writes the same place "
        "by 'memref.store'",
    ),
    "one scratch element for all iterations": Case(
        LOOPS,
        Edited(
            ("    scf.parallel", "    %s = memref.alloca() : memref<1xf32>\n    scf.parallel"),
            (
                "memref.store %zero, %y[%i] : memref<3xf32>",
                "memref.store %zero, %s[%c0] : memref<1xf32>",
            ),
            ("memref.load %y[%i] : memref<3xf32>", "memref.load %s[%c0] : memref<1xf32>"),
            (
                "memref.store %d, %y[%i] : memref<3xf32>",
                "memref.store %d, %s[%c0] : memref<1xf32>\n"
                "        memref.store %d, %y[%i] : memref<3xf32>",
            ),
        ),
        "net.json:20:5: error: pass 'edited' is wrong where no run shows it: 'scf.parallel' op "
        "runs loop 0 in parallel",
    ),
    "a kernel that works in place": Case(
        CALL,
        Edited(
            ("llvm.call @k(%m, %u)", "llvm.call @k(%m, %m)"),
            ("llvm.call @k(%u, %y)", "llvm.call @k(%m, %y)"),
        ),
        "net.json:30:5: error: pass 'edited' is wrong where no run shows it: 'llvm.call' op "
        "arguments 0 and 1 of '@k' overlap, which it claims noalias",
        LLVM,
    ),
    "an output that is claimed to be readonly": Case(
        CALL,
        Edited(
            (
                "llvm.dereferenceable = 32 : i64} loc(unknown), %m",
                "llvm.dereferenceable = 32 : i64, llvm.readonly} loc(unknown), %m",
            )
        ),
        "'llvm.call' op writes an argument that '@main' claims to be readonly",
        LLVM,
    ),
    "an input that is claimed to be aligned": Case(
        CALL,
        Edited(("llvm.align = 4", "llvm.align = 32")),
        "'llvm.func' op claims an alignment of input 'x' of 32, where callers promise 4",
        LLVM,
    ),
    "an argument of a kernel that is claimed to be aligned": Case(
        CALL,
        Edited(
            (
                "@k(%a: !llvm.ptr {llvm.noalias, llvm.align = 4",
                "@k(%a: !llvm.ptr {llvm.noalias, llvm.align = 64",
            )
        ),
        "argument 0 of '@k' is aligned to 4, which claims 64",
        LLVM,
    ),
    "more of an input than there is": Case(
        CALL,
        Edited(("llvm.dereferenceable = 32", "llvm.dereferenceable = 64")),
        "claims 64 bytes of input 'x', which has 32",
        LLVM,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_no_run_shows_is_caught(name: str) -> None:
    case = CASES[name]
    module, check = parse(case.module), CheckEach()
    run_passes(
        make_context(), module, parse_passes(case.before, all_passes()) if case.before else ()
    )

    with instrumented(check), pytest.raises(CheckFailure) as caught:
        run_passes(make_context(), module, [case.edit])

    assert caught.value.pass_name == "edited"
    assert case.message in str(caught.value)


@pytest.mark.parametrize("text", [SUM, LOOPS, CALL])
@pytest.mark.parametrize("level", ["", LLVM])
def test_right_modules_break_no_rule(text: str, level: str) -> None:
    module = parse(text)
    passes = "lower-linalg-to-loops,convert-to-llvm" if level else ""
    run_passes(make_context(), module, parse_passes(passes, all_passes()) if passes else ())

    assert list(violations(module)) == []
