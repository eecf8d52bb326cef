"""Random models of ONNX are valid, and compared with ONNX Runtime as far as that is exact."""

import runpy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import parser, shape_inference  # noqa: E402

from gawee_dialect.fuzz.draw import Draw  # noqa: E402
from gawee_dialect.fuzz.oracle import Finding  # noqa: E402
from gawee_dialect.fuzz.session import (  # noqa: E402
    files_of_test,
    size_text,
    with_smaller_origin,
)
from gawee_dialect.fuzz.trial import Trial  # noqa: E402
from gawee_dialect.interpreter.arrays import Array  # noqa: E402
from tests.graph_fuzz import onnx_comparison  # noqa: E402
from tests.graph_fuzz.onnx_comparison import differs  # noqa: E402
from tests.graph_fuzz.onnx_models import random_model  # noqa: E402
from tests.graph_fuzz.onnx_origin import OnnxOrigin  # noqa: E402
from tests.graph_fuzz.onnx_runtime import onnx_runtime  # noqa: E402

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


def fitting(node: "NodeProto", shapes: Mapping[str, Sequence[int]]) -> bool:
    """Whether a convolution's window is no larger than the image that it is moved over."""
    given = {each.name: [*each.ints] for each in node.attribute}
    if "pads" not in given:
        return True
    sizes, pads = shapes[node.input[0]][2:], given["pads"]
    axes = zip(sizes, given["kernel_shape"], given["dilations"], strict=True)
    return all(
        (window - 1) * dilation + 1 <= size + pads[axis] + pads[axis + len(sizes)]
        for axis, (size, window, dilation) in enumerate(axes)
    )


def test_windows_of_random_models_fit_into_their_images() -> None:
    checked = 0
    for number in range(60):
        model = random_model(Draw(Random(number)))
        inferred = shape_inference.infer_shapes(model.proto(model.values))
        every = (*inferred.graph.input, *inferred.graph.output)
        shapes = {
            each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim] for each in every
        }
        convolutions = [node for node in inferred.graph.node if node.op_type == "Conv"]
        assert all(fitting(node, shapes) for node in convolutions)
        checked += len(convolutions)
    assert checked > 10


ONE_ELEMENT = """<ir_version: 8, opset_import: ["" : 18]>
one (float[7, 5, 3] x, float[1] s, float[1] b) => (float[1, 1, 1] y) {
  n = ReduceL1 (x)
  y = InstanceNormalization (n, s, b)
}"""


def said_of_one_element(expected: Callable[[Array], Array]) -> tuple[Finding | None, Counter[str]]:
    """Judge what is expected of a normalization of one element, whose mean it is."""
    proto, done = parser.parse_model(ONE_ELEMENT), Counter[str]()
    random = np.random.default_rng(0)
    arrays = {
        "x": random.standard_normal((7, 5, 3)).astype(np.float32),
        "s": np.array([1.75], np.float32),
        "b": np.array([0.2371], np.float32),
    }
    y = expected(arrays["b"]).reshape(1, 1, 1)
    return differs(proto, OnnxOrigin(proto).module(), arrays, {"y": y}, done), done


def test_what_onnx_runtime_rounds_away_is_no_finding() -> None:
    found, done = said_of_one_element(lambda bias: bias)

    assert found is None
    assert done["differ by rounding alone in ONNX Runtime"] == 1


def test_what_its_roundings_do_not_explain_is_a_finding() -> None:
    found, _ = said_of_one_element(lambda bias: np.add(bias, np.float32(0.5)))

    assert found is not None
    assert found.cause == "InstanceNormalization ReduceL1"


LOG_OF_ALMOST_NOTHING = """<ir_version: 8, opset_import: ["" : 18]>
log (float[3] x, float[3] w) => (float[3] y) {
  product = Mul (x, w)
  rest = Add (product, x)
  y = Log (rest)
}"""


@pytest.mark.parametrize(("off", "is_rounding"), [(0.003, True), (3.0, False)])
def test_roundings_that_the_model_makes_large_are_no_finding(off: float, is_rounding: bool) -> None:
    proto, done = parser.parse_model(LOG_OF_ALMOST_NOTHING), Counter[str]()
    arrays = {  # x - x * (1 - 2^-14): a last digit of the product is 2^-10 of what is left
        "x": np.array([1.1, 2.3, 3.7], np.float32),
        "w": np.full(3, 2.0**-14 - 1, np.float32),
    }
    y = np.log(arrays["x"] * arrays["w"] + arrays["x"]) + np.float32(off)

    found = differs(proto, OnnxOrigin(proto).module(), arrays, {"y": y}, done)

    assert (found is None) == is_rounding
    assert done["differ by rounding alone"] == is_rounding


POOL_OF_NAN = """<ir_version: 8, opset_import: ["" : 18]>
pool (float[1, 1, 3] x) => (float[1, 1, 3] y) {
  root = Sqrt (x)
  y = MaxPool <kernel_shape = [1]> (root)
}"""


@pytest.mark.parametrize("numbers", [(-1, 4, 9), (1, 4, 9)])
def test_what_onnx_runtime_makes_of_nan_in_a_pool_is_no_finding(numbers: Sequence[float]) -> None:
    x, done = np.array(numbers, np.float32).reshape(1, 1, 3), Counter[str]()
    proto = parser.parse_model(POOL_OF_NAN)
    wrong = np.array([[[np.nan, 2, 7]]], np.float32)

    found = differs(proto, OnnxOrigin(proto).module(), {"x": x}, {"y": wrong}, done)

    assert (found is None) == (min(numbers) < 0)
    assert done["NaN in a pool of ONNX Runtime"] == (found is None)


TANH_AMONG_OTHERS = """<ir_version: 8, opset_import: ["" : 18]>
some (float[3, 5] x, float[5, 4] w) => (float[3, 4] y, float[3, 5] z) {
  relu = Relu (x)
  tanh = Tanh (relu)
  exp = Exp (tanh)
  y = MatMul (exp, w)
  z = Abs (x)
}"""


def wrong_tanh(proto: "ModelProto", arrays: Mapping[str, Array]) -> Mapping[str, Array] | None:
    """Say what ONNX Runtime says, and something else of models with a Tanh."""
    said = onnx_runtime(proto, arrays)
    if said is None or all(node.op_type != "Tanh" for node in proto.graph.node):
        return said
    return {name: np.add(array, 1) for name, array in said.items()}


def test_a_model_that_differs_is_made_small_and_written_as_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = OnnxOrigin(parser.parse_model(TANH_AMONG_OTHERS))
    trial = Trial(origin.module(), (), data_seed=3, origin=origin)
    monkeypatch.setattr(onnx_comparison, "onnx_runtime", wrong_tanh)
    finding = trial.differs_from_origin()
    assert finding is not None

    small = with_smaller_origin(trial, finding, deadline=float("inf"))

    assert size_text(small, finding) == "1 node"
    for name, data in files_of_test(small, finding).items():
        (tmp_path / name).write_bytes(data)
    (model,), (test,) = tmp_path.glob("*.onnx"), tmp_path.glob("*_test.py")
    graph = onnx.load(model).graph
    assert [node.op_type for node in graph.node] == ["Tanh"]
    assert [dim.dim_value for dim in graph.input[0].type.tensor_type.shape.dim] == [1, 1]
    said = runpy.run_path(str(test))["test_the_model_computes_what_onnx_runtime_does"]
    with pytest.raises(AssertionError):
        said()
    monkeypatch.undo()
    said()
