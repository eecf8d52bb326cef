"""The text of LLVM IR: names, constants, phis, flags, metadata, and what is refused."""

import struct

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    f16,
    f32,
    f64,
)

from gawee_dialect.backend.jit import NativeModule, Target, make_machine, parse_llvm
from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.backend.llvm_values import float_text
from gawee_dialect.backend.signature import signature_of
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.universe import make_context
from tests.loops_level import llvm_module


def parsed(llvm_dialect: str) -> ModuleOp:
    return parse_mlir(make_context(), llvm_dialect, "test.mlir")


def text_of(llvm_dialect: str) -> str:
    """Return the LLVM IR of llvm-dialect text, which LLVM must accept."""
    text = llvm_text(parsed(llvm_dialect))
    parse_llvm(text)
    return text


def test_arguments_of_an_intrinsic_keep_their_attributes() -> None:
    text = text_of("""
llvm.func @f(%p: !llvm.ptr, %m: vector<4xi1>, %x: vector<4xf32>) {
  %l = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"(%p, %m, %x) {arg_attrs = [{llvm.align = 4 : i64}, {}, {}]}
    : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.call_intrinsic "llvm.masked.store.v4f32.p0"(%l, %p, %m) : (vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()
  llvm.return
}
""")

    assert "@llvm.masked.load.v4f32.p0(ptr align 4 %p, <4 x i1> %m, <4 x float> %x)" in text
    assert "@llvm.masked.store.v4f32.p0(<4 x float> %l, ptr %p, <4 x i1> %m)" in text


def test_atomic_accesses_keep_their_order() -> None:
    text = text_of("""
llvm.func @f(%p: !llvm.ptr) {
  %x = llvm.load %p atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  "llvm.store"(%x, %p) <{ordering = 7 : i64, alignment = 4 : i64, volatile_}> : (i32, !llvm.ptr) -> ()
  llvm.return
}
""")

    assert "load atomic i32, ptr %p acquire, align 4" in text
    assert "store atomic volatile i32 %x, ptr %p seq_cst, align 4" in text


def test_values_keep_their_names_and_loops_are_called_after_their_variable() -> None:
    text = text_of("""
llvm.func @f(%n: i64, %out: !llvm.ptr {llvm.noalias, llvm.align = 8 : i64, gawee.output = "y"}) {
  %zero = llvm.mlir.constant(0) : i64
  %one = llvm.mlir.constant(1) : i64
  llvm.br ^bb1(%zero, %zero : i64, i64)
^bb1(%row: i64, %total: i64):
  %more = llvm.icmp "slt" %row, %n : i64
  llvm.cond_br %more, ^bb2, ^bb3
^bb2:
  %sum = llvm.add %total, %row overflow<nsw,nuw> : i64
  %next = llvm.add %row, %one : i64
  llvm.br ^bb1(%next, %sum : i64, i64)
^bb3:
  llvm.store %total, %out {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.return
}
""")

    assert text == """\
define void @f(i64 %n, ptr noalias align 8 %out) {
entry:
  br label %loop.row

loop.row:
  %row = phi i64 [ 0, %entry ], [ %next, %body.row ]
  %total = phi i64 [ 0, %entry ], [ %sum, %body.row ]
  %more = icmp slt i64 %row, %n
  br i1 %more, label %body.row, label %done.row

body.row:
  %sum = add nsw nuw i64 %total, %row
  %next = add i64 %row, 1
  br label %loop.row

done.row:
  store i64 %total, ptr %out, align 8
  ret void
}
"""  # fmt: skip


def test_equal_names_are_told_apart_and_unnamed_values_say_what_they_are() -> None:
    text = text_of("""
llvm.func @f(%x: f32) -> f32 {
  %x_1 = llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<fast>} : f32
  %0 = llvm.fmul %x_1, %x {fastmathFlags = #llvm.fastmath<contract>} : f32
  %1 = llvm.fmul %0, %x : f32
  llvm.return %1 : f32
}
""")

    assert "%x.1 = fadd fast float %x, %x" in text
    assert "%fmul = fmul contract float %x.1, %x" in text
    assert "%fmul.1 = fmul float %fmul, %x" in text


