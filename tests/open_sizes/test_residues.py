"""Kernels of open sizes at each number of rows and lanes that is left, against NumPy."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model
from tests.closeness import assert_allclose

Floats: TypeAlias = "NDArray[np.float32]"

ROWS = """
func.func @main(%x: tensor<?x70xf32> {gawee.input = "x", gawee.sizes = ["rows", "-"]},
                %w: tensor<90x70xf32> {gawee.parameter = "w"})
    -> (tensor<?x90xf32> {gawee.output = "y"}) {
  %0 = gawee.matmul %x, %w : (tensor<?x70xf32>, tensor<90x70xf32>) -> tensor<?x90xf32>
  func.return %0 : tensor<?x90xf32>
}
"""

ATTENTION = """
func.func @main(%x: tensor<?x2x?x24xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "length", "-"]})
    -> (tensor<?x2x?x24xf32> {gawee.output = "y"}) {
  %0 = gawee.attention %x, %x, %x scale 2.041241452319315e-01 : (tensor<?x2x?x24xf32>, tensor<?x2x?x24xf32>, tensor<?x2x?x24xf32>) -> tensor<?x2x?x24xf32>
  func.return %0 : tensor<?x2x?x24xf32>
}
"""

LONG_SUM = """
func.func @main(%x: tensor<?x?xf32> {gawee.input = "x", gawee.sizes = ["rows", "length"]})
    -> (tensor<?xf32> {gawee.output = "y"}) {
  %0 = gawee.reduce_sum %x axes [1] : (tensor<?x?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
"""


def random(*shape: int) -> Floats:
    return np.random.default_rng(shape).standard_normal(shape, np.float32)


def results(
    text: str,
    weights: Mapping[str, Floats],
    inputs: Sequence[Floats],
    options: CodeOptions,
    **ranges: tuple[int, int],
) -> list[Floats]:
    """Return what one code computes of each input."""
    model = Model(module_of_text(text), weights)
    compiled = model.compile(options, sizes=ranges, cache=False)
    found: list[Floats] = []
    for each in inputs:
        result = compiled(each)
        assert isinstance(result, np.ndarray)
        found.append(result.astype(np.float32))
    return found


@pytest.mark.parametrize(("target", "threads"), [("host", 2), ("haswell", 1)])
def test_each_number_of_rows(target: str, threads: int) -> None:
    weights = random(90, 70)
    inputs = [random(rows, 70) for rows in (*range(1, 28), 128, 512)]

    options = CodeOptions(target=target, num_threads=threads)
    found = results(ROWS, {"w": weights}, inputs, options, rows=(1, 512))

    for x, result in zip(inputs, found, strict=True):
        expected = x.astype(np.float64) @ weights.T.astype(np.float64)
        # Sums of 70 products in float32.
        assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("target", "threads"), [("host", 2), ("haswell", 1)])
def test_each_number_of_keys(target: str, threads: int) -> None:
    lengths = (*range(1, 20), 31, 32, 33, 47, 48, 49, 63, 64, 65, 100)
    inputs = [random(1 + length % 3, 2, length, 24) for length in lengths]

    options = CodeOptions(target=target, num_threads=threads)
    found = results(ATTENTION, {}, inputs, options, batch=(1, 8), length=(1, 512))

    for x, result in zip(inputs, found, strict=True):
        wide = x.astype(np.float64)
        scores = wide @ wide.swapaxes(2, 3) / 24**0.5
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        expected = powers / powers.sum(-1, keepdims=True) @ wide
        # Sums of as many products as there are keys, and of 24, in float32.
        assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", ["host", "haswell"])
def test_each_number_of_terms_of_a_sum_that_may_be_long(target: str) -> None:
    sizes = [(1 + length % 11, length) for length in (*range(1, 36), 255, 257, 8193, 20000)]
    inputs = [random(*size) for size in sizes]

    options = CodeOptions(target=target, num_threads=1)
    found = results(LONG_SUM, {}, inputs, options, rows=(1, 16), length=(1, 20000))

    for x, result in zip(inputs, found, strict=True):
        # Rounded terms of both signs, which cancel: the error is that of their absolute sum.
        bound = 1e-6 * np.abs(x).sum(1, dtype=np.float64).max() + 1e-6
        assert_allclose(result, x.sum(1, dtype=np.float64), rtol=0, atol=float(bound))
