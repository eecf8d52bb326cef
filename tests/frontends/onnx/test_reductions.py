"""Normalizations and reductions against ONNX Runtime, where a plain formula overflows."""

import numpy as np
import pytest

from gawee_dialect import onnx_backend
from tests.frontends.onnx.onnx_models import helper, numpy_helper

onnxruntime = pytest.importorskip("onnxruntime")
TensorProto = pytest.importorskip("onnx").TensorProto

HALF = [
    helper.make_node("LayerNormalization", ["x", "whole"], ["a", "mean", "inverse"], axis=1),
    helper.make_node("RMSNormalization", ["x", "row"], ["b"], axis=1),
    helper.make_node("MeanVarianceNormalization", ["x"], ["c"], axes=[1, 2]),
    helper.make_node("LpNormalization", ["x"], ["d"], axis=1),
    helper.make_node("ReduceL2", ["x"], ["e"], keepdims=0),
]


def compare(nodes, x, outputs, initializers) -> None:
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, x.shape)],
        [helper.make_tensor_value_info(name, type, None) for name, type in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in initializers.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    wanted = session.run(None, {"x": x})

    results = map(np.asarray, onnx_backend.prepare(made).run({"x": x}))
    for got, expected in zip(results, wanted, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=2e-3, atol=1e-3)


def test_squares_beyond_f16_do_not_overflow() -> None:
    x = (np.random.default_rng(0).normal(size=(2, 3, 4)) * 600).astype(np.float16)
    outputs = dict.fromkeys("abcde", TensorProto.FLOAT16)
    outputs |= {"mean": TensorProto.FLOAT, "inverse": TensorProto.FLOAT}

    ones = {"whole": np.ones((3, 4), np.float16), "row": np.ones(4, np.float16)}

    compare(HALF, x, outputs, ones)


def test_the_logarithm_of_sums_of_exponentials_of_infinities() -> None:
    x = np.array([[-np.inf, -np.inf], [np.inf, 1], [-np.inf, 2], [1, 2]], np.float32)
    node = helper.make_node("ReduceLogSumExp", ["x", "axes"], ["y"], keepdims=0)

    compare([node], x, {"y": TensorProto.FLOAT}, {"axes": np.array([1])})
