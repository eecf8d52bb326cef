"""Indices into axes whose sizes are open, in range and out of it, against NumPy."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.backend.open_model import OpenModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.model import Model
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context

AXIS = """
func.func @main(%x: tensor<?x3xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]},
                %i: tensor<5xi64> {gawee.input = "i"}) -> (tensor<5x3xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {n = "1 to 300"}} {
  %0 = gawee.gather %x, %i axis 0 : (tensor<?x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  func.return %0 : tensor<5x3xf32>
}
"""

ROWS = """
func.func @main(%x: tensor<?x3x?xf32> {gawee.input = "x", gawee.sizes = ["n", "-", "m"]},
                %i: tensor<?x3xi32> {gawee.input = "i", gawee.sizes = ["count", "-"]})
    -> (tensor<?xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {n = "1 to 300", m = "1 to 9", count = "1 to 9"}} {
  %0 = gawee.gather_nd %x, %i batch_dims 0 : (tensor<?x3x?xf32>, tensor<?x3xi32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
"""

Compile = Callable[[str], OpenModel]


@pytest.fixture(params=["plain", "fast"])
def compiled(request: pytest.FixtureRequest) -> Compile:
    """Return what compiles a module for all of its sizes."""

    def compile(text: str) -> OpenModel:
        model = Model(module_of_text(text), {})
        options = CodeOptions(algorithms=str(request.param))
        made = model.compile(options, sizes={"n": (1, 300)}, cache=False)
        assert isinstance(made, OpenModel)
        return made

    return compile


def numbers(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def test_along_one_axis(compiled: Compile) -> None:
    model = compiled(AXIS)
    for n in (1, 2, 17, 300):
        x, i = numbers(n, 3), np.array([0, n - 1, -1, -n, n // 2])
        np.testing.assert_array_equal(model.run({"x": x, "i": i})["y"], x[i])
        for wrong in (n, -n - 1, 1 << 40, -(1 << 63)):
            i[3] = wrong
            with pytest.raises(GaweeError, match=f"index {wrong} is out of bounds for axis 0"):
                model.run({"x": x, "i": i})


@pytest.mark.parametrize(
    ("wrong", "axis"), [((7, 0, 0), 0), ((0, 3, 0), 1), ((0, 0, -5), 2), ((-8, 0, 0), 0)]
)
def test_rows_name_open_axes_and_others(compiled: Compile, wrong: Sequence[int], axis: int) -> None:
    model = compiled(ROWS)
    x, i = numbers(7, 3, 4), np.array([[0, 0, 0], [6, 2, 3], [-7, -3, -4], [1, 1, 1]], np.int32)
    np.testing.assert_array_equal(model.run({"x": x, "i": i})["y"], x[tuple(i.T)])
    i[2] = wrong
    with pytest.raises(GaweeError, match=f"index {wrong[axis]} is out of bounds for axis {axis}"):
        model.run({"x": x, "i": i})


@pytest.mark.parametrize("instrument", [CheckEach, ProveEach])
def test_each_pass_is_checked(instrument: type[CheckEach | ProveEach]) -> None:
    module, watching = module_of_text(ROWS), instrument()
    passes = "check-indices,lower-to-linalg"

    with instrumented(watching):
        run_passes(make_context(), module, parse_passes(passes, all_passes()))

    (step,) = [each for each in watching.steps if each.name == "check-indices"]
    assert step.is_checked