def test_one_block_on_both_sides_of_a_branch_gets_one_value_a_predecessor() -> None:
    text = text_of("""
llvm.func @pick(%c: i1, %a: i64, %b: i64) -> i64 {
  llvm.cond_br %c, ^bb1(%a, %a : i64, i64), ^bb1(%b, %a : i64, i64)
^bb1(%r: i64, %s: i64):
  %t = llvm.sub %r, %s : i64
  llvm.return %t : i64
}
""")

    assert "%-merged.entry.0 = select i1 %c, i64 %a, i64 %b" in text
    assert "%r = phi i64 [ %-merged.entry.0, %entry ]" in text


def test_loop_annotations_become_metadata() -> None:
    text = text_of("""
llvm.func @spin() {
  llvm.br ^bb1
^bb1:
  llvm.br ^bb1 {loop_annotation = #llvm.loop_annotation<vectorize = <disable = false, width = 8 : i32>, unroll = <full = true>>}
}
""")

    assert "br label %block, !llvm.loop !3" in text
    assert '!0 = !{!"llvm.loop.vectorize.enable", i1 true}' in text
    assert '!1 = !{!"llvm.loop.vectorize.width", i32 8}' in text
    assert '!2 = !{!"llvm.loop.unroll.full"}' in text
    assert "!3 = distinct !{!3, !0, !1, !2}" in text


def test_vectors_and_intrinsics() -> None:
    text = text_of("""
llvm.func @axpy(%a: vector<4xf32>, %b: vector<4xf32>, %x: f32) -> f32 {
  %zero = llvm.mlir.constant(0) : i64
  %scale = llvm.mlir.constant(dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>) : vector<4xf32>
  %undef = llvm.mlir.undef : vector<4xf32>
  %one = llvm.insertelement %x, %undef[%zero : i64] : vector<4xf32>
  %all = llvm.shufflevector %one, %undef [0, 0, 0, 0] : vector<4xf32>
  %fma = llvm.intr.fma(%a, %b, %all) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %max = llvm.intr.maximum(%fma, %scale) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %sum = "llvm.intr.vector.reduce.fadd"(%x, %max) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<4xf32>) -> f32
  llvm.return %sum : f32
}
""")

    assert "insertelement <4 x float> undef, float %x, i64 0" in text
    assert (
        "shufflevector <4 x float> %one, <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>"
        in text
    )
    assert (
        "call <4 x float> @llvm.maximum.v4f32(<4 x float> %fma, <4 x float> <float 1.0, float 2.0"
        in text
    )
    assert "call reassoc float @llvm.vector.reduce.fadd.v4f32(float %x, <4 x float> %max)" in text


@pytest.mark.parametrize(
    "value", [0.1, -1.5, 1e-45, 3.4e38, float("inf"), float("-inf"), -0.0, 1e16]
)
def test_float_constants_are_exact(value: float) -> None:
    for type, dtype in ((f16, np.float16), (f32, np.float32), (f64, np.float64)):
        with np.errstate(over="ignore"):
            rounded = dtype(value)
        text = float_text(float(rounded), type)

        if text.startswith("0xH"):
            read = struct.unpack(">e", bytes.fromhex(text[3:]))[0]
        elif text.startswith("0x"):
            read = struct.unpack(">d", bytes.fromhex(text[2:]))[0]
        else:
            read = float(text)

        assert dtype(read).tobytes() == rounded.tobytes()


def test_nodes_of_the_graph_are_named_in_comments() -> None:
    module = llvm_module(
        "func.func @f(%x: memref<f32>) {\n  %v = memref.load %x[] : memref<f32>\n  return\n}"
    )
    place = FileLineColLoc(StringAttr("net.json"), IntAttr(3), IntAttr(1))
    for op in module.walk():
        if op.name == "llvm.load":
            op.location = NameLoc(StringAttr("layer1.0.conv1"), place)

    assert '  ; node "layer1.0.conv1"\n  %v = load float, ptr %x' in llvm_text(module)


