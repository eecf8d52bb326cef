"""Padding along an axis of one element: every level against NumPy."""

from typing import Literal

import numpy as np
import pytest

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context

GRAPH = """
func.func @main(%x: tensor<3x1x5xf32> {{gawee.input = "x"}}) -> (tensor<{result}xf32> {{gawee.output = "y"}}) {{
  %y = gawee.pad %x low {low} high {high} mode "{mode}"{value} : (tensor<3x1x5xf32>) -> tensor<{result}xf32>
  return %y : tensor<{result}xf32>
}}
"""
LINALG = """
func.func @main(%x: tensor<3x1x5xf32> {{gawee.input = "x"}}) -> (tensor<{result}xf32> {{gawee.output = "y"}}) {{
  %number = arith.constant 2.5 : f32
  %p = tensor.pad %x low{low} high{high} {{
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %number : f32
  }} : tensor<3x1x5xf32> to tensor<{result}xf32>
  return %p : tensor<{result}xf32>
}}
"""
AMOUNTS = [
    ((0, 2, 0), (0, 0, 0)),
    ((0, 0, 0), (0, 3, 0)),
    ((0, 1, 0), (0, 1, 0)),
    ((1, 2, 0), (0, 1, 3)),
]
X = np.random.default_rng(11).standard_normal((3, 1, 5), np.float32)


def run(text: str, low: tuple[int, ...], high: tuple[int, ...], level: Level, **parts: str):
    sizes = [sum(each) for each in zip(low, X.shape, high, strict=True)]
    filled = text.format(low=list(low), high=list(high), result="x".join(map(str, sizes)), **parts)
    return Model(parse_mlir(make_context(), filled, "test.mlir")).run({"x": X}, level)["y"]


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize(("low", "high"), AMOUNTS)
def test_constant_padding_of_one_element(low: tuple[int, ...], high: tuple[int, ...], level: Level):
    value = " value 2.5 : f64"

    found = run(GRAPH, low, high, level, mode="constant", value=value)

    amounts = list(zip(low, high, strict=True))
    np.testing.assert_array_equal(found, np.pad(X, amounts, constant_values=2.5))


@pytest.mark.parametrize("level", [level for level in Level if level is not Level.GAWEE])
@pytest.mark.parametrize(("low", "high"), AMOUNTS)
def test_padding_of_one_element_in_linalg(
    low: tuple[int, ...], high: tuple[int, ...], level: Level
):
    found = run(LINALG, low, high, level)

    amounts = list(zip(low, high, strict=True))
    np.testing.assert_array_equal(found, np.pad(X, amounts, constant_values=2.5))


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize(
    ("mode", "numpy_mode", "low", "high"),
    [
        ("replicate", "edge", (0, 2, 0), (0, 3, 0)),
        ("replicate", "edge", (1, 0, 2), (0, 4, 1)),
        ("circular", "wrap", (0, 1, 2), (0, 1, 0)),
        ("reflect", "reflect", (2, 0, 1), (1, 0, 3)),
    ],
)
def test_repeated_padding_of_one_element(
    mode: str,
    numpy_mode: Literal["edge", "wrap", "reflect"],
    low: tuple[int, ...],
    high: tuple[int, ...],
    level: Level,
):
    found = run(GRAPH, low, high, level, mode=mode, value="")

    amounts = list(zip(low, high, strict=True))
    np.testing.assert_array_equal(found, np.pad(X, amounts, mode=numpy_mode))
