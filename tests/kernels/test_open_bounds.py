"""Kernels whose bounds are open, as loops by the interpreter, against NumPy in float64.

The sizes are the least and the greatest, one tile, one more, two tiles and a tail of each schedule.
"""

from collections.abc import Mapping

import numpy as np
import pytest

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.effort import crossed

SIZES = (1, 6, 7, 13, 24, 39)


def result_at_loops(
    text: str, inputs: Mapping[str, np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """Lower a module to loops and run it; its output has a shape, and is not written yet."""
    module = parse_mlir(make_context(), text, "test.mlir")
    run_passes(make_context(), module, parse_passes("lower-kernels-to-loops", all_passes()))
    output = np.full(shape, np.nan, np.float32)
    return run_module(module, {**inputs, "y": output})["y"]


def numbers(*shape: int) -> np.ndarray:
    """Return normal numbers of a shape."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def function(arguments: str, output: str, counts: str, kernel: str) -> str:
    """Return a function that reads its counts and runs one kernel on buffers."""
    return f"""
func.func @main({arguments}, %y: {output} {{gawee.updated = "y"}})
    attributes {{gawee.ranges = {{n = "1 to 39", m = "1 to 39"}}}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  {counts}
  {kernel}
  func.return
}}"""


def product(schedule: str) -> str:
    """Return an open number of rows, times a matrix of 5 x 11, and an offset."""
    return function(
        '%x: memref<?x5xf32> {gawee.input = "x"}, %w: memref<5x11xf32> {gawee.input = "w"}',
        "memref<?x11xf32>",
        "%n = memref.dim %x, %c0 : memref<?x5xf32>",
        f"""gawee.kernel parallel ["n", 11] reduce [5] counts(n = %n)
    ins(%x, %w : memref<?x5xf32>, memref<5x11xf32>) outs(%y)
    maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
          affine_map<(i, j, k) -> (i, j)>]
    initial 0.0 : f32 accumulate {{
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    gawee.yield %1 : f32
  }} finish {{
  ^bb0(%a: f32, %b: f32, %s: f32):
    gawee.yield %s : f32
  }} schedule #gawee.schedule<{schedule}> : memref<?x11xf32> shape ["n", 11]""",
    )


@pytest.mark.parametrize(
    ("schedule", "size"),
    crossed(
        [
            "loops = [d0 by 6, d1 by 8, d2], vector = d1 by 4",
            "loops = [d1 by 8, d0, d2], vector = d1 by 4, parallel = 2",
            "loops = [d0 by 4, d1 by 8, d2], vector = d1 by 4, parallel = 2",
            "loops = [d0 by 12, d0 by 4, d1 by 8, d2], vector = d1 by 4, parallel = 2",
            "loops = [d0 by 8, d1 by 3, d2], vector = d0 by 4, parallel = 1",
            "loops = [d0, d1, d2]",
        ],
        SIZES,
    ),
)
def test_rows_in_tiles_and_those_left_match_numpy(schedule: str, size: int) -> None:
    x, w = numbers(size, 5), numbers(5, 11)

    got = result_at_loops(product(schedule), {"x": x, "w": w}, (size, 11))

    wanted = x.astype(np.float64) @ w
    # Five products of numbers around one, each rounded once.
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def row_sums(schedule: str) -> str:
    """Return sums over an open length, of an open number of rows."""
    return function(
        '%x: memref<?x?xf32> {gawee.input = "x"}',
        "memref<?xf32>",
        "%n = memref.dim %x, %c0 : memref<?x?xf32> %m = memref.dim %x, %c1 : memref<?x?xf32>",
        f"""gawee.kernel parallel ["n"] reduce ["m"] counts(m = %m, n = %n)
    ins(%x : memref<?x?xf32>) outs(%y)
    maps [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
    initial 0.0 : f32 accumulate {{
  ^bb0(%e: f32, %s: f32):
    %0 = arith.addf %s, %e : f32
    gawee.yield %0 : f32
  }} finish {{
  ^bb0(%e: f32, %s: f32):
    gawee.yield %s : f32
  }} schedule #gawee.schedule<{schedule}> : memref<?xf32> shape ["n"]""",
    )


@pytest.mark.parametrize(
    ("schedule", "size"),
    crossed(
        [
            "loops = [d0 by 4, d1 by 16], vector = d1 by 8",
            "loops = [d0, d1 by 8], vector = d1 by 8, parallel = 1",
            "loops = [d0 by 8, d1], vector = d0 by 8",
        ],
        SIZES,
    ),
)
@pytest.mark.parametrize("greatest", ["39", "20000"], ids=["short", "long"])
def test_a_sum_over_an_open_length_matches_numpy(schedule: str, size: int, greatest: str) -> None:
    text = row_sums(schedule).replace('m = "1 to 39"', f'm = "1 to {greatest}"')

    x = numbers(5, size)

    got = result_at_loops(text, {"x": x}, (5,))

    wanted = x.astype(np.float64).sum(axis=1)
    # Up to 39 roundings of sums below 20.
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=2e-5)


def test_a_sum_that_may_be_long_has_its_total_in_f64() -> None:
    text = row_sums("loops = [d0, d1 by 8], vector = d1 by 8")
    text = text.replace('m = "1 to 39"', 'm = "1 to 20000"')
    # One is lost beside 2^24 in float32.
    x = np.ones((1, 9001), np.float32)
    x[0, 0] = 2**24

    got = result_at_loops(text, {"x": x}, (1,))[0]

    # One lane of the first block loses its 15; in float32 it would lose more than a thousand.
    assert abs(float(got) - (2**24 + 9000)) <= 16


def halo(schedule: str) -> str:
    """Return a copy of an open image into the middle of a larger one, which is -1 around it."""
    return function(
        '%x: memref<?x3x?xf32> {gawee.input = "x"}',
        "memref<?x5x?xf32>",
        "%n = memref.dim %x, %c0 : memref<?x3x?xf32>"
        " %c2 = arith.constant 2 : index %m = memref.dim %x, %c2 : memref<?x3x?xf32>",
        f"""gawee.kernel parallel ["n", 3, "m"] counts(m = %m, n = %n)
    ins(%x : memref<?x3x?xf32>) outs(%y)
    maps [affine_map<(b, h, w) -> (b, h, w)>, affine_map<(b, h, w) -> (b, h + 1, w + 2)>]
    outside -1.0 : f32 finish {{
  ^bb0(%e: f32):
    gawee.yield %e : f32
  }} schedule #gawee.schedule<{schedule}>
    : memref<?x5x?xf32> shape ["n", 5, "m + 3"]""",
    )


@pytest.mark.parametrize(
    ("schedule", "size"),
    crossed(
        [
            "loops = [d0, d1, d2 by 16], vector = d2 by 8",
            "loops = [d2 by 8, d0, d1], vector = d2 by 8, parallel = 2",
        ],
        SIZES,
    ),
)
def test_what_is_around_an_open_image_is_filled(schedule: str, size: int) -> None:
    x = numbers(2, 3, size)

    got = result_at_loops(halo(schedule), {"x": x}, (2, 5, size + 3))

    wanted = np.pad(x, ((0, 0), (1, 1), (2, 1)), constant_values=-1)
    np.testing.assert_array_equal(got, wanted)
