"""Wrong passes on the llvm dialect: what is claimed, and what is computed."""

from collections.abc import Mapping

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.utils import FastMathFlag

from tests.instruments.edited import Edited
from tests.instruments.prove.networks import SUM
from tests.instruments.wrong import changes
from tests.instruments.wrong.buffers import BUFFERS
from tests.instruments.wrong.wrong_pass import RULE, Wrong, WrongPass

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

WHOLE = """
func.func @main(%x: memref<8xi32> {gawee.input = "x"}, %y: memref<8xi32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %d = memref.load %x[%i] : memref<8xi32>
    %e = arith.muli %d, %d : i32
    memref.store %e, %y[%i] : memref<8xi32>
  }
  return
}
"""

LLVM = "convert-to-llvm"
FROM_LINALG = "lower-linalg-to-loops,convert-to-llvm"
BY_KERNELS = "gawee-to-kernels,gawee-kernels-to-loops,convert-scf-to-openmp,convert-to-llvm"
STORE = "    llvm.store %zero, {} : f32, !llvm.ptr\n    llvm.return"


def writable(argument: str) -> tuple[str, str]:
    """Take back that a pointer is only read: LLVM deletes stores to those that are."""
    types = {
        "x": "memref<3x5xf32>, llvm.noalias, llvm.align = 4",
        "p": "memref<5xf32>, llvm.noalias, llvm.align = 64",
    }
    sizes = {"x": 60, "p": 20}
    old = f"{types[argument]} : i64, llvm.nonnull, llvm.dereferenceable = {sizes[argument]} : i64"
    return f"{old}, llvm.readonly", old


FLUSHED = ArrayAttr([ArrayAttr([StringAttr("denormal-fp-math"), StringAttr("preserve-sign")])])

CASES: Mapping[str, WrongPass] = {
    "machine code writes its input": WrongPass(
        BUFFERS,
        Edited(writable("x"), ("    llvm.return", STORE.format("%x"))),
        "'@main' writes its input 'x'",
        "'llvm.store' op writes its input 'x'",
        before=FROM_LINALG,
    ),
    "machine code writes what was prepared": WrongPass(
        BUFFERS,
        Edited(writable("p"), ("    llvm.return", STORE.format("%p"))),
        "'@main' writes its prepared '0'",
        "'llvm.store' op writes its prepared '0'",
        before=FROM_LINALG,
    ),
    "machine code writes before its output": WrongPass(
        BUFFERS,
        Edited(
            (
                "    llvm.return",
                "    %b = llvm.getelementptr %y[-1] : (!llvm.ptr) -> !llvm.ptr, f32\n"
                + STORE.format("%b"),
            )
        ),
        "'@main' writes outside of its output 'y'",
        "writes outside of its argument",
        FROM_LINALG,
    ),
    "a sum starts as what lies in the workspace": WrongPass(
        BUFFERS,
        Edited(("llvm.store %zero, %3", "llvm.store %zero, %y")),
        "first op that the pass changed: 'llvm.store' in '@main'",
        "first op that the pass changed: 'llvm.store' in '@main'",
        FROM_LINALG,
    ),
    "a sum in the place of a product": WrongPass(
        SUM,
        Wrong(changes.replace_first(llvm.FMulOp, llvm.FAddOp)),
        "first op that the pass changed: 'llvm.fmul' in '@elementwise_0', now 'llvm.fadd'",
        "first op that the pass changed: 'llvm.fmul' in '@elementwise_0', now 'llvm.fadd'",
        BY_KERNELS,
    ),
    "a kernel that works in place": WrongPass(
        CALL,
        Edited(
            ("llvm.call @k(%m, %u)", "llvm.call @k(%m, %m)"),
            ("llvm.call @k(%u, %y)", "llvm.call @k(%m, %y)"),
        ),
        f"net.json:30:5: error: pass 'edited' {RULE}'llvm.call' op "
        "arguments 0 and 1 of '@k' overlap, which it claims noalias",
        before=LLVM,
    ),
    "an output that is claimed to be readonly": WrongPass(
        CALL,
        Edited(
            (
                "llvm.dereferenceable = 32 : i64} loc(unknown), %m",
                "llvm.dereferenceable = 32 : i64, llvm.readonly} loc(unknown), %m",
            )
        ),
        "error: pass 'edited' ",  # by numbers where LLVM leaves the stores out, else by the rule
        "error: pass 'edited' ",
        before=LLVM,
    ),
    "an input that is claimed to be aligned": WrongPass(
        CALL,
        Edited(("llvm.align = 4", "llvm.align = 32")),
        "'llvm.func' op claims an alignment of input 'x' of 32, where callers promise 4",
        before=LLVM,
    ),
    "an argument of a kernel that is claimed to be aligned": WrongPass(
        CALL,
        Edited(
            (
                "@k(%a: !llvm.ptr {llvm.noalias, llvm.align = 4",
                "@k(%a: !llvm.ptr {llvm.noalias, llvm.align = 64",
            )
        ),
        "argument 0 of '@k' is aligned to 4, which claims 64",
        before=LLVM,
    ),
    "more of an input than there is": WrongPass(
        CALL,
        Edited(("llvm.dereferenceable = 32", "llvm.dereferenceable = 64")),
        "claims 64 bytes of input 'x', which has 32",
        before=LLVM,
    ),
    "a product of data that is claimed not to overflow": WrongPass(
        WHOLE,
        Edited(("llvm.mul %d, %d", "llvm.mul %d, %d overflow<nsw>")),
        f"{RULE}'llvm.mul' op claims not to overflow, which data decide",
        before=LLVM,
    ),
    "a load that is claimed to be aligned": WrongPass(
        CALL,
        Wrong(changes.align_load),
        f"pass 'wrong' {RULE}'llvm.load' op claims an alignment of 64, where its pointer has 4",
        before=LLVM,
    ),
    "a sum that is claimed to have no NaN": WrongPass(
        CALL,
        Wrong(
            changes.set_property(
                llvm.FAddOp, "fastmathFlags", llvm.FastMathAttr([FastMathFlag.NO_NANS])
            )
        ),
        f"pass 'wrong' {RULE}'llvm.fadd' op claims nnan, which data decide",
        before=LLVM,
    ),
    "subnormal numbers that are claimed to be zero": WrongPass(
        CALL,
        Wrong(changes.set_property(llvm.FuncOp, "passthrough", FLUSHED)),
        f"pass 'wrong' {RULE}'llvm.func' op claims denormal-fp-math of preserve-sign, which data",
        before=LLVM,
    ),
}
