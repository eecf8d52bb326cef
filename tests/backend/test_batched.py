"""A model for any number of images: against PyTorch, and against itself on one image."""

import pickle
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.backend.batched import BatchedModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model

Floats: TypeAlias = NDArray[np.float32]

BATCHES = (1, 2, 3, 7)

LAYER = """
func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}, %shift: tensor<4xf32> {gawee.input = "shift"},
                %w: tensor<4x3xf32> {gawee.parameter = "w"}) -> (tensor<2x4xf32> {gawee.output = "y"},
                tensor<4x2xf32> {gawee.output = "across"}, tensor<4xf32> {gawee.output = "norm"}) {
  %0 = gawee.matmul %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = gawee.add %0, %shift : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = gawee.transpose %1 permutation [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %3 = gawee.abs %shift : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %2, %3 : tensor<2x4xf32>, tensor<4x2xf32>, tensor<4xf32>
}
"""

GATHER = """
func.func @main(%i: tensor<2x3xi64> {gawee.input = "i"}, %t: tensor<5x4xf32> {gawee.parameter = "t"})
    -> (tensor<2x3x4xf32> {gawee.output = "y"}) {
  %0 = gawee.gather %t, %i axis 0 : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  func.return %0 : tensor<2x3x4xf32>
}
"""


def layer(num_threads: int | None = None) -> BatchedModel:
    w = np.arange(12, dtype=np.float32).reshape(4, 3)
    model = Model(module_of_text(LAYER), {"w": w})
    return model.compile(CodeOptions(num_threads=num_threads), dynamic_batch={"x": 0})


def expected_of_layer(x: Floats, shift: Floats) -> Sequence[Floats]:
    y = x @ np.arange(12, dtype=np.float32).reshape(4, 3).T + shift
    return y, y.T, np.abs(shift)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("images", BATCHES)
def test_images_shared_inputs_and_outputs_along_any_axis(images: int, threads: int) -> None:
    random = np.random.default_rng(images)
    x = random.standard_normal((images, 3)).astype(np.float32)
    shift = random.standard_normal(4).astype(np.float32)

    outputs = layer(num_threads=threads)(x, shift)

    for got, expected in zip(outputs, expected_of_layer(x, shift), strict=True):
        # Three products: their rounding.
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


def test_arrays_of_any_layout_are_taken() -> None:
    x = np.arange(15, dtype=np.float32).reshape(3, 5).T[::-1]
    shift = np.zeros(8, np.float32)[::2]

    outputs = layer()(x, shift)

    for got, expected in zip(outputs, expected_of_layer(x, shift), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_images_may_be_along_another_axis_of_an_input() -> None:
    text = LAYER.replace("tensor<2x3xf32> {", "tensor<3x2xf32> {").replace(
        "%0 = gawee.matmul %x,",
        "%t = gawee.transpose %x permutation [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>\n"
        "  %0 = gawee.matmul %t,",
    )
    w = np.arange(12, dtype=np.float32).reshape(4, 3)
    x = np.arange(21, dtype=np.float32).reshape(3, 7)
    shift = np.ones(4, np.float32)

    model = Model(module_of_text(text), {"w": w}).compile(dynamic_batch={"x": 1})

    for got, expected in zip(model(x, shift), expected_of_layer(x.T, shift), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_an_input_of_another_number_of_images_is_refused() -> None:
    text = GATHER.replace('{gawee.parameter = "t"}', '{gawee.input = "t"}')
    model = Model(module_of_text(text)).compile(dynamic_batch={"i": 0})

    with pytest.raises(GaweeError, match="input 't': expected shape 5x4, got 6x4"):
        model(np.zeros((3, 3), np.int64), np.zeros((6, 4), np.float32))
    with pytest.raises(GaweeError, match="input 'i': expected shape 3x3, got 3x2"):
        model(np.zeros((3, 2), np.int64), np.zeros((5, 4), np.float32))


def test_no_images_are_refused() -> None:
    with pytest.raises(GaweeError, match="expected at least 1 image of input 'x', got none"):
        layer()(np.zeros((0, 3), np.float32), np.zeros(4, np.float32))


def test_a_missing_input_is_told() -> None:
    with pytest.raises(GaweeError, match="input 'x': expected an array of 1x3 float32, got none"):
        layer()(shift=np.zeros(4, np.float32))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_index_that_is_out_of_range_in_one_image_is_told(threads: int) -> None:
    table = np.arange(20, dtype=np.float32).reshape(5, 4)
    model = Model(module_of_text(GATHER), {"t": table}).compile(
        CodeOptions(num_threads=threads), dynamic_batch=True
    )
    indices = np.arange(27, dtype=np.int64).reshape(9, 3) % 5

    np.testing.assert_array_equal(model(indices), table[indices])
    indices[4, 1] = 5
    with pytest.raises(GaweeError, match="index 5 is out of bounds for axis 0 with size 5"):
        model(indices)


def test_parameters_are_bound_again() -> None:
    model = layer()
    x, shift = np.ones((3, 3), np.float32), np.zeros(4, np.float32)

    model.rebind({"w": np.full((4, 3), 2, np.float32)})

    outputs = model(x, shift)
    np.testing.assert_array_equal(outputs[0], np.full((3, 4), 6, np.float32))


def test_a_pickled_model_takes_any_number_of_images() -> None:
    x, shift = np.ones((5, 3), np.float32), np.zeros(4, np.float32)
    model = layer()

    again: object = pickle.loads(pickle.dumps(model))

    assert isinstance(again, BatchedModel)
    np.testing.assert_array_equal(again(x, shift)[0], model(x, shift)[0])


def test_the_workspace_is_that_of_one_image() -> None:
    def workspace(images: int) -> int:
        text = LAYER.replace("tensor<2x", f"tensor<{images}x").replace("x2xf32>", f"x{images}xf32>")
        model = Model(module_of_text(text), {"w": np.zeros((4, 3), np.float32)})
        return model.compile(dynamic_batch={"x": 0}).memory.workspace

    assert workspace(2) == workspace(64)


def test_what_is_no_graph_has_no_dynamic_batch() -> None:
    model = Model(Model(module_of_text(LAYER)).lowered("loops"))

    with pytest.raises(GaweeError, match="expected a graph for a dynamic batch, got level 'loops'"):
        model.compile(dynamic_batch=True)


def test_a_module_without_a_function_is_refused() -> None:
    text = GATHER.replace("@main", "@other")
    model = Model(module_of_text(text))

    with pytest.raises(GaweeError, match="expected a function '@main' of one block in the module"):
        model.compile(dynamic_batch=True)


def test_the_summary_says_any_number_of_images() -> None:
    assert layer().summary.endswith("any number of images")


def test_a_graph_for_one_image_whose_axes_may_be_several_is_refused() -> None:
    text = """func.func @main(%x: tensor<1x3xf32>) -> tensor<1x1x3xf32> {
      %0 = gawee.reshape %x shape [1, 1, 3] : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
      func.return %0 : tensor<1x1x3xf32>
    }"""

    with pytest.raises(GaweeError) as raised:
        Model(module_of_text(text)).compile(dynamic_batch=True)

    assert "expected output #0 to have one axis of images, got several of 1" in str(raised.value)
    assert "write the graph for 2 images" in str(raised.value)
