"""Programs that cannot run: each a located error with a reason, never wrong numbers."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.interpreter import RunError, run_module
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.located_parser import LocatedParser
from tests.interpreter.modules import parse, random, run

GENERIC = """
#in = affine_map<IN>
#out = affine_map<OUT>
func.func @main(%x: tensor<4x3xf32>, %y: tensor<OUTTYPExf32>) -> tensor<OUTTYPExf32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]EXTRA}
      ins(%x : tensor<4x3xf32>) outs(%y : tensor<OUTTYPExf32>) {
  ^bb0(%a: f32, %o: f32):
    BODY
    linalg.yield %a : f32
  } -> tensor<OUTTYPExf32>
  return %r : tensor<OUTTYPExf32>
}"""


def generic(*, input="(i, j) -> (i, j)", output="(i, j) -> (i, j)", body="", extra="", size="4x3"):
    text = GENERIC.replace("IN", input).replace("OUTTYPE", size).replace("OUT", output)
    return text.replace("BODY", body).replace("EXTRA", extra)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            generic(output="(i, j) -> (i floordiv 2, j)"),
            "unsupported map of an output, '(d0, d1) -> ((d0 floordiv 2), d1)'",
        ),
        (
            generic(input="(i, j) -> (i + 1, j)"),
            "index 4 is out of bounds for dimension 0 of size 4, by '(d0, d1) -> ((d0 + 1), d1)'",
        ),
        (
            generic(input="(i, j) -> (i floordiv 2 + 3, j)"),
            "an index is out of bounds for dimension 0 of size 4, "
            "by '(d0, d1) -> (((d0 floordiv 2) + 3), d1)'",
        ),
        (
            generic(output="(i, j) -> (j, i)"),
            "expected loop d1 to have one trip count, got 3 and 4",
        ),
        (
            generic(input="(i, j) -> (i, i)", output="(i, j) -> (i, i)"),
            "expected loop d0 to have one trip count, got 4 and 3",
        ),
    ],
)
def test_structured_ops_that_cannot_run(text, message):
    module = parse_unverified(text)

    with pytest.raises(RunError) as error:
        run_module(module, {"x": random((4, 3)), "y": random((4, 3))})

    assert str(error.value) == f"test.mlir:5:3: error: 'linalg.generic' op cannot run: {message}"


def parse_unverified(text):
    return LocatedParser(make_context(), text, "test.mlir").parse_module()


def test_loop_that_indexes_no_operand_is_an_error():
    text = generic(input="(i, j) -> (i + j, 0)", output="(i, j) -> (i, i)", size="4x4")

    with pytest.raises(RunError, match="expected an operand that loop d1 indexes"):
        run_module(parse_unverified(text), {"x": random((4, 3)), "y": random((4, 4))})


def test_op_that_bodies_cannot_have_is_an_error():
    body = """%t = tensor.splat %a : tensor<1xf32>
    %z = arith.constant 0 : index
    %q = tensor.extract %t[%z] : tensor<1xf32>"""
    text = generic(body=body).replace("linalg.yield %a", "linalg.yield %q")

    with pytest.raises(RunError, match=r"unsupported op 'tensor.splat' in a body"):
        run(text, x=random((4, 3)), y=random((4, 3)))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%r = memref.view %w[%c60][] : memref<64xi8> to memref<2xf32>",
            "'memref.view' op cannot run: 8 bytes from byte 60 are out of bounds for 64 bytes",
        ),
        (
            "%c2 = arith.constant 2 : index\n  %r = memref.subview %x[0, %c2] [4, 2] [1, 1]"
            " : memref<4x3xf32> to memref<4x2xf32, strided<[3, 1], offset: ?>>",
            "'memref.subview' op cannot run: offset 2, size 2 and stride 1 are out of bounds for "
            "dimension 1 of size 3",
        ),
        (
            "%s = memref.subview %x[0, 0] [4, 2] [1, 1]"
            " : memref<4x3xf32> to memref<4x2xf32, strided<[3, 1]>>\n"
            "  %r = memref.collapse_shape %s [[0, 1]]"
            " : memref<4x2xf32, strided<[3, 1]>> into memref<8xf32>",
            "'memref.collapse_shape' op cannot run: cannot view 'memref<8xf32>' without a copy",
        ),
        (
            "%r = memref.alloc() : memref<3xf80>",
            "'memref.alloc' op cannot run: unsupported element type 'f80'",
        ),
        (
            "%r = memref.dim %x, %c60 : memref<4x3xf32>",
            "'memref.dim' op cannot run: expected one of 2 dimensions, got 60",
        ),
        (
            "%t = tensor.empty() : tensor<4x3xf32>\n  %c-1 = arith.constant -1 : index\n"
            "  %r = tensor.dim %t, %c-1 : tensor<4x3xf32>",
            "'tensor.dim' op cannot run: expected one of 2 dimensions, got -1",
        ),
        (
            "%t = tensor.empty(%c60) : tensor<?x3xf32>\n"
            "  %r = tensor.cast %t : tensor<?x3xf32> to tensor<4x3xf32>",
            "'tensor.cast' op cannot run: expected shape 4x3, got 60x3",
        ),
    ],
)
def test_memory_ops_that_cannot_run(body, message):
    text = f"""
