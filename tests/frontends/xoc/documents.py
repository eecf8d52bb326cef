"""XOC graphs for tests."""

import json
from copy import deepcopy
from typing import Any

from gawee_dialect.frontends.xoc.document import XocDocument, read_xoc
from gawee_dialect.source import Source

Json = dict[str, Any]


def tensor(id: str, role: str, shape: list[int], dtype: str = "float32", **more: object) -> Json:
    return {"id": id, "name": role, "shape": shape, "dtype": dtype, **more}


def node(id: str, name: str, inputs: list[int], outputs: list[int], **attributes: object) -> Json:
    return {
        "id": id,
        "name": name,
        "inputs": inputs,
        "outputs": outputs,
        "attributes": attributes,
    }


EXAMPLE: Json = {
    "id": "simple_model",
    "name": "simple_model",
    "tensors": [
        tensor("tensor_0", "input", [1, 3, 224, 224]),
        tensor("tensor_1", "weight", [64, 3, 3, 3]),
        tensor("tensor_2", "activation", [1, 64, 224, 224]),
    ],
    "nodes": [
        node("node_0", "Conv", [0, 1], [2], kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1])
    ],
    "inputs": [0],
    "outputs": [2],
    "metadata": {},
}
"""What the format's description shows."""


def chain(**changes: object) -> Json:
    """Return relu(x) + relu(x), as a copy that may be changed."""
    graph: Json = {
        "id": "chain",
        "name": "chain",
        "tensors": [
            tensor("x", "input", [2, 3]),
            tensor("r", "activation", [2, 3]),
            tensor("y", "output", [2, 3]),
        ],
        "nodes": [node("relu", "Relu", [0], [1]), node("add", "Add", [1, 1], [2])],
        "inputs": [0],
        "outputs": [2],
    }
    return deepcopy({**graph, **changes})


def read(graph: object, name: str = "model.json") -> XocDocument:
    text = graph if isinstance(graph, str) else json.dumps(graph, indent=1)
    return read_xoc(Source.of_text(text, name))
