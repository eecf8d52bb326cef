"""The kernels of a batch in parts are profiled as those of a whole batch. No test asserts a time."""

from collections.abc import Sequence

import numpy as np
import pytest

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.instruments.profile import NodeTime
from gawee_dialect.model import Model
from gawee_dialect.passes.insertion import before
from gawee_dialect.passes.tensors.tile_batch import TileBatch
from gawee_dialect.universe import make_context

TEXT = """func.func @main(%x: tensor<6x3x9x7xf32> {gawee.input = "x"}, %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<6x5x9x7xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<6x5x9x7xf32> loc("conv"("net.json":2:1))
  %1 = gawee.max_pool %0 kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<6x5x9x7xf32>) -> tensor<6x5x9x7xf32> loc("pool"("net.json":3:1))
  return %1 : tensor<6x5x9x7xf32>
}
"""


@pytest.mark.parametrize("tiling", [TileBatch(2), TileBatch(1, 2)])
def test_nodes_of_a_part_have_the_time_and_the_work_of_all_parts(tiling: TileBatch) -> None:
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((5, 3, 3, 3), np.float32)}
    inputs = {"x": rng.standard_normal((6, 3, 9, 7), np.float32)}
    model = Model(parse_mlir(make_context(), TEXT, "net.mlir"), weights)
    parts = CodeOptions(algorithms="exact", passes=(before("tile-batch", tiling),))

    whole = model.profile(inputs, options=CodeOptions(algorithms="exact"))
    tiled = model.profile(inputs, options=parts)

    assert flops(tiled) == flops(whole)
    assert flops(whole)["conv"]
    assert all(each.seconds > 0 for each in tiled)


def flops(times: Sequence[NodeTime]) -> dict[str, int | None]:
    """Return the FLOPs of the network's own nodes."""
    named = [each for each in times if each.node in ("conv", "pool")]
    return {each.node: None if each.work is None else each.work.flops for each in named}