func.func @main(%x: memref<4x3xf32>, %w: memref<64xi8>) {{
  %c60 = arith.constant 60 : index
  {body}
  return
}}"""

    with pytest.raises(RunError) as error:
        run(text, x=random((4, 3)), w=np.zeros(64, np.int8))

    assert str(error.value).endswith(f"error: {message}")


def test_padding_that_crops_is_an_error():
    with pytest.raises(RunError, match="expected padding of at least 0, got "):
        run(
            """
            func.func @main(%x: tensor<5xf32>) -> tensor<4xf32> {
              %zero = arith.constant 0.0 : f32
              %y = tensor.pad %x low[-1] high[0] {
              ^bb0(%i: index):
                tensor.yield %zero : f32
              } : tensor<5xf32> to tensor<4xf32>
              return %y : tensor<4xf32>
            }""",
            x=random((5,)),
        )


def test_store_to_a_constant_is_an_error():
    text = """
    "memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<3xf32>,
        initial_value = dense<1.0> : tensor<3xf32>, constant}> : () -> ()
    func.func @main(%v: f32) {
      %t = memref.get_global @table : memref<3xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c1 step %c1 {
        memref.store %v, %t[%i] : memref<3xf32>
      }
      return
    }"""

    with pytest.raises(RunError, match=r"'scf.for' op cannot run: cannot store to a read-only "):
        run(text, v=np.array(2, np.float32))


def test_writing_to_a_read_only_argument_is_an_error():
    x = random((3,))
    x.flags.writeable = False

    with pytest.raises(RunError, match=r"'linalg.fill' op writes its input 'x'"):
        run(
            """
            func.func @main(%x: memref<3xf32> {gawee.input = "x"}) {
              %c = arith.constant 1.0 : f32
              linalg.fill ins(%c : f32) outs(%x : memref<3xf32>)
              return
            }""",
            x=x,
        )


def test_index_op_outside_of_a_body_is_an_error():
    with pytest.raises(RunError, match="expected to be in the body of a structured op"):
        run_module(
            parse_unverified("""
            func.func @main() {
              %i = linalg.index 0 : index
              return
            }"""),
            {},
        )


def test_prepare_that_returns_too_little_is_an_error():
    module = parse("""
    func.func @prepare() {
      return
    }
    func.func @main(%q: tensor<3xf32> {gawee.prepared = "0"}) {
      return
    }""")

    with pytest.raises(GaweeError, match="expected '@prepare' to return value 0"):
        run_module(module, {})


def test_functions_that_call_each_other_without_end_are_an_error():
    text = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = func.call @main(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
"""
    with pytest.raises(RunError) as error:
        run_module(parse(text), {"x": random((3,))})

    assert (
        "'func.call' op cannot run: functions call each other more deeply than Python can"
        in str(error.value)
    )


def test_memory_of_unknown_size_is_an_error():
    text = """
func.func @main(%w: memref<?xi8> {gawee.workspace}) {
  func.return
}
"""
    with pytest.raises(RunError) as error:
        run_module(parse(text), {})

    assert str(error.value) == (
        "error: cannot run with argument #0: expected a static shape, got 'memref<?xi8>'"
    )
