"""Regions of images against ONNX Runtime."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import load
from gawee_dialect.onnx_backend import run_model
from gawee_dialect.onnx_backend.values import as_array
from tests.closeness import assert_allclose

pytestmark = pytest.mark.usefixtures("unoptimized")

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
helper = onnx.helper

ROIS = np.array([[1, 2, 6.5, 8], [0, 0, 0.25, 0.5], [-3, -2, 12, 20], [4, 5, 4, 5]], np.float32)


def model(opset, **attributes):
    node = helper.make_node("RoiAlign", ["x", "rois", "batch"], ["y"], **attributes)
    shapes = {"x": (1, (2, 3, 9, 7)), "rois": (1, (4, 4)), "batch": (7, (4,))}
    inputs = [helper.make_tensor_value_info(name, *each) for name, each in shapes.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize("opset", [13, 16])
def test_regions_are_sampled_and_averaged(tmp_path, opset):
    made = model(opset, output_height=2, output_width=5, sampling_ratio=3, spatial_scale=0.75)
    path = tmp_path / "net.onnx"
    onnx.save(made, path)
    x = np.random.default_rng(0).standard_normal((2, 3, 9, 7)).astype(np.float32)
    inputs = {"x": x, "rois": ROIS, "batch": np.array([1, 0, 1, 1])}

    (expected,) = runtime.InferenceSession(str(path)).run(None, inputs)

    for level in ("gawee", "llvm"):
        (got,) = load(path).runner(level, cache=False)(inputs).values()
        # Positions are computed in another order: roundings of numbers below 20.
        assert_allclose(as_array(got), expected, rtol=1e-4, atol=1e-5)


def test_samples_whose_number_depends_on_the_region_are_refused(tmp_path):
    onnx.save(model(16, output_height=2, output_width=2), tmp_path / "net.onnx")

    with pytest.raises(GaweeError, match="unsupported mode 'avg' with sampling_ratio 0; supported"):
        load(tmp_path / "net.onnx")


@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [
        ("MaxRoiPool", {"pooled_shape": [3, 2]}),
        ("MaxRoiPool", {"pooled_shape": [2, 4], "spatial_scale": 0.5}),
        ("GlobalLpPool", {"p": 1}),
        ("GlobalLpPool", {"p": 3}),
    ],
)
@pytest.mark.parametrize("level", ["gawee", "llvm"])
def test_pools_of_regions_and_of_whole_images(op_type, attributes, level) -> None:
    runtime = pytest.importorskip("onnxruntime")
    x = np.random.default_rng(4).standard_normal((2, 3, 7, 9)).astype(np.float32)
    corners = [
        [0, 0, 8, 6],
        [1.5, 2.5, 3.2, 4.4],
        [-2, 0, 20, 3],
        [7.6, 5.5, 8.9, 6.9],
        [12, 9, 13, 10],
    ]
    rois = np.array([[at % 2, *each] for at, each in enumerate(corners)], np.float32)
    inputs = {"x": x} if op_type == "GlobalLpPool" else {"x": x, "rois": rois}
    node = helper.make_node(op_type, list(inputs), ["y"], **attributes)
    values = [helper.make_tensor_value_info(name, 1, each.shape) for name, each in inputs.items()]
    graph = helper.make_graph([node], "g", values, [onnx.ValueInfoProto(name="y")])
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    (expected,) = runtime.InferenceSession(model.SerializeToString()).run(None, inputs)

    (got,) = run_model(model, inputs, level=level)

    # Powers of 63 elements and a root of their sum: some roundings of float32.
    assert_allclose(as_array(got), expected, rtol=1e-5, atol=1e-6)
