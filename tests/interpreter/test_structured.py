"""Structured linalg ops against plain loops and PyTorch: several channels, unequal sizes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gawee_dialect.interpreter import RunError
from tests.closeness import Tolerances, assert_allclose
from tests.interpreter.modules import random, run

# Sums of up to some hundred float32 products, taken in another order.
CLOSE = Tolerances(rtol=1e-5, atol=1e-5)
cases = settings(max_examples=25)
pair = st.tuples(st.integers(1, 3), st.integers(1, 3))


def conv_loops(x, w, out, strides, dilations):
    """n c h w, f c kh kw: the definition of the op, one scalar at a time over the kernel."""
    result = out.copy()
    height, width = out.shape[2:]
    for n, f, i, j, c in product(*map(range, (*out.shape[:2], *w.shape[2:], w.shape[1]))):
        rows = slice(i * dilations[0], i * dilations[0] + (height - 1) * strides[0] + 1, strides[0])
        columns = slice(
            j * dilations[1], j * dilations[1] + (width - 1) * strides[1] + 1, strides[1]
        )
        result[n, f] += x[n, c, rows, columns] * w[f, c, i, j]
    return result


def window_attributes(strides, dilations):
    return (
        f"{{strides = dense<[{strides[0]}, {strides[1]}]> : tensor<2xi64>, "
        f"dilations = dense<[{dilations[0]}, {dilations[1]}]> : tensor<2xi64>}}"
    )


def output_size(size, kernel, stride, dilation):
    return (size - dilation * (kernel - 1) - 1) // stride + 1


@cases
@given(kernel=pair, strides=pair, dilations=pair, batch=st.integers(1, 2))
def test_conv_2d_nchw_fchw_adds_to_its_output(kernel, strides, dilations, batch):
    oh, ow = (output_size(*axis) for axis in zip((9, 8), kernel, strides, dilations, strict=True))
    x, w = random((batch, 3, 9, 8)), random((5, 3, *kernel), seed=1)
    init = random((batch, 5, oh, ow), seed=2)
    input, weight = f"tensor<{batch}x3x9x8xf32>", f"tensor<5x3x{kernel[0]}x{kernel[1]}xf32>"
    output = f"tensor<{batch}x5x{oh}x{ow}xf32>"

    (result,) = run(
        f"""
        func.func @main(%x: {input}, %w: {weight}, %init: {output}) -> {output} {{
          %y = linalg.conv_2d_nchw_fchw {window_attributes(strides, dilations)}
              ins(%x, %w : {input}, {weight}) outs(%init : {output}) -> {output}
          return %y : {output}
        }}""",
        **{"x": x, "w": w, "init": init},
    )

    assert_allclose(result, conv_loops(x, w, init, strides, dilations), **CLOSE)


def test_grouped_conv_equals_a_convolution_per_group():
    x, w = random((2, 3, 4, 7, 6)), random((3, 5, 4, 3, 2), seed=1)
    init = random((2, 3, 5, 3, 5), seed=2)

    (result,) = run(
        f"""
        func.func @main(%x: tensor<2x3x4x7x6xf32>, %w: tensor<3x5x4x3x2xf32>,
                        %init: tensor<2x3x5x3x5xf32>) -> tensor<2x3x5x3x5xf32> {{
          %y = linalg.conv_2d_ngchw_gfchw {window_attributes((2, 1), (1, 1))}
              ins(%x, %w : tensor<2x3x4x7x6xf32>, tensor<3x5x4x3x2xf32>)
              outs(%init : tensor<2x3x5x3x5xf32>) -> tensor<2x3x5x3x5xf32>
          return %y : tensor<2x3x5x3x5xf32>
        }}""",
        x=x,
        w=w,
        init=init,
    )

    for g in range(3):
        expected = conv_loops(x[:, g], w[g], init[:, g], (2, 1), (1, 1))
        assert_allclose(result[:, g], expected, **CLOSE)


def test_conv_cut_in_pieces_gives_the_same(monkeypatch):
    monkeypatch.setattr("gawee_dialect.interpreter.structured.PIECE_ELEMENTS", 300)

    test_grouped_conv_equals_a_convolution_per_group()
    test_mean_of_squares_reduces_two_axes()


DEPTHWISE = """
#input = affine_map<(n, c, h, w, i, j) -> (n, c, h * 2 + i, w + j * 2)>
#kernel = affine_map<(n, c, h, w, i, j) -> (c, i, j)>
#output = affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>
func.func @main(%x: tensor<2x5x7x9xf32>, %w: tensor<5x3x2xf32>,
                %init: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = linalg.generic {indexing_maps = [#input, #kernel, #output],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x5x7x9xf32>, tensor<5x3x2xf32>) outs(%init : tensor<2x5x3x7xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %b, %a : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x5x3x7xf32>
  return %y : tensor<2x5x3x7xf32>
}"""


def test_depthwise_generic_equals_one_convolution_per_channel():
    x, w = random((2, 5, 7, 9)), random((5, 3, 2), seed=1)
    init = random((2, 5, 3, 7), seed=2)

    (result,) = run(DEPTHWISE, x=x, w=w, init=init)

    for c in range(5):
        channel = slice(c, c + 1)
        expected = conv_loops(x[:, channel], w[c][None, None], init[:, channel], (2, 1), (1, 2))
        assert_allclose(result[:, channel], expected, **CLOSE)


@pytest.mark.parametrize(("batch", "rows"), [(2, 4), (1, 1)])
def test_generic_matmul_with_a_transposed_operand(batch, rows):
    a, b, init = random((batch, rows, 7)), random((5, 7), seed=1), random((batch, rows, 5), seed=2)

    (result,) = run(
        f"""
        #a = affine_map<(p, m, n, k) -> (p, m, k)>
        #b = affine_map<(p, m, n, k) -> (n, k)>
        #c = affine_map<(p, m, n, k) -> (p, m, n)>
        func.func @main(%a: tensor<{batch}x{rows}x7xf32>, %b: tensor<5x7xf32>,
                        %init: tensor<{batch}x{rows}x5xf32>) -> tensor<{batch}x{rows}x5xf32> {{
          %y = linalg.generic {{indexing_maps = [#a, #b, #c],
              iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
              ins(%a, %b : tensor<{batch}x{rows}x7xf32>, tensor<5x7xf32>)
              outs(%init : tensor<{batch}x{rows}x5xf32>) {{
          ^bb0(%x: f32, %y0: f32, %acc: f32):
            %p = arith.mulf %x, %y0 : f32
            %s = arith.addf %p, %acc : f32
            linalg.yield %s : f32
          }} -> tensor<{batch}x{rows}x5xf32>
          return %y : tensor<{batch}x{rows}x5xf32>
        }}""",
        **{"a": a, "b": b, "init": init},
    )

    assert_allclose(result, init + a @ b.T, **CLOSE)


def test_matmul_wraps_integers_around():
    a, b = random((4, 7), "int32"), random((7, 5), "int32", seed=1)
    init = random((4, 5), "int32", seed=2)

    (result,) = run(
        """
        func.func @main(%a: tensor<4x7xi32>, %b: tensor<7x5xi32>,
                        %init: tensor<4x5xi32>) -> tensor<4x5xi32> {
          %y = linalg.matmul ins(%a, %b : tensor<4x7xi32>, tensor<7x5xi32>)
              outs(%init : tensor<4x5xi32>) -> tensor<4x5xi32>
          return %y : tensor<4x5xi32>
        }""",
        a=a,
        b=b,
        init=init,
    )

    exact = init.astype(object) + a.astype(object) @ b.astype(object)
    wrapped = [[(int(v) + 2**31) % 2**32 - 2**31 for v in row] for row in exact]
    np.testing.assert_array_equal(result, np.array(wrapped, np.int32))


@cases
@given(kernel=pair, strides=pair, dilations=pair)
def test_max_over_windows_starts_from_its_output(kernel, strides, dilations):
    torch = pytest.importorskip("torch")
    x = random((2, 3, 9, 8))
    x[1, 2, 3, 4] = np.nan
    oh, ow = (output_size(*axis) for axis in zip((9, 8), kernel, strides, dilations, strict=True))
    window, output = f"tensor<{kernel[0]}x{kernel[1]}xf32>", f"tensor<2x3x{oh}x{ow}xf32>"
    row = f"h * {strides[0]} + i * {dilations[0]}"
    column = f"w * {strides[1]} + j * {dilations[1]}"

    (result,) = run(
        f"""
        #in = affine_map<(n, c, h, w, i, j) -> (n, c, {row}, {column})>
        #window = affine_map<(n, c, h, w, i, j) -> (i, j)>
        #out = affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>
        func.func @main(%x: tensor<2x3x9x8xf32>, %w: {window}, %init: {output}) -> {output} {{
          %y = linalg.generic {{indexing_maps = [#in, #window, #out], iterator_types = ["parallel",
              "parallel", "parallel", "parallel", "reduction", "reduction"]}}
              ins(%x, %w : tensor<2x3x9x8xf32>, {window}) outs(%init : {output}) {{
          ^bb0(%a: f32, %b: f32, %acc: f32):
            %m = arith.maximumf %acc, %a : f32
            linalg.yield %m : f32
          }} -> {output}
          return %y : {output}
        }}""",
        x=x,
        w=np.full(kernel, np.nan, np.float32),
        init=np.full((2, 3, oh, ow), 0.5, np.float32),
    )

    pooled = torch.nn.functional.max_pool2d(
        torch.from_numpy(x), kernel, strides, 0, dilations
    ).numpy()
    np.testing.assert_array_equal(result, np.maximum(pooled, 0.5))


def reduce_text(element, body, size="3x80x5", out="3"):
    return f"""
    #in = affine_map<(i, j, k) -> (i, j, k)>
    #out = affine_map<(i, j, k) -> (i)>
    func.func @main(%x: tensor<{size}x{element}>, %init: tensor<{out}x{element}>)
        -> tensor<{out}x{element}> {{
      %y = linalg.generic {{indexing_maps = [#in, #out],
          iterator_types = ["parallel", "reduction", "reduction"]}}
          ins(%x : tensor<{size}x{element}>) outs(%init : tensor<{out}x{element}>) {{
      ^bb0(%a: {element}, %acc: {element}):
        {body}
        linalg.yield %r : {element}
      }} -> tensor<{out}x{element}>
      return %y : tensor<{out}x{element}>
    }}"""


def test_mean_of_squares_reduces_two_axes():
    x, init = random((3, 80, 5)), random((3,), seed=1)

    (result,) = run(
        reduce_text(
            "f32",
            """%s = arith.mulf %a, %a : f32
               %r = arith.addf %s, %acc : f32""",
        ),
        x=x,
        init=init,
    )

    exact = init + np.square(x.astype(np.float64)).sum((1, 2))
    assert_allclose(result, exact, rtol=1e-5)  # 400 positive float32 terms


@pytest.mark.parametrize(
    ("op", "element", "expected"),
    [
        ("arith.maximumf %acc, %a", "f32", np.maximum),
        ("arith.minimumf %a, %acc", "f32", np.minimum),
        ("arith.maxsi %a, %acc", "i8", np.maximum),
        ("arith.minsi %acc, %a", "i64", np.minimum),
        ("arith.addi %acc, %a", "i8", np.add),
        ("arith.muli %acc, %a", "i64", np.multiply),
        ("arith.andi %a, %acc", "i32", np.bitwise_and),
        ("arith.ori %a, %acc", "i1", np.bitwise_or),
        ("arith.xori %a, %acc", "i1", np.bitwise_xor),
    ],
)
def test_combiners_reduce_in_either_operand_order(op, element, expected):
    dtype = {"f32": "float32", "i1": "bool"}.get(element, f"int{element[1:]}")
    x, init = random((3, 80, 5), dtype), random((3,), dtype, seed=1)

    (result,) = run(reduce_text(element, f"%r = {op} : {element}"), x=x, init=init)

    value = init
    for j, k in product(range(80), range(5)):
        value = expected(value, x[:, j, k])
    np.testing.assert_array_equal(result, value)


@pytest.mark.parametrize("size", [3, 80])
@pytest.mark.parametrize(
    ("op", "others", "zero", "is_negative"),
    [
        ("minimumf", 0.0, -0.0, True),
        ("minimumf", 0.0, 1.0, False),
        ("maximumf", -0.0, 0.0, False),
        ("maximumf", -0.0, -1.0, True),
    ],
)
def test_a_negative_zero_is_less(op, others, zero, is_negative, size):
    x, init = np.full((3, size, 5), others, np.float32), np.full(3, others, np.float32)
    x[:, size // 2, 3] = zero

    (result,) = run(
        reduce_text("f32", f"%r = arith.{op} %acc, %a : f32", size=f"3x{size}x5"), x=x, init=init
    )

    np.testing.assert_array_equal(result, 0)
    np.testing.assert_array_equal(np.signbit(result), is_negative)


def test_i1_addition_is_modulo_two_not_logical():
    x, init = random((3, 4, 5), "bool"), random((3,), "bool", seed=1)

    (result,) = run(
        reduce_text("i1", "%r = arith.addi %acc, %a : i1", size="3x4x5"), x=x, init=init
    )

    np.testing.assert_array_equal(result, (x.sum((1, 2)) + init) % 2 == 1)


def test_other_bodies_run_in_the_order_of_the_loops():
    x, init = random((3, 80, 5)), random((3,), seed=1)

    (result,) = run(
        reduce_text(
            "f32",
            """%c = arith.constant 5.000000e-01 : f32
               %h = arith.mulf %acc, %c : f32
               %r = arith.subf %a, %h : f32""",
        ),
        x=x,
        init=init,
    )

    value = init
    for j, k in product(range(80), range(5)):
        value = x[:, j, k] - value * np.float32(0.5)
    np.testing.assert_array_equal(result, value)


def test_two_outputs_give_the_greatest_element_and_where_it_is():
    x = random((4, 13))

    largest, where = run(
        """
        #in = affine_map<(i, j) -> (i, j)>
        #out = affine_map<(i, j) -> (i)>
        func.func @main(%x: tensor<4x13xf32>, %m: tensor<4xf32>, %w: tensor<4xi64>)
            -> (tensor<4xf32>, tensor<4xi64>) {
          %y, %z = "linalg.generic"(%x, %m, %w) <{indexing_maps = [#in, #out, #out],
              iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>],
              operandSegmentSizes = array<i32: 1, 2>}> ({
          ^bb0(%a: f32, %max: f32, %at: i64):
            %j = linalg.index 1 : index
            %ji = arith.index_cast %j : index to i64
            %c = arith.cmpf ogt, %a, %max : f32
            %v = arith.select %c, %a, %max : f32
            %p = arith.select %c, %ji, %at : i64
            linalg.yield %v, %p : f32, i64
          }) : (tensor<4x13xf32>, tensor<4xf32>, tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>)
          return %y, %z : tensor<4xf32>, tensor<4xi64>
        }""",
        x=x,
        m=np.full(4, -np.inf, np.float32),
        w=np.full(4, -1, np.int64),
    )

    np.testing.assert_array_equal(largest, x.max(1))
    np.testing.assert_array_equal(where, x.argmax(1))


def test_gather_reads_a_captured_tensor_by_computed_index():
    x = random((2, 3, 5))

    (result,) = run(
        """
        #out = affine_map<(n, c, w) -> (n, c, w)>
        func.func @main(%x: tensor<2x3x5xf32>) -> tensor<2x3x7xf32> {
          %e = tensor.empty() : tensor<2x3x7xf32>
          %y = linalg.generic {indexing_maps = [#out],
              iterator_types = ["parallel", "parallel", "parallel"]}
              outs(%e : tensor<2x3x7xf32>) {
          ^bb0(%o: f32):
            %n = linalg.index 0 : index
            %c = linalg.index 1 : index
            %w = linalg.index 2 : index
            %five = arith.constant 5 : index
            %seven = arith.constant 7 : index
            %p = arith.muli %w, %five : index
            %q = arith.divui %p, %seven : index
            %v = tensor.extract %x[%n, %c, %q] : tensor<2x3x5xf32>
            linalg.yield %v : f32
          } -> tensor<2x3x7xf32>
          return %y : tensor<2x3x7xf32>
        }""",
        x=x,
    )

    np.testing.assert_array_equal(result, x[:, :, [w * 5 // 7 for w in range(7)]])


def test_gather_outside_the_tensor_is_an_error_that_says_where():
    text = """
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<5xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %one = arith.constant 1 : index
    %p = arith.subi %i, %one : index
    %v = tensor.extract %x[%p] : tensor<5xf32>
    linalg.yield %v : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}"""

    with pytest.raises(RunError) as error:
        run(text, x=random((5,)))

    assert str(error.value) == (
        "test.mlir:4:3: error: 'linalg.generic' op cannot run: index -1 is out of bounds for "
        "dimension 0 of size 5 ('tensor<5xf32>')"
    )


def test_maps_that_are_not_linear_gather():
    x = random((3, 4))

    (result,) = run(
        """
        #in = affine_map<(i, j) -> (i floordiv 2, j mod 4)>
        #out = affine_map<(i, j) -> (j, i)>
        func.func @main(%x: tensor<3x4xf32>, %init: tensor<9x6xf32>) -> tensor<9x6xf32> {
          %y = linalg.generic {indexing_maps = [#in, #out],
              iterator_types = ["parallel", "parallel"]}
              ins(%x : tensor<3x4xf32>) outs(%init : tensor<9x6xf32>) {
          ^bb0(%a: f32, %o: f32):
            %n = arith.negf %a : f32
            linalg.yield %n : f32
          } -> tensor<9x6xf32>
          return %y : tensor<9x6xf32>
        }""",
        x=x,
        init=random((9, 6)),
    )

    expected = [[-x[i // 2, j % 4] for i in range(6)] for j in range(9)]
    np.testing.assert_array_equal(result, expected)


def test_overlapping_outputs_accumulate_in_order():
    x = random((4, 3))

    (result,) = run(
        """
        #in = affine_map<(i, j) -> (i, j)>
        #out = affine_map<(i, j) -> (i + j)>
        func.func @main(%x: tensor<4x3xf32>, %init: tensor<6xf32>) -> tensor<6xf32> {
          %y = linalg.generic {indexing_maps = [#in, #out],
              iterator_types = ["reduction", "reduction"]}
              ins(%x : tensor<4x3xf32>) outs(%init : tensor<6xf32>) {
          ^bb0(%a: f32, %o: f32):
            %s = arith.addf %o, %a : f32
            linalg.yield %s : f32
          } -> tensor<6xf32>
          return %y : tensor<6xf32>
        }""",
        x=x,
        init=np.zeros(6, np.float32),
    )

    expected = np.zeros(6, np.float32)
    for i, j in product(range(4), range(3)):
        expected[i + j] += x[i, j]
    np.testing.assert_array_equal(result, expected)


def test_reduction_over_a_loop_that_the_factors_do_not_depend_on_counts_every_trip():
    (result,) = run(
        """
        #in = affine_map<(i, j) -> (i)>
        #window = affine_map<(i, j) -> (j)>
        func.func @main(%x: tensor<3xf32>, %w: tensor<5xf32>, %init: tensor<3xf32>)
            -> tensor<3xf32> {
          %y = linalg.generic {indexing_maps = [#in, #window, #in],
              iterator_types = ["parallel", "reduction"]}
              ins(%x, %w : tensor<3xf32>, tensor<5xf32>) outs(%init : tensor<3xf32>) {
          ^bb0(%a: f32, %b: f32, %o: f32):
            %p = arith.mulf %a, %a : f32
            %s = arith.addf %o, %p : f32
            linalg.yield %s : f32
          } -> tensor<3xf32>
          return %y : tensor<3xf32>
        }""",
        x=np.array([1, 2, 3], np.float32),
        w=np.zeros(5, np.float32),
        init=np.zeros(3, np.float32),
    )

    np.testing.assert_array_equal(result, np.array([5, 20, 45], np.float32))


def test_data_movement_ops():
    x, c = random((2, 3, 5)), random((3,), seed=1)

    moved, broadcast, padded, taken, put = run(
        """
        func.func @main(%x: tensor<2x3x5xf32>, %c: tensor<3xf32>)
            -> (tensor<5x2x3xf32>, tensor<2x3x5xf32>, tensor<2x6x8xf32>, tensor<2x3xf32>,
                tensor<2x3x5xf32>) {
          %e0 = tensor.empty() : tensor<5x2x3xf32>
          %t = linalg.transpose ins(%x : tensor<2x3x5xf32>) outs(%e0 : tensor<5x2x3xf32>)
              permutation = [2, 0, 1]
          %e1 = tensor.empty() : tensor<2x3x5xf32>
          %b = linalg.broadcast ins(%c : tensor<3xf32>) outs(%e1 : tensor<2x3x5xf32>)
              dimensions = [0, 2]
          %fill = arith.constant 2.500000e+00 : f32
          %p = tensor.pad %x low[0, 2, 0] high[0, 1, 3] {
          ^bb0(%i: index, %j: index, %k: index):
            tensor.yield %fill : f32
          } : tensor<2x3x5xf32> to tensor<2x6x8xf32>
          %s = tensor.extract_slice %x[0, 1, 1] [2, 1, 3] [1, 1, 1]
              : tensor<2x3x5xf32> to tensor<2x3xf32>
          %n = tensor.insert_slice %s into %b[0, 2, 0] [2, 1, 3] [1, 1, 2]
              : tensor<2x3xf32> into tensor<2x3x5xf32>
          return %t, %b, %p, %s, %n : tensor<5x2x3xf32>, tensor<2x3x5xf32>, tensor<2x6x8xf32>,
              tensor<2x3xf32>, tensor<2x3x5xf32>
        }""",
        x=x,
        c=c,
    )

    spread = np.broadcast_to(c[:, None], (2, 3, 5))
    inserted = spread.copy()
    inserted[:, 2, 0:5:2] = x[:, 1, 1:4]
    np.testing.assert_array_equal(moved, x.transpose(2, 0, 1))
    np.testing.assert_array_equal(broadcast, spread)
    np.testing.assert_array_equal(padded, np.pad(x, ((0, 0), (2, 1), (0, 3)), constant_values=2.5))
    np.testing.assert_array_equal(taken, x[:, 1, 1:4])
    np.testing.assert_array_equal(put, inserted)


def test_fill_collapse_and_expand():
    x = random((2, 3, 5))

    filled, flat, split = run(
        """
        func.func @main(%x: tensor<2x3x5xf32>)
            -> (tensor<4x3xi64>, tensor<2x15xf32>, tensor<2x3x1x5xf32>) {
          %c = arith.constant -7 : i64
          %e = tensor.empty() : tensor<4x3xi64>
          %f = linalg.fill ins(%c : i64) outs(%e : tensor<4x3xi64>) -> tensor<4x3xi64>
          %g = tensor.collapse_shape %x [[0], [1, 2]] : tensor<2x3x5xf32> into tensor<2x15xf32>
          %h = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [2, 3, 1, 5]
              : tensor<2x3x5xf32> into tensor<2x3x1x5xf32>
          return %f, %g, %h : tensor<4x3xi64>, tensor<2x15xf32>, tensor<2x3x1x5xf32>
        }""",
        x=x,
    )

    np.testing.assert_array_equal(filled, np.full((4, 3), -7, np.int64))
    np.testing.assert_array_equal(flat, x.reshape(2, 15))
    np.testing.assert_array_equal(split, x.reshape(2, 3, 1, 5))


def test_what_was_never_written_reads_as_nan():
    (result,) = run(
        """
        func.func @main() -> tensor<3xf32> {
          %e = tensor.empty() : tensor<3xf32>
          return %e : tensor<3xf32>
        }"""
    )

    assert np.isnan(result).all()


def test_inputs_are_never_written():
    x = random((4,))
    x.flags.writeable = False

    (result,) = run(
        """
        #map = affine_map<(i) -> (i)>
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %y = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]}
              outs(%x : tensor<4xf32>) {
          ^bb0(%o: f32):
            %s = arith.addf %o, %o : f32
            linalg.yield %s : f32
          } -> tensor<4xf32>
          return %y : tensor<4xf32>
        }""",
        x=x,
    )

    np.testing.assert_array_equal(result, x * 2)


def test_structured_op_on_tensors_without_axes():
    text = """
      func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
        %e = tensor.empty() : tensor<f32>
        %z = linalg.generic {
            indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>],
            iterator_types = []
          } ins(%x, %y : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) {
          ^bb0(%a: f32, %b: f32, %out: f32):
            %s = arith.subf %a, %b : f32
            linalg.yield %s : f32
          } -> tensor<f32>
        func.return %z : tensor<f32>
      }
    """

    (z,) = run(text, x=np.array(5, np.float32), y=np.array(3, np.float32))

    assert z.shape == ()
    assert z == 2


def test_reduction_to_a_tensor_without_axes():
    text = """
      func.func @main(%x: tensor<3x5xf64>) -> tensor<f64> {
        %zero = arith.constant dense<0.0> : tensor<f64>
        %z = linalg.generic {
            indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
            iterator_types = ["reduction", "reduction"]
          } ins(%x : tensor<3x5xf64>) outs(%zero : tensor<f64>) {
          ^bb0(%a: f64, %sum: f64):
            %s = arith.addf %a, %sum : f64
            linalg.yield %s : f64
          } -> tensor<f64>
        func.return %z : tensor<f64>
      }
    """

    (z,) = run(text, x=np.arange(15.0).reshape(3, 5))

    assert z.shape == ()
    assert z == 105
