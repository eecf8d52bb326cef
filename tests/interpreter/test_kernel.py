"""gawee.kernel by its definition, against einsum and loops written by hand.

Tolerance: sums of up to some hundred float32 products are taken in another order; 1e-5 of the
largest number is an order of magnitude more than that costs.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.closeness import assert_allclose
from tests.interpreter.modules import random, run

PRODUCT = """accumulate {
    ^bb0(%x: f32, %w: f32, %sum: f32):
      %p = arith.mulf %x, %w : f32
      %q = arith.addf %sum, %p : f32
      gawee.yield %q : f32
    } finish {
    ^bb0(%x: f32, %w: f32, %sum: f32):
      gawee.yield %sum : f32
    }"""


def assert_close(got: NDArray[np.generic], expected: NDArray[np.generic]) -> None:
    assert got.dtype == expected.dtype
    assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_a_product_starts_with_its_initial_value() -> None:
    a, b = random((4, 7)), random((5, 7), seed=1)

    (got,) = run(
        f"""func.func @main(%a: tensor<4x7xf32>, %b: tensor<5x7xf32>) -> tensor<4x5xf32> {{
          %y = gawee.kernel parallel [4, 5] reduce [7] ins(%a, %b : tensor<4x7xf32>, tensor<5x7xf32>)
            maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
            initial 3.0 : f32 {PRODUCT} : tensor<4x5xf32>
          func.return %y : tensor<4x5xf32>
        }}""",
        a=a,
        b=b,
    )

    assert_close(got, np.einsum("mk,nk->mn", a, b) + np.float32(3))


def test_a_product_of_constants_reads_nothing() -> None:
    (got,) = run(
        """func.func @main() -> tensor<3xf32> {
          %y = gawee.kernel parallel [3] reduce [5, 2] ins() maps [affine_map<(m, k, l) -> (m)>]
            initial 1.0 : f32 accumulate {
            ^bb0(%sum: f32):
              %c = arith.constant 0.5 : f32
              %p = arith.mulf %c, %c : f32
              %q = arith.addf %sum, %p : f32
              gawee.yield %q : f32
            } finish {
            ^bb0(%sum: f32):
              gawee.yield %sum : f32
            } : tensor<3xf32>
          func.return %y : tensor<3xf32>
        }"""
    )

    np.testing.assert_array_equal(got, np.full(3, 1 + 10 * 0.25, np.float32))


def test_a_product_with_a_constant() -> None:
    a = random((4, 700))

    (got,) = run(
        """func.func @main(%a: tensor<4x700xf32>) -> tensor<4xf32> {
          %y = gawee.kernel parallel [4] reduce [700] ins(%a : tensor<4x700xf32>)
            maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>]
            initial 0.0 : f32 accumulate {
            ^bb0(%x: f32, %sum: f32):
              %c = arith.constant 0.5 : f32
              %p = arith.mulf %x, %c : f32
              %q = arith.addf %sum, %p : f32
              gawee.yield %q : f32
            } finish {
            ^bb0(%x: f32, %sum: f32):
              gawee.yield %sum : f32
            } : tensor<4xf32>
          func.return %y : tensor<4xf32>
        }""",
        a=a,
    )

    assert_close(got, 0.5 * a.sum(axis=1))


def test_the_bounds_count_and_not_the_shapes() -> None:
    x = random((6, 9))

    (got,) = run(
        """func.func @main(%x: tensor<6x9xf32>) -> tensor<5xf32> {
          %y = gawee.kernel parallel [3] reduce [4] ins(%x : tensor<6x9xf32>)
            maps [affine_map<(i, k) -> (i + 1, k * 2 + 2)>, affine_map<(i, k) -> (i + 1)>]
            initial 0.0 : f32 outside 7.0 : f32
            accumulate {
            ^bb0(%e: f32, %sum: f32):
              %q = arith.addf %e, %sum : f32
              gawee.yield %q : f32
            } finish {
            ^bb0(%e: f32, %sum: f32):
              gawee.yield %sum : f32
            } : tensor<5xf32>
          func.return %y : tensor<5xf32>
        }""",
        x=x,
    )

    sums = x[1:4, 2:9:2].sum(axis=1)
    assert_close(got, np.array([7, *sums, 7], np.float32))


@pytest.mark.parametrize("buffers", [False, True])
def test_a_convolution_between_blocked_tensors_with_halos(buffers: bool) -> None:
    batch, channels, features, height, width, block = 2, 5, 6, 4, 3, 4
    x, w = random((batch, channels, height, width)), random((features, channels, 3, 3), seed=1)
    bias, residual = random((features,), seed=2), random((batch, features, height, width), seed=3)
    blocked = np.zeros((batch, 2, height + 2, width + 2, block), np.float32)
    for c in range(channels):
        blocked[:, c // block, 1:-1, 1:-1, c % block] = x[:, c]
    kind = "memref" if buffers else "tensor"
    types = [f"{kind}<2x2x6x5x4xf32>", f"{kind}<6x5x3x3xf32>", f"{kind}<6xf32>"]
    types += [f"{kind}<2x6x4x3xf32>"]
    dims = "affine_map<(n, f, h, w, c, i, j) ->"
    kernel = f"""gawee.kernel parallel [2, 6, 4, 3] reduce [5, 3, 3]
      ins(%x, %w, %b, %r : {", ".join(types)}) {"outs(%y)" if buffers else ""}
      maps [{dims} (n, c floordiv 4, h + i, w + j, c mod 4)>, {dims} (f, c, i, j)>, {dims} (f)>,
        {dims} (n, f, h, w)>, {dims} (n, f floordiv 4, h + 1, w + 1, f mod 4)>]
      initial 0.0 : f32
      accumulate {{
      ^bb0(%e: f32, %v: f32, %c: f32, %d: f32, %sum: f32):
        %p = arith.mulf %e, %v : f32
        %q = arith.addf %sum, %p : f32
        gawee.yield %q : f32
      }} finish {{
      ^bb0(%e: f32, %v: f32, %c: f32, %d: f32, %sum: f32):
        %s = arith.addf %sum, %c : f32
        %t = arith.addf %s, %d : f32
        %zero = arith.constant 0.0 : f32
        %u = arith.maximumf %t, %zero : f32
        gawee.yield %u : f32
      }} : {types[0]}"""
    arguments = f"%x: {types[0]}, %w: {types[1]}, %b: {types[2]}, %r: {types[3]}"
    text = (
        f"""func.func @main({arguments}, %y: {types[0]} {{gawee.output = "y"}}) {{
          {kernel}
          func.return
        }}"""
        if buffers
        else f"""func.func @main({arguments}) -> {types[0]} {{
          %y = {kernel}
          func.return %y : {types[0]}
        }}"""
    )

    (got,) = run(text, x=blocked, w=w, b=bias, r=residual)

    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    sums = np.einsum("nchwij,fcij->nfhw", windows, w) + bias[:, None, None] + residual
    expected = np.zeros((batch, 2, height + 2, width + 2, block), np.float32)
    for f in range(features):
        expected[:, f // block, 1:-1, 1:-1, f % block] = np.maximum(sums, 0)[:, f]
    assert_close(got, expected)


def test_a_reduction_of_one_point_or_none() -> None:
    def total(points: int, x: NDArray[np.generic]) -> NDArray[np.generic]:
        (got,) = run(
            f"""func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {{
              %y = gawee.kernel parallel [3] reduce [{points}] ins(%x : tensor<3xi32>)
                maps [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>]
                initial 5 : i32
                accumulate {{
                ^bb0(%e: i32, %sum: i32):
                  %q = arith.addi %e, %sum : i32
                  gawee.yield %q : i32
                }} finish {{
                ^bb0(%e: i32, %sum: i32):
                  gawee.yield %sum : i32
                }} : tensor<3xi32>
              func.return %y : tensor<3xi32>
            }}""",
            x=x,
        )
        return got

    x = np.array([1, -2, 30], np.int32)
    np.testing.assert_array_equal(total(1, x), x + 5)
    np.testing.assert_array_equal(total(4, x), 4 * x + 5)
    np.testing.assert_array_equal(total(0, x), [5, 5, 5])


def test_a_kernel_without_inputs_fills() -> None:
    (got,) = run(
        """func.func @main() -> tensor<2x3xf64> {
          %y = gawee.kernel parallel [2, 2] ins() maps [affine_map<(i, j) -> (i, j + 1)>]
            finish {
              %c = arith.constant 2.5 : f64
              gawee.yield %c : f64
            } : tensor<2x3xf64>
          func.return %y : tensor<2x3xf64>
        }"""
    )

    np.testing.assert_array_equal(got, [[0, 2.5, 2.5], [0, 2.5, 2.5]])
    assert got.dtype == np.float64


def test_a_maximum_of_half_precision_over_windows() -> None:
    x = random((2, 7), "float16")

    (got,) = run(
        """func.func @main(%x: tensor<2x7xf16>) -> tensor<2x3xf16> {
          %y = gawee.kernel parallel [2, 3] reduce [3] ins(%x : tensor<2x7xf16>)
            maps [affine_map<(i, j, k) -> (i, j * 2 + k)>, affine_map<(i, j, k) -> (i, j)>]
            initial 0xfc00 : f16
            accumulate {
            ^bb0(%e: f16, %top: f16):
              %q = arith.maximumf %e, %top : f16
              gawee.yield %q : f16
            } finish {
            ^bb0(%e: f16, %top: f16):
              gawee.yield %top : f16
            } : tensor<2x3xf16>
          func.return %y : tensor<2x3xf16>
        }""",
        x=x,
    )

    expected = np.stack([x[:, j : j + 3].max(axis=1) for j in (0, 2, 4)], axis=1)
    np.testing.assert_array_equal(got, expected)
