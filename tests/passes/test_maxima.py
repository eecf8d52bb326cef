"""Maxima of what is padded: zeros stand for minus infinity where every window sees an element."""

import numpy as np
import pytest

from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.tensors.assign_layouts.maxima import pad_maxima_with_zeros
from gawee_dialect.universe import make_context

MAXIMA = """
func.func @main(%x: tensor<5x4xf32> {{gawee.input = "x"}}) -> (tensor<{rows}x{columns}xf32> {{gawee.output = "z"}}) {{
  %y = gawee.kernel parallel [5, 4] ins(%x : tensor<5x4xf32>)
    maps [affine_map<(h, w) -> (h, w)>, affine_map<(h, w) -> (h, w)>] finish {{
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %zero : f32
    gawee.yield %m : f32
  }} : tensor<5x4xf32>
  %p = gawee.kernel parallel [5, 4] ins(%y : tensor<5x4xf32>)
    maps [affine_map<(h, w) -> (h, w)>,
    affine_map<(h, w) -> (h + {top}, w + {left})>] outside {outside} : f32 finish {{
  ^bb0(%e: f32):
    gawee.yield %e : f32
  }} : tensor<{height}x{width}xf32>
  %z = gawee.kernel parallel [{rows}, {columns}] reduce {reduced} ins(%p : tensor<{height}x{width}xf32>)
    maps [affine_map<(h, w, {dims}) -> ({places})>, affine_map<(h, w, {dims}) -> (h, w)>]
    initial 0xff800000 : f32 accumulate {{
  ^bb0(%e: f32, %s: f32):
    %0 = arith.maximumf %s, %e : f32
    gawee.yield %0 : f32
  }} finish {{
  ^bb0(%e: f32, %s: f32):
    gawee.yield %s : f32
  }} : tensor<{rows}x{columns}xf32>
  func.return %z : tensor<{rows}x{columns}xf32>
}}
"""
MINUS_INFINITY = "0xff800000"
SQUARE = {"reduced": "[2, 3]", "dims": "i, j", "places": "h + i, w + j"}
DIAGONAL = {"reduced": "[3]", "dims": "k", "places": "h + k, w + k"}


def padded_maxima(
    pads: tuple[int, int, int, int], outside: str, window: dict[str, str]
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return what the pass leaves computes, what NumPy does, and whether the padding is zeros."""
    top, left, bottom, right = pads
    height, width = 5 + top + bottom, 4 + left + right
    rows = height - (1 if window is SQUARE else 2)
    columns = width - 2
    sizes = {"top": top, "left": left, "height": height, "width": width}
    text = MAXIMA.format(rows=rows, columns=columns, outside=outside, **sizes, **window)
    module = parse_mlir(make_context(), text, "test.mlir")
    function = find_function(module)
    assert function is not None

    pad_maxima_with_zeros(function.body.block)

    pad = [op for op in function.walk() if isinstance(op, KernelOp)][1]
    x = np.random.default_rng(7).standard_normal((5, 4), np.float32)
    number = -np.inf if outside == MINUS_INFINITY else float(outside)
    whole = np.pad(np.maximum(x, 0), ((top, bottom), (left, right)), constant_values=number)
    picked = (
        [(i, j) for i in range(2) for j in range(3)]
        if window is SQUARE
        else [(k, k) for k in range(3)]
    )
    expected = np.max([whole[i : i + rows, j : j + columns] for i, j in picked], axis=0)
    return run_module(module, {"x": x})["z"], expected, pad.outside is None


@pytest.mark.parametrize(
    ("pads", "zeros"),
    [
        ((0, 0, 0, 0), True),
        ((1, 2, 1, 2), True),  # the first and the last window see one row or column of the input
        ((2, 0, 0, 0), False),  # the first window ends where the input begins
        ((0, 3, 0, 0), False),
        ((0, 0, 2, 0), False),  # the last window begins where the input ends
        ((0, 0, 0, 3), False),
    ],
)
def test_padding_is_zeros_where_every_window_sees_an_element(
    pads: tuple[int, int, int, int], zeros: bool
) -> None:
    found, expected, are_zeros = padded_maxima(pads, MINUS_INFINITY, SQUARE)

    np.testing.assert_array_equal(found, expected)
    assert are_zeros == zeros
    assert np.isneginf(expected).any() != zeros


def test_a_window_along_a_diagonal_may_see_padding_alone_though_each_axis_sees_more() -> None:
    found, expected, are_zeros = padded_maxima((2, 0, 0, 2), MINUS_INFINITY, DIAGONAL)

    assert np.isneginf(expected[0, -1])
    np.testing.assert_array_equal(found, expected)
    assert not are_zeros


@pytest.mark.parametrize("outside", ["3.0", "0.0"])
def test_other_padding_stays(outside: str) -> None:
    found, expected, are_zeros = padded_maxima((1, 1, 1, 1), outside, SQUARE)

    np.testing.assert_array_equal(found, expected)
    assert not are_zeros


def test_a_small_negative_number_is_below_every_element_too() -> None:
    found, expected, are_zeros = padded_maxima((1, 1, 1, 1), "-1.0e-30", SQUARE)

    np.testing.assert_array_equal(found, expected)
    assert are_zeros
