"""What quantization costs by layer, held against the same in NumPy."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import Model, load
from gawee_dialect.quantization.quantizer import Quantizer
from gawee_dialect.quantization.sensitivity import Sensitivity

Array = NDArray[np.floating]

NETWORK = """func.func @main(%x: tensor<1x5xf32> {gawee.input = "x"},
    %u: tensor<7x5xf32> {gawee.parameter = "u"}, %b: tensor<7xf32> {gawee.parameter = "b"},
    %v: tensor<3x7xf32> {gawee.parameter = "v"})
    -> (tensor<1x3xf32> {gawee.output = "y"}) {
  %1 = gawee.matmul %x, %u bias %b : (tensor<1x5xf32>, tensor<7x5xf32>, tensor<7xf32>) -> tensor<1x7xf32> loc("hidden")
  %2 = gawee.relu %1 : (tensor<1x7xf32>) -> tensor<1x7xf32>
  %y = gawee.matmul %2, %v : (tensor<1x7xf32>, tensor<3x7xf32>) -> tensor<1x3xf32> loc("scores")
  func.return %y : tensor<1x3xf32>
}
"""
DRAW = np.random.default_rng(7)
WEIGHTS = {
    "u": DRAW.normal(0, 1, (7, 5)).astype(np.float32),
    "b": DRAW.normal(0, 1, 7).astype(np.float32),
    "v": DRAW.normal(0, 1, (3, 7)).astype(np.float32),
}
DATA = DRAW.normal(0, 1, (50, 5)).astype(np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    (tmp_path / "net.mlir").write_text(NETWORK)
    return load(tmp_path / "net.mlir", WEIGHTS)


def rounded(array: Array) -> Array:
    """Return numbers as 8 bits hold them, with one scale for the whole range."""
    low, high = min(array.min(), 0), max(array.max(), 0)
    step = np.float32((high - low) / 255)
    zero = np.round(-low / step)
    return (np.clip(np.round(array / step) + zero, 0, 255) - zero) * step


def rounded_rows(array: Array) -> Array:
    """Return weights as 7 bits and a sign hold them, with a scale for each row."""
    step = np.abs(array).max(axis=1, keepdims=True) / 127
    return np.round(array / step) * step


def forward(hidden: bool, scores: bool) -> tuple[Array, Array]:
    """Return what both layers make, where some are quantized; biases have 32 bits."""
    u, v = WEIGHTS["u"], WEIGHTS["v"]
    x = rounded(DATA) if hidden else DATA
    made = np.maximum(x @ (rounded_rows(u) if hidden else u).T + WEIGHTS["b"], 0)
    exact = np.maximum(DATA @ u.T + WEIGHTS["b"], 0)
    if hidden or scores:  # ranges are those of the network in float
        low, high = 0, exact.max()
        step = np.float32((high - low) / 255)
        made = np.clip(np.round(made / step), 0, 255) * step
    y = made @ (rounded_rows(v) if scores else v).T
    if scores:
        wanted = exact @ v.T
        step = np.float32((wanted.max() - wanted.min()) / 255)
        zero = np.round(-wanted.min() / step)
        y = (np.clip(np.round(y / step) + zero, 0, 255) - zero) * step
    return made, y


def error(array: Array, expected: Array) -> float:
    return float(np.abs(array - expected).max() / np.ptp(expected))


def test_errors_of_layers_are_those_that_numpy_finds(model: Model) -> None:
    sensitivity = Sensitivity(Quantizer(model, DATA))
    exact, wanted = forward(False, False)

    found = {each.name: each.error for each in sensitivity.by_layer}
    so_far = sensitivity.so_far(sensitivity.quantizer.all_but(()))

    made, y = forward(True, True)
    step = 1 / 255  # a number between two steps may go either way
    assert found["hidden"] == pytest.approx(error(forward(True, False)[1], wanted), abs=step / 4)
    assert found["scores"] == pytest.approx(error(forward(False, True)[1], wanted), abs=step / 4)
    assert sensitivity.keeping(0).error == pytest.approx(error(y, wanted), abs=step / 4)
    assert so_far["hidden"] == pytest.approx(error(made, exact), abs=step / 4)
    assert so_far["scores"] == pytest.approx(sensitivity.keeping(0).error)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_layers_that_cost_most_stay_in_float_first(model: Model) -> None:
    sensitivity = Sensitivity(Quantizer(model, DATA))
    (most, _), all_of_it = sensitivity.by_layer, sensitivity.keeping(0)
    one = sensitivity.keeping(1)

    assert one.in_float == [most.name]
    assert one.error == sensitivity.error(sensitivity.quantizer.all_but([most.name]))
    assert sensitivity.at_most(all_of_it.error) == all_of_it
    if one.error < all_of_it.error:
        assert sensitivity.at_most(one.error) == one
    assert 0 < sensitivity.quantizer.integer_part(one.chosen) < 1
    assert sensitivity.quantizer.integer_part(all_of_it.chosen) == 1
    assert sensitivity.quantizer.integer_part(()) == 0


def test_an_error_that_nothing_reaches_is_refused(model: Model) -> None:
    with pytest.raises(GaweeError, match=r"expected an error of at most 1e-09, got 0\.\d+ or more"):
        Sensitivity(Quantizer(model, DATA)).at_most(1e-9)
