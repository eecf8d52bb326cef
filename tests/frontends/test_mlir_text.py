"""MLIR text: what is printed can be read again, whatever users call their things."""

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.universe import make_context
from tests.frontends.graphs import data, graph, node, parse, value


@pytest.mark.parametrize(
    "name", ["größe", 'a"b', "a\\b", "a\nb\tc", "0", "층.0", "<built-in f>", " "]
)
def test_names_survive_printing_and_parsing(name: str):
    nodes = [node("MatMul", ["x"], name, name=name, weight=data((3, 3), f"{ord(name[0])}.bin"))]
    module = parse(graph(nodes, [value("x", (2, 3)), value(name, (2, 3))]))

    text = print_mlir(module, locations=True)

    assert print_mlir(parse_mlir(make_context(), text, "x"), locations=True) == text


NINES = "9" * 5000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"%c = arith.constant {NINES} : i64",
            "m.mlir:1:21: error: expected a number of at most 4300 digits",
        ),
        (
            f"%c = arith.constant 0 : i{NINES}",
            "m.mlir:1:25: error: expected an integer of at most 16777215 bits",
        ),
        (f"%c:2 = arith.addi %a#{NINES}", "error: expected a number of at most 4300 digits"),
        (
            f"%c = arith.constant dense<{NINES}> : tensor<2xf32>",
            "m.mlir:1:27: error: expected a number of at most 4300 digits",
        ),
        (
            "%c = arith.constant 0 : i2147483648",
            "m.mlir:1:25: error: expected an integer of at most 16777215 bits",
        ),
        (
            "%r = gawee.reduce_sum %x axes [9223372036854775808]",
            "m.mlir:1:52: error: argument out of range",
        ),
        (
            "%c = arith.constant dense<0x1000000000000000000> : tensor<f32>",
            "error: int too big to convert",
        ),
        (
            f"%c = arith.constant dense<1{'0' * 400}> : tensor<2xf32>",
            "error: int too large to convert",
        ),
        (
            "%c = arith.constant dense<1> : tensor<2xi664>",
            "m.mlir:1:46: error: format not implemented for i664",
        ),
        (
            "func.func @f(%c: i1) { cf.br ^bb1 ^bb1: return ^bb1: return }",
            "m.mlir:1:48: error: expected block '^bb1' to be defined once",
        ),
        (
            "func.func @f(%x: tensor<3xf32>) { %y = linalg.map ins(%x : tensor<3xf32>) "
            "outs(%e : tensor<3xf32>) (%a: f32, %b: f32) { %e = tensor.empty() : tensor<3xf32> "
            "linalg.yield %a : f32 } return }",
            "m.mlir:1:80: error: expected operand '%e' to be defined before it is used",
        ),
        (
            "func.func @f(%a: index) { scf.for %i = %a to %a step %e { } "
            "scf.for %i = %a to %a step %e { %e = arith.constant 1 : index } return }",
            "m.mlir:1:54: error: expected operand '%e' to be defined before it is used",
        ),
        (
            '%c = "builtin.module"() : () -> tensor<4xf32>',
            "m.mlir:1:1: error: 'builtin.module' op expected 0 results, but got 1",
        ),
        (
            'func.func @f() { %c = "builtin.module"() : () -> tensor<4xf32> return }',
            "m.mlir:1:18: error: 'builtin.module' op expected 0 results, but got 1",
        ),
        (
            "%c = arith.constant dense<1.0> : tensor<2xf80>",
            "m.mlir:1:47: error: unsupported element type",
        ),
        (
            'func.func @f(%a: i64) { %c = llvm.icmp "foo" %a, %a : i64 }',
            "m.mlir:1:40: error: expected a predicate of 'llvm.icmp': eq, ne, slt, sle, sgt, sge",
        ),
        (
            'func.func @f(%a: i64) { %c = "llvm.icmp"(%a, %a) <{predicate = 12 : i64}> '
            ": (i64, i64) -> i1 return }",
            "m.mlir:1:25: error: 'llvm.icmp' op expected predicate from 0 to 9, got 12",
        ),
        (
            f'"a.b"() {{x = #gawee.schedule<loops = [d{NINES} by 1]>}} : () -> ()',
            "m.mlir:1:39: error: expected a dimension, such as d0, got 'd999",
        ),
        (
            "scf.forall (%i) in (18446744073709551616) { }",
            "m.mlir:1:21: error: expected an integer of at most 64 bits",
        ),
        (
            "%r = gawee.reduce_sum %x axes [18446744073709551616]",
            "m.mlir:1:32: error: expected an integer of at most 64 bits",
        ),
        (
            "func.func @f() { ^0: return }",
            "m.mlir:1:18: error: expected a block name that begins with a letter, got '^0'",
        ),
        (
            "func.func @f() { cf.br ^1e }",
            "m.mlir:1:24: error: expected a block name that begins with a letter, got '^1'",
        ),
        (
            '"builtin.module"() ({ llvm.func @f() { "llvm.call"() <{callee = @f, '
            "fastmathFlags = #llvm.fastmath<none>, CConv = #llvm.cconv<ccc>, "
            "TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>, "
            "operandSegmentSizes = array<i32: 0, 0>}> : () -> () llvm.return }\n"
            "^bb1:\n}) : () -> ()",
            "error: 'llvm.func' op operation llvm.func terminates block in multi-block region",
        ),
        (
            '"func.func"() <{sym_name = "f"}> ({\n"func.return"() : () -> ()\n}) : () -> ()',
            "m.mlir:1:1: error: 'func.func' op property 'function_type' expected in operation 'func.func'",
        ),
        (
            'func.func @f(%a: i64) { %c = "llvm.add"(%a, %a) <{overflowFlags = 4 : i32}> '
            ": (i64, i64) -> i64 return }",
            "m.mlir:1:25: error: 'llvm.add' op expected overflowFlags from 0 to 3, got 4",
        ),
        (
            '"llvm.func"() <{sym_name = "f", function_type = !llvm.func<void ()>, CConv = '
            "#llvm.cconv<ccc>, linkage = #llvm.linkage<external>, visibility_ = 3 : i64}> ({}) : () -> ()",
            "m.mlir:1:1: error: 'llvm.func' op expected visibility_ from 0 to 2, got 3",
        ),
        (
            "func.func @f() attributes {a = dense<[(1.0, 2.0]> : tensor<1xcomplex<f32>>} { return }",
            "m.mlir:1:48: error: expected ')' behind a complex number",
        ),
        (
            'func.func @f(%a: tensor<3xf32>) { "linalg.exp"(%a, %a) '
            "<{operandSegmentSizes = array<i32: 1, 1>}> ({ ^bb0(%x: f32, %y: f32): linalg.yield %x : f32 "
            "^bb1: linalg.yield %a : tensor<3xf32> }) "
            ": (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> return }",
            "m.mlir:1:35: error: 'linalg.exp' op expected a body of one block, got 2",
        ),
        (
            'func.func @f(%p: !llvm.ptr) { %q = "llvm.load"(%p) <{ordering = 3 : i64}> : '
            "(!llvm.ptr) -> i64 return }",
            "m.mlir:1:31: error: 'llvm.load' op expected ordering from 0 to 7 without 3, got 3",
        ),
        (
            "func.func @f(%p: !llvm.ptr) { %q = llvm.getelementptr %p[9223372036854775808] : "
            "(!llvm.ptr) -> !llvm.ptr, !llvm.ptr return }",
            "m.mlir:1:31: error: integer value 9223372036854775808 is out of range for type i32",
        ),
        (
            '"a.b"() {x = array<i0: 0>} : () -> ()',
            "m.mlir:1:25: error: expected elements of at least one bit",
        ),
        (
            'func.func @f(%x: tensor<3xf32>) { %y = "tensor.pad"(%x) <{static_low = array<i64: 0>, '
            "static_high = array<i64: 0>}> ({ ^bb0(%i: index): %z = arith.constant 0.0 : f32 "
            "tensor.yield %z : f32 }) : (tensor<3xf32>) -> tensor<3xf32> return }",
            "m.mlir:1:35: error: 'tensor.pad' op expected property 'operandSegmentSizes'",
        ),
    ],
)
def test_numbers_and_properties_that_nobody_can_read_are_refused(text: str, message: str):
    with pytest.raises(GaweeError) as raised:
        parse_mlir(make_context(allow_unregistered=True), text, "m.mlir")

    assert message in str(raised.value)
    assert str(raised.value).startswith("m.mlir:1:")
