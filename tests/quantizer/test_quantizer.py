"""Quantized networks: ONNX Runtime's scales, and its numbers, of the file that is written.

A network is compared with ONNX Runtime's runs of its file: without that program's optimizations
by the op, in float; natively, where sums are of integers, an element may be one step of the
output's scale away where a number lies between two steps.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import gawee_dialect
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.types import ui8
from gawee_dialect.frontends.onnx.export.model_file import export_onnx
from gawee_dialect.model import Model
from gawee_dialect.quantization.calibration import BINS, OBSERVERS, PERCENTILE, Histogram, Observer
from gawee_dialect.quantization.quantizer import ACTIVATIONS, Activations, Quantizer, Scale

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

FOLDER = Path(__file__).parents[2] / "examples" / "digits"
SAMPLES = 40
Array = NDArray[np.float32]

BLOCK = """func.func @main(%x: tensor<1x5x9x7xf32> {gawee.input = "x"},
    %w: tensor<6x5x3x2xf32> {gawee.parameter = "first.weight"},
    %b: tensor<6xf32> {gawee.parameter = "first.bias"},
    %d: tensor<6x1x3x3xf32> {gawee.parameter = "depthwise.weight"},
    %p: tensor<4x6x1x1xf32> {gawee.parameter = "point.weight"},
    %m: tensor<10x3xf32> {gawee.parameter = "last.weight"})
    -> (tensor<1x3xf32> {gawee.output = "y"}) {
  %1 = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 1] dilations [1, 1] groups 1
    : (tensor<1x5x9x7xf32>, tensor<6x5x3x2xf32>, tensor<6xf32>) -> tensor<1x6x5x7xf32> loc("first")
  %2 = gawee.clip %1 min 0.0 max 6.0 : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("clip")
  %3 = gawee.conv %2, %d strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 6
    : (tensor<1x6x5x7xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x5x7xf32> loc("depthwise")
  %4 = gawee.add %2, %3 : (tensor<1x6x5x7xf32>, tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("add")
  %5 = gawee.conv %4, %p strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<1x6x5x7xf32>, tensor<4x6x1x1xf32>) -> tensor<1x4x5x7xf32> loc("point")
  %6 = gawee.cat %4, %5 dim 1 : (tensor<1x6x5x7xf32>, tensor<1x4x5x7xf32>) -> tensor<1x10x5x7xf32> loc("cat")
  %7 = gawee.ad_avg_pool %6 output_size [1, 1] : (tensor<1x10x5x7xf32>) -> tensor<1x10x1x1xf32> loc("pool")
  %8 = gawee.reshape %7 shape [1, 10] : (tensor<1x10x1x1xf32>) -> tensor<1x10xf32> loc("flat")
  %y = gawee.batch_matmul %8, %m : (tensor<1x10xf32>, tensor<10x3xf32>) -> tensor<1x3xf32> loc("last")
  func.return %y : tensor<1x3xf32>
}
"""
"""All that is quantized: windows of all channels and of one, a clip, a sum, a concatenation."""


@pytest.fixture(scope="module")
def digits() -> Model:
    return gawee_dialect.load(FOLDER / "graph.json")


@pytest.fixture(scope="module")
def images() -> Array:
    return np.load(FOLDER / "digits_test.npz")["images"]


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("block") / "block.mlir"
    path.write_text(BLOCK)
    draw = np.random.default_rng(3)
    shapes = {
        **{"first.weight": (6, 5, 3, 2), "first.bias": (6,), "depthwise.weight": (6, 1, 3, 3)},
        **{"point.weight": (4, 6, 1, 1), "last.weight": (10, 3)},
    }
    weights = {
        name: draw.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()
    }
    return gawee_dialect.load(path, weights)


def samples(count: int = SAMPLES) -> Array:
    return np.random.default_rng(4).normal(0.3, 1, (count, 5, 9, 7)).astype(np.float32)


def output(made: Mapping[str, NDArray[np.generic]]) -> Array:
    """Return the only output of a network."""
    (array,) = made.values()
    return array.astype(np.float32)


def session(file: bytes, *, optimized: bool):
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    levels = runtime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    )
    return runtime.InferenceSession(file, options)


def runs_of(model: Model, data: Array, *, optimized: bool) -> Array:
    made = session(export_onnx(model.module, model.bound), optimized=optimized)
    return np.stack([made.run(None, {"x": each[None]})[0] for each in data])


def steps_apart(model: Model, ours: Array, theirs: Array) -> Array:
    """Return how many steps of the output's scale each element is from another's."""
    file = onnx.ModelProto.FromString(export_onnx(model.module, model.bound))
    scale = scales_of(file)[file.graph.output[0].name]
    return np.abs(np.round((ours - theirs) / scale))


def scales_of(file) -> dict[str, Array]:
    """Return the scale of each tensor and weight that is dequantized, by what it is made of."""
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in file.graph.initializer}
    return {
        node.output[0]: constants[node.input[1]]
        for node in file.graph.node
        if node.op_type == "DequantizeLinear"
    }


STEPS_APART = {"digits": 0.15, "block": 0.01}
"""Which part of the elements may be a step apart: means of four integers often lie between two."""


@pytest.mark.parametrize(
    ("name", "observer", "activations"),
    [
        (name, observer, ACTIVATIONS[(number + turn) % 2])
        for number, name in enumerate(("digits", "block"))
        for turn, observer in enumerate(OBSERVERS)
    ],
)
def test_files_run_in_onnx_runtime_as_the_network_does(
    name: str, observer: Observer, activations: Activations, request: pytest.FixtureRequest
) -> None:
    model: Model = request.getfixturevalue(name)
    data: Array = request.getfixturevalue("images") if name == "digits" else samples(60)
    made = model.quantize(data[:SAMPLES], observer=observer, activations=activations)
    rest = data[SAMPLES:60]

    wanted = runs_of(made, rest, optimized=False)
    levels = ("gawee", "llvm") if observer == "minmax" else ("gawee",)
    for level in levels:
        run = made.runner(level)
        ours = np.stack([output(run({"x": each[None]})) for each in rest])
        steps = steps_apart(made, ours, wanted)
        assert steps.max() <= 1, level
        assert (steps > 0).mean() <= STEPS_APART[name], level


def test_levels_compute_what_the_graph_does(block: Model) -> None:
    made = block.quantize(samples())
    x = samples(SAMPLES + 1)[-1:]
    wanted = output(made.run(x))
    scale = scales_of(onnx.ModelProto.FromString(export_onnx(made.module, made.bound)))["y"]

    for level in ("linalg", "kernels", "loops"):
        steps = np.abs(output(made.run(x, level)) - wanted) / scale
        assert np.round(steps).max() <= 1, level


def test_digits_are_recognized_as_before(digits: Model, images: Array) -> None:
    labels = np.load(FOLDER / "digits_test.npz")["labels"]

    run = digits.quantize(images[:SAMPLES]).runner("gawee")

    right = [run(each[None])["fc"].argmax() == label for each, label in zip(images, labels)]
    assert np.mean(right[SAMPLES:]) >= 0.98


def test_what_is_excluded_stays_in_float(block: Model) -> None:
    made = block.quantize(samples(), exclude=["depthwise", "add", "cat"])

    nodes = onnx.ModelProto.FromString(export_onnx(made.module, made.bound)).graph.node
    makers = {each.output[0]: each.op_type for each in nodes}
    read = {
        each.name: [makers.get(name) for name in each.input]
        for each in nodes
        if each.op_type in ("Conv", "MatMul", "Add", "Concat")
    }
    dequantized = "DequantizeLinear"
    assert read["first"] == [dequantized] * 3
    assert read["depthwise"] == [dequantized, None]  # what the convolution before it has made
    assert read["point"] == [dequantized] * 2
    assert read["add"] == [dequantized, "Conv"]
    assert read["last"] == [dequantized] * 2
    assert made.parameters["depthwise.weight"].dtype == np.float32


def test_a_node_that_is_not_there_is_named_with_the_one_that_was_meant(block: Model) -> None:
    with pytest.raises(GaweeError, match="unknown node 'depthwisee' to exclude") as error:
        block.quantize(samples(), exclude=["depthwisee"])
    assert error.value.diagnostics[0].hint == "did you mean 'depthwise'?"


@pytest.mark.parametrize("given", [{"observer": "average"}, {"activations": "average"}])
def test_choices_are_listed_where_another_is_given(given, block: Model) -> None:
    (name,) = given
    with pytest.raises(GaweeError, match=f"unsupported {name} 'average'; supported: "):
        block.quantize(samples(), **given)


def test_what_is_no_graph_is_refused(block: Model) -> None:
    with pytest.raises(GaweeError, match="expected a graph to quantize, got level 'linalg'"):
        Model(block.lowered("linalg"), block.parameters).quantize(samples())


def test_samples_are_as_many_as_runs_take(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(MATRICES)
    weights = {"w": np.ones((4, 5)), "b": np.ones(4), "v": np.ones((7, 4))}
    model = gawee_dialect.load(tmp_path / "m.mlir", weights)
    message = "expected data of input 'x' to have a multiple of 2 samples, got 3"
    with pytest.raises(GaweeError, match=message):
        model.quantize(np.ones((3, 3, 5), np.float32))


PAIR = """func.func @main(%a: tensor<1x3xf32> {gawee.input = "a"}, %b: tensor<1x3xf32> {gawee.input = "b"},
    %w: tensor<2x3xf32> {gawee.parameter = "w"}) -> (tensor<1x2xf32> {gawee.output = "y"}) {
  %1 = gawee.add %a, %b : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  %y = gawee.matmul %1, %w : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
"""


def test_inputs_have_samples_that_belong_together(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(PAIR)
    model = gawee_dialect.load(tmp_path / "m.mlir", {"w": np.ones((2, 3), np.float32)})
    a, b = np.eye(3, dtype=np.float32), np.array([[1, 2, 3]], np.float32)

    made = model.quantize({"a": a, "b": np.repeat(b, 3, axis=0)})

    scales = scales_of(onnx.ModelProto.FromString(export_onnx(made.module, made.bound)))
    ranges = [4 / 255, 7 / 255]  # of the sum, and of the result
    np.testing.assert_allclose(
        sorted(each.item() for each in scales.values() if each.size == 1), ranges, rtol=1e-6
    )
    message = "expected as many samples of input 'b' as of 'a', got 1 and 3"
    with pytest.raises(GaweeError, match=message):
        model.quantize({"a": a, "b": b})


MATRICES = """func.func @main(%x: tensor<2x3x5xf32> {gawee.input = "x"},
    %w: tensor<4x5xf32> {gawee.parameter = "w"}, %b: tensor<4xf32> {gawee.parameter = "b"},
    %v: tensor<7x4xf32> {gawee.parameter = "v"})
    -> (tensor<2x3x7xf32> {gawee.output = "y"}) {
  %1 = gawee.matmul %x, %w bias %b : (tensor<2x3x5xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %2 = gawee.batch_matmul %1, %v transpose_b : (tensor<2x3x4xf32>, tensor<7x4xf32>) -> tensor<2x3x7xf32>
  func.return %2 : tensor<2x3x7xf32>
}
"""


def test_products_of_more_axes_have_a_scale_for_each_column(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(MATRICES)
    draw = np.random.default_rng(5)
    shapes = {"w": (4, 5), "b": (4,), "v": (7, 4)}
    weights = {name: draw.normal(0, 1, shape).astype(np.float32) for name, shape in shapes.items()}
    weights["w"][1] = 0  # a column of no weights has a bias alone
    weights["w"][2], weights["b"][2] = 1e-12, 3
    model = gawee_dialect.load(tmp_path / "m.mlir", weights)
    data = draw.normal(0, 1, (20, 3, 5)).astype(np.float32)

    made = model.quantize(data)

    scales = scales_of(onnx.ModelProto.FromString(export_onnx(made.module, made.bound)))
    counts = sorted(each.size for each in scales.values())
    assert counts == [1, 1, 1, 4, 4, 7]
    native = made.compile()
    for at in range(0, 20, 2):
        x = data[at : at + 2]
        wanted, got = output(model.run(x)), output(native.run(x))
        assert np.abs(got - wanted).max() <= 0.02 * np.ptp(wanted)
        made_by_ort = session(export_onnx(made.module, made.bound), optimized=False)
        assert steps_apart(made, got, made_by_ort.run(None, {"x": x})[0]).max() <= 1


def test_percentiles_are_those_of_numpy() -> None:
    numbers = np.random.default_rng(0).standard_t(3, 200_000).astype(np.float32)
    seen = histogram(numbers)

    low, high = seen.observed("percentile")

    step = (seen.high - seen.low) / BINS
    tail = (100 - PERCENTILE) / 2
    np.testing.assert_allclose([low, high], np.percentile(numbers, [tail, 100 - tail]), atol=step)


@pytest.mark.parametrize("shift", [0.0, 1.0, -3.0])
def test_the_least_squared_error_is_that_of_the_numbers(shift: float) -> None:
    numbers = (np.random.default_rng(1).standard_t(3, 100_000) + shift).astype(np.float32)
    seen = histogram(numbers)

    found = error_of(seen.observed("mse"), numbers)

    whole = [(seen.low * part, seen.high * part) for part in np.linspace(0.3, 1, 30)]
    assert found <= 1.05 * min(error_of(each, numbers) for each in whole)
    assert found < error_of(seen.observed("minmax"), numbers)


def histogram(numbers: Array) -> Histogram:
    seen = Histogram()
    for part in np.split(numbers, 4):
        seen.widen(part)
    for part in np.split(numbers, 4):
        seen.count(part)
    return seen


def error_of(ends: tuple[float, float], numbers: Array) -> float:
    """Return the mean squared error of numbers that are quantized to a range."""
    scale = Scale.of(ends, ui8)
    whole = np.clip(np.round(numbers / scale.scale) + scale.zero_point, 0, 255)
    return float(np.square((whole - scale.zero_point) * scale.scale - numbers).mean())


class Reader:
    """Samples as ONNX Runtime's quantizer reads them."""

    def __init__(self, data: Array) -> None:
        self._feeds: Iterator[dict[str, Array]] = iter([{"x": each[None]} for each in data])

    def get_next(self) -> dict[str, Array] | None:
        return next(self._feeds, None)


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("name", ["digits", "block"])
def test_scales_and_weights_are_those_of_onnx_runtime(
    name: str, activations: Activations, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    quantization = pytest.importorskip("onnxruntime.quantization")
    model: Model = request.getfixturevalue(name)
    data = (request.getfixturevalue("images") if name == "digits" else samples())[:SAMPLES]
    folded = Quantizer(model, data).quantized(set())
    (tmp_path / "float.onnx").write_bytes(export_onnx(folded.module, folded.bound))
    types = {"unsigned": quantization.QuantType.QUInt8, "signed": quantization.QuantType.QInt8}

    quantization.quantize_static(
        str(tmp_path / "float.onnx"),
        str(tmp_path / "int8.onnx"),
        Reader(data),
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=True,
        activation_type=types[activations],
        weight_type=quantization.QuantType.QInt8,
    )
    made = model.quantize(data, activations=activations)
    ours = parameters(onnx.ModelProto.FromString(export_onnx(made.module, made.bound)))
    theirs = parameters(onnx.load(tmp_path / "int8.onnx"))

    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one[0], other[0], rtol=1e-6)
        np.testing.assert_array_equal(one[1], other[1])


def parameters(file) -> list[tuple[Array, Array]]:
    """Return the scales and zero points of quantized tensors, sorted."""
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in file.graph.initializer}
    found = []
    for node in file.graph.node:
        if node.op_type == "DequantizeLinear":
            scale = np.ravel(constants[node.input[1]])
            zero = np.zeros_like(scale) if len(node.input) < 3 else constants[node.input[2]]
            found.append((scale, np.broadcast_to(np.ravel(zero), scale.shape).astype(np.int32)))
    return sorted(found, key=lambda each: (len(each[0]), *each[0], *each[1]))


def test_files_that_are_read_and_written_again_have_the_same_pairs(
    block: Model, tmp_path: Path
) -> None:
    made = block.quantize(samples())
    path = tmp_path / "int8.onnx"
    path.write_bytes(export_onnx(made.module, made.bound))

    read = gawee_dialect.load(path)
    again = onnx.ModelProto.FromString(export_onnx(read.module, read.bound))

    first, second = (
        Counter(each.op_type for each in file.graph.node) for file in (onnx.load(path), again)
    )
    for op_type in ("QuantizeLinear", "DequantizeLinear"):
        assert second[op_type] == first[op_type] > 5
    assert not {"Round", "Clip", "Cast", "Mul", "Div"} & second.keys()
