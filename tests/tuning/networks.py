"""Small networks that the tests of tuning run."""

from collections.abc import Mapping

import numpy as np

from gawee_dialect.model import Model
from tests.passes.modules import parse

CONVOLUTION = """
func.func @main(%x: tensor<1x16x10x9xf32> {gawee.input = "x"},
                %w: tensor<32x16x3x3xf32> {gawee.parameter = "w"},
                %b: tensor<32xf32> {gawee.parameter = "b"}) -> (tensor<1x32x5x4xf32> {gawee.output = "y"}) {
  %0 = gawee.conv %x, %w bias %b strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x16x10x9xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>) -> tensor<1x32x10x9xf32>
  %1 = gawee.relu %0 : (tensor<1x32x10x9xf32>) -> tensor<1x32x10x9xf32>
  %2 = gawee.max_pool %1 kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<1x32x10x9xf32>) -> tensor<1x32x5x4xf32>
  func.return %2 : tensor<1x32x5x4xf32>
}
"""


def network() -> tuple[Model, Mapping[str, np.ndarray]]:
    """A 3x3 convolution with a bias, relu and a pool; and an input for it."""
    generator = np.random.default_rng(5)

    def normal(*shape: int) -> np.ndarray:
        return generator.standard_normal(shape).astype(np.float32)

    parameters = {"w": normal(32, 16, 3, 3) / 12, "b": normal(32)}
    return Model(parse(CONVOLUTION), parameters), {"x": normal(1, 16, 10, 9)}
