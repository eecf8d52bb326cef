"""What a pass may not do to memory: write what is its caller's, read what nobody wrote, keep state.

Each module computes the right outputs but for that, once and on memory that happens to suit.
"""

from dataclasses import dataclass

import pytest

from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.instruments.checking import parse
from tests.instruments.edited import Edited

BUFFERS = """
func.func @main(%x: memref<3x5xf32> {gawee.input = "x"}, %p: memref<5xf32> {gawee.prepared = "0"},
                %y: memref<3x5xf32> {gawee.output = "y"},
                %m: memref<256xi8> {gawee.workspace}) {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %t = memref.view %m[%c0][] : memref<256xi8> to memref<3x5xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<3x5xf32>) loc("net.json":5:5)
  linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x, %p : memref<3x5xf32>, memref<5xf32>) outs(%t : memref<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.mulf %a, %b : f32
    %e = arith.maxnumf %d, %c : f32
    linalg.yield %e : f32
  } loc("net.json":10:5)
  "memref.copy"(%t, %y) : (memref<3x5xf32>, memref<3x5xf32>) -> () loc("net.json":20:5)
  return
}
func.func @prepare(%w: memref<5xf32> {gawee.parameter = "fc.weight"},
                   %o: memref<5xf32> {gawee.output = "0"}) {
  "memref.copy"(%w, %o) : (memref<5xf32>, memref<5xf32>) -> () loc("net.json":30:5)
  return
}
"""


def failure(text: str, before: str, edit: Edited) -> str:
    module, check = parse(text), CheckEach()
    run_passes(make_context(), module, parse_passes(before, all_passes()) if before else ())
    with instrumented(check), pytest.raises(CheckFailure) as caught:
        run_passes(make_context(), module, [edit])
    assert caught.value.pass_name == "edited"
    return str(caught.value)


COPY = '"memref.copy"({}, {}) : (memref<{}xf32>, memref<{}xf32>) -> () loc("net.json":40:5)\n'
LLVM = "lower-linalg-to-loops,convert-to-llvm"
RETURN = "    func.return"
STORE = "    llvm.store %zero, {} : f32, !llvm.ptr\n    llvm.return"


@dataclass(frozen=True)
class Case:
    """What a pass changes at some level, and what has to be said about it."""

    edit: Edited
    message: str
    before: str = ""


def insert(text: str, before: str) -> Edited:
    return Edited((before, text + before))


def writable(argument: str) -> tuple[str, str]:
    """Take back that a pointer is only read: LLVM deletes stores to those that are."""
    types = {
        "x": "memref<3x5xf32>, llvm.noalias, llvm.align = 4",
        "p": "memref<5xf32>, llvm.noalias, llvm.align = 64",
    }
    sizes = {"x": 60, "p": 20}
    old = f"{types[argument]} : i64, llvm.nonnull, llvm.dereferenceable = {sizes[argument]} : i64"
    return f"{old}, llvm.readonly", old


CASES = {
    "main writes its input": Case(
        insert(COPY.format("%t", "%x", "3x5", "3x5"), RETURN),
        "net.json:40:5: error: pass 'edited' left a module that cannot be run: 'memref.copy' op "
        "writes its input 'x'",
    ),
    "main writes what was prepared": Case(
        insert("linalg.fill ins(%zero : f32) outs(%p : memref<5xf32>)\n", RETURN),
        "'linalg.fill' op writes its prepared '0'",
    ),
    "prepare writes a weight": Case(
        insert(COPY.format("%o", "%w", "5", "5"), f'{RETURN} loc("test.mlir":21'),
        "'memref.copy' op writes its parameter 'fc.weight'",
    ),
    "a loop writes its input": Case(
        insert("memref.store %zero, %x[%c0, %c0] : memref<3x5xf32>\n", RETURN),
        "'memref.store' op writes its input 'x'",
        "lower-linalg-to-loops",
    ),
    "machine code writes its input": Case(
        Edited(writable("x"), ("    llvm.return", STORE.format("%x"))),
        "'@main' writes its input 'x'",
        LLVM,
    ),
    "machine code writes what was prepared": Case(
        Edited(writable("p"), ("    llvm.return", STORE.format("%p"))),
        "'@main' writes its prepared '0'",
        LLVM,
    ),
    "machine code writes before its output": Case(
        Edited(
            (
                "    llvm.return",
                "    %b = llvm.getelementptr %y[-1] : (!llvm.ptr) -> !llvm.ptr, f32\n"
                + STORE.format("%b"),
            )
        ),
        "'@main' writes outside of its output 'y'",
        LLVM,
    ),
    "a sum starts as what lies in the workspace": Case(
        Edited(("linalg.fill ins(%zero : f32) outs(%t", "linalg.fill ins(%zero : f32) outs(%y")),
        "net.json:10:5: error: pass 'edited' moved output 'y' at ",
    ),
    "the same in machine code": Case(
        Edited(("llvm.store %zero, %4", "llvm.store %zero, %y")),
        "pass 'edited' moved output 'y' at ",
        LLVM,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_pass_does_to_memory_is_caught(name: str) -> None:
    case = CASES[name]

    assert case.message in failure(BUFFERS, case.before, case.edit)


# Each run adds to what the last one left; the first one finds zeros.
KEPT = """    %g = memref.get_global @kept : memref<3x5xf32>
    linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<3x5xf32>) outs(%g : memref<3x5xf32>) {
    ^bb0(%a: f32, %b: f32):
      %d = arith.addf %a, %b : f32
      linalg.yield %d : f32
    } loc("net.json":15:5)
    "memref.copy"(%g, %y) : (memref<3x5xf32>, memref<3x5xf32>) -> ()
"""


@pytest.mark.parametrize("before", ["", "lower-linalg-to-loops"])
def test_state_that_a_run_leaves_is_caught_by_the_second_run(before: str) -> None:
    globals_ = '"memref.global"() {sym_name = "kept", type = memref<3x5xf32>, initial_value = dense<0.0> : tensor<3x5xf32>, sym_visibility = "private"} : () -> ()'
    with_global = BUFFERS.replace("func.func @main", f"{globals_}\nfunc.func @main")

    message = failure(with_global, before, insert(KEPT, RETURN))

    assert "pass 'edited' moved output 'y' at " in message
    assert "on data with ties" in message