def test_long_globals_are_written_as_bytes() -> None:
    values = ", ".join(f"{index}.5" for index in range(20))
    text = text_of(f"""
llvm.mlir.global private constant @short(dense<[1, -2]> : tensor<2xi32>) {{addr_space = 0 : i32, alignment = 64 : i64}} : !llvm.array<2 x i32>
llvm.mlir.global private constant @long(dense<[{values}]> : tensor<20xf32>) {{addr_space = 0 : i32}} : !llvm.array<20 x f32>
llvm.mlir.global internal @zeros(dense<0> : tensor<9xi8>) {{addr_space = 0 : i32}} : !llvm.array<9 x i8>
""")

    assert "@short = private constant [2 x i32] [i32 1, i32 -2], align 64" in text
    assert '@long = private constant [80 x i8] c"\\00\\00\\00\\3F' in text
    assert "@zeros = internal global [9 x i8] zeroinitializer" in text


def refusal(llvm_dialect: str) -> str:
    with pytest.raises(GaweeError) as caught:
        llvm_text(parsed(llvm_dialect))
    return str(caught.value)


def test_ops_without_an_instruction_are_refused_where_they_are() -> None:
    message = refusal("""llvm.func @f(%n: i64) {
  %a = arith.addi %n, %n : i64
  llvm.return
}""")

    assert message == (
        "test.mlir:2:3: error: 'arith.addi' op cannot be written as LLVM IR: "
        "no instruction is known for it"
    )
    assert "no LLVM IR is known for it" in refusal("func.func @g() {\n  return\n}")
    assert "unsupported call of a pointer or a variadic function" in refusal(
        "llvm.func @f(%p: !llvm.ptr) {\n  llvm.call %p() : !llvm.ptr, () -> ()\n  llvm.return\n}"
    )
    assert "expected an alignment, which an atomic access needs" in refusal(
        "llvm.func @f(%p: !llvm.ptr) {\n  %x = llvm.load %p atomic monotonic : !llvm.ptr -> i32\n"
        "  llvm.return\n}"
    )


def test_types_without_a_spelling_are_refused() -> None:
    assert "unsupported type 'bf16'" in refusal("llvm.func @f(%x: bf16) {\n  llvm.return\n}")


def test_modules_that_llvm_rejects_are_said_to_be_our_error() -> None:
    with pytest.raises(GaweeError, match="LLVM rejects the module: "):
        parse_llvm("define void @f() { ret i32 1 }")
    broken = parsed("llvm.func @f(%x: f32) -> i32 {\n  llvm.return %x : f32\n}")
    with pytest.raises(GaweeError, match="LLVM rejects the module"):
        NativeModule(broken)


def test_a_function_that_nobody_defines_is_named() -> None:
    module = parsed(
        "llvm.func @no_such_function()\n"
        "llvm.func @f() {\n  llvm.call @no_such_function() : () -> ()\n  llvm.return\n}"
    )

    with pytest.raises(GaweeError, match="expected a definition of '@no_such_function'"):
        NativeModule(module)


def test_arguments_that_nothing_describes_are_refused() -> None:
    scalar = parsed("llvm.func @f(%n: i64) {\n  llvm.return\n}")
    with pytest.raises(GaweeError, match="expected a buffer as argument 0 of '@f', got 'i64'"):
        signature_of(scalar, "f")
    bare = parsed("llvm.func @f(%p: !llvm.ptr) {\n  llvm.return\n}")
    with pytest.raises(GaweeError, match=r"got '!llvm\.ptr' without a 'gawee\.type'"):
        signature_of(bare, "f")
    declared = parsed("llvm.func @f(!llvm.ptr)")
    with pytest.raises(GaweeError, match=r"'llvm\.func' op expected '@f' to have a body"):
        signature_of(declared, "f")


def test_wide_vectors_are_asked_for_where_the_processor_has_them() -> None:
    assert Target(cpu="znver4", features="+avx512f").function_attributes() == {
        "prefer-vector-width": "512"
    }
    assert Target(cpu="haswell", features="+avx2").function_attributes() == {}
    assert make_machine(Target(cpu="x86-64-v3"), jit=False).triple
