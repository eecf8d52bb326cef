"""Which passes LLVM runs for a kernel, and that all ways to its code run the same."""

import re

import pytest
from llvmlite import binding

from gawee_dialect.backend.code_generation import assembly_functions, emit_assembly
from gawee_dialect.backend.code_units import code_units, named_units
from gawee_dialect.backend.jit import Target, optimized_module, optimized_text
from gawee_dialect.backend.vector_pipeline import is_in_vectors, with_unrolling_as_marked
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import lower_to
from gawee_dialect.universe import make_context

LOOP = """define void @f(ptr %x, i64 %n) {
b0:
  br label %b1

b1:
  %i = phi i64 [ 0, %b0 ], [ %next, %b2 ]
  %at = getelementptr inbounds float, ptr %x, i64 %i
  %more = icmp ne i64 %i, 4
  br i1 %more, label %b2, label %b3

b2:
  BODY
  %next = add nsw i64 %i, 1
  br label %b1MARK

b3:
  ret void
}

!0 = !{!"llvm.loop.unroll.full"}
!1 = distinct !{!1, !0}
"""
SCALARS = "store float 1.0, ptr %at"
VECTORS = "store <4 x float> zeroinitializer, ptr %at, align 4"
DIVISION = f"%part = udiv i64 %n, 7\n  {VECTORS}"
FULL = ", !llvm.loop !1"


def loop(body: str, mark: str = "") -> str:
    return LOOP.replace("BODY", body).replace("MARK", mark)


def optimized(text: str) -> str:
    module, _ = optimized_text(text, Target().resolved(), jit=True)
    return str(module)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (loop(VECTORS), True),
        (loop(SCALARS), False),
        (loop(VECTORS) + loop(SCALARS).replace("@f", "@g"), False),
        (loop(DIVISION), True),
        (loop(DIVISION, FULL), False),
        (loop(VECTORS, FULL), True),
        ("define void @f() {\n  ret void\n}\n", True),
    ],
)
def test_vectors_in_each_loop_and_no_division_where_it_is_unrolled(
    text: str, expected: bool
) -> None:
    assert is_in_vectors(text) == expected


def test_a_loop_around_needs_no_vectors_of_its_own() -> None:
    inner = loop(VECTORS).replace(
        "  br label %b1\n\nb1", "  br label %o\n\no:\n  br label %b1\n\nb1"
    )
    nested = inner.replace(
        "b3:\n  ret void", "b3:\n  br i1 %end, label %b4, label %o\n\nb4:\n  ret void"
    )
    nested = nested.replace("i64 %n)", "i1 %end)").replace("%b0 ]", "%o ]")

    binding.parse_assembly(nested).verify()
    assert is_in_vectors(nested)
    assert not is_in_vectors(nested.replace(VECTORS, SCALARS))
    assert with_unrolling_as_marked(nested).count("!llvm.loop !") == 2


def test_loops_are_unrolled_where_they_are_marked() -> None:
    stores = [optimized(loop(VECTORS, mark)).count("store <4 x float>") for mark in ("", FULL)]
    assert stores == [1, 4]


TWO_LOOPS = """define void @f(ptr %x, ptr noalias %y) {
b0:
  %half = alloca [4 x <4 x float>], align 16
  br label %b1

b1:
  %i = phi i64 [ 0, %b0 ], [ %i1, %b2 ]
  %first = icmp slt i64 %i, 4
  br i1 %first, label %b2, label %b3

b2:
  %from = getelementptr inbounds [8 x float], ptr %x, i64 %i
  %v = load <4 x float>, ptr %from, align 4
  %twice = fadd <4 x float> %v, %v
  %kept = getelementptr inbounds <4 x float>, ptr %half, i64 %i
  store <4 x float> %twice, ptr %kept, align 16
  %i1 = add nsw i64 %i, 1
  br label %b1, !llvm.loop !1

b3:
  br label %b4

b4:
  %j = phi i64 [ 0, %b3 ], [ %j1, %b5 ]
  %second = icmp slt i64 %j, 4
  br i1 %second, label %b5, label %b6

b5:
  %at = getelementptr inbounds <4 x float>, ptr %half, i64 %j
  %h = load <4 x float>, ptr %at, align 16
  %to = getelementptr inbounds <4 x float>, ptr %y, i64 %j
  store <4 x float> %h, ptr %to, align 4
  %j1 = add nsw i64 %j, 1
  br label %b4, !llvm.loop !2

b6:
  ret void
}

!0 = !{!"llvm.loop.unroll.full"}
!1 = distinct !{!1, !0}
!2 = distinct !{!2, !0}
"""


def test_what_a_later_loop_uses_is_loaded_in_the_order_of_the_iterations() -> None:
    offsets = re.findall(r"getelementptr [^\n]* i8, ptr %x, i64 (\d+)", optimized(TWO_LOOPS))
    assert offsets == ["32", "64", "96"]


def test_text_without_loops_is_as_it_was() -> None:
    text = "define void @f() {\n  ret void\n}\n"
    assert with_unrolling_as_marked(text) == text


def test_llvm_vectorises_loops_without_vectors() -> None:
    text = loop(SCALARS).replace("icmp ne i64 %i, 4", "icmp ne i64 %i, 4096")
    assert re.search(r"store <\d+ x float>", optimized(text))


NETWORK = """func.func @main(%x: tensor<1x3x9x7xf32>, %w: tensor<32x3x3x2xf32>, %b: tensor<1x32x7x6xf32>) -> tensor<1x32x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x3x9x7xf32>, tensor<32x3x3x2xf32>) -> tensor<1x32x7x6xf32>
  %e = gawee.exp %y : (tensor<1x32x7x6xf32>) -> tensor<1x32x7x6xf32>
  %z = gawee.add %e, %b : (tensor<1x32x7x6xf32>, tensor<1x32x7x6xf32>) -> tensor<1x32x7x6xf32>
  return %z : tensor<1x32x7x6xf32>
}
"""


def test_a_kernel_has_the_same_code_alone_and_among_others() -> None:
    module = lower_to(parse_mlir(make_context(), NETWORK, "net.mlir"), "llvm")
    target = Target().resolved()
    attributes = target.function_attributes()
    linked, machine = optimized_module(module, target, jit=True)
    kernels = [unit for unit in named_units(module, attributes) if unit.symbol]
    listed = assembly_functions(emit_assembly(machine, linked), {unit.symbol for unit in kernels})
    run = [unit for unit in code_units(module, attributes) if unit.symbol]
    assert len(kernels) == len(run) > 0
    for named, unit in zip(kernels, run, strict=True):
        alone, machine = optimized_text(unit.text, target, jit=True)
        code = assembly_functions(emit_assembly(machine, alone), {unit.symbol})[unit.symbol]
        assert instructions(code) == instructions(listed[named.symbol])


def instructions(lines: list[str]) -> list[str]:
    """Return instructions without the names of labels, constants and functions."""
    return [re.sub(r"\.L\w+|gawee\.\w+|@?\w*main\w*", "L", line) for line in lines]
