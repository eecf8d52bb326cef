"""ONNX models of a few nodes; importing this without the onnx package skips the importing file."""

from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")
helper, numpy_helper, FLOAT = onnx.helper, onnx.numpy_helper, 1


def model(nodes, inputs, outputs, initializers=(), opset=17, functions=()):
    """Return a model; inputs and outputs are (name, shape) of float32."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in outputs],
        [numpy_helper.from_array(array, name) for name, array in initializers],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], functions=list(functions)
    )


def written(tmp_path: Path, made) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(made, path)
    return path
