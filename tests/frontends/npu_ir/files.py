"""NPU_IR files written by hand, in the layouts that files have had."""

import copy
import json
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


def tensor(
    name: str, *shape: int, dtype: str = "float32", producer: str | None = None, index: int = 0
) -> Json:
    entry: Json = {"name": name, "shape": list(shape), "dtype": dtype}
    return (
        entry
        if producer is None
        else {**entry, "producer_node": producer, "producer_output_idx": index}
    )


def tiny() -> Json:
    """Return the graph of a linear layer whose result is put beside itself (layout C)."""
    x, w, b = tensor("x", 2, 4, producer="x"), tensor("p_fc_weight", 3, 4), tensor("p_fc_bias", 3)
    linear = tensor("linear", 2, 3, producer="linear")
    return {
        "model_name": "Tiny",
        "pytorch_version": "2.6.0",
        "graph_inputs": [tensor("x", 2, 4)],
        "graph_outputs": [tensor("cat", 2, 6)],
        "weights": [tensor("fc.weight", 3, 4), tensor("fc.bias", 3)],
        "weight_name_mapping": {"p_fc_weight": "fc.weight", "p_fc_bias": "fc.bias"},
        "nodes": [
            {
                "name": "linear",
                "op_type": "aten.linear.default",
                "inputs": [x, w, b],
                "outputs": [tensor("linear", 2, 3)],
                "attrs": {},
            },
            {
                "name": "cat",
                "op_type": "aten.cat.default",
                "inputs": [linear, linear],
                "outputs": [tensor("cat", 2, 6)],
                "attrs": {"_tensor_list_sizes": [2], "dim": 1},
            },
        ],
        "constants": {},
    }


def documentation_layout() -> Json:
    """Return `tiny` as the documentation writes it: no producers, no mapping, no dtypes."""
    graph = json.loads(
        json.dumps(tiny()).replace("fc.weight", "p_fc_weight").replace("fc.bias", "p_fc_bias")
    )
    del graph["weight_name_mapping"], graph["constants"]
    for node in graph["nodes"]:
        node["inputs"] = [{"name": each["name"], "shape": each["shape"]} for each in node["inputs"]]
        node["outputs"] = [
            {"name": each["name"], "shape": each["shape"]} for each in node["outputs"]
        ]
    for key in ("graph_inputs", "graph_outputs", "weights"):
        graph[key] = [{"name": each["name"], "shape": each["shape"]} for each in graph[key]]
    del graph["nodes"][0]["attrs"]
    return graph


def layout_a() -> Json:
    """Return a graph with the names of arguments that the oldest files have."""
    return {
        "graph_inputs": [tensor("x", 2, 6)],
        "graph_outputs": [tensor("transpose", 3, 2, 2)],
        "weights": [],
        "nodes": [
            {
                "name": "view",
                "op_type": "aten.view.default",
                "inputs": [tensor("x", 2, 6)],
                "outputs": [tensor("view", 2, 2, 3)],
                "attrs": {"shape": [2, 2, -1]},
            },
            {
                "name": "transpose",
                "op_type": "aten.transpose.int",
                "inputs": [tensor("view", 2, 2, 3)],
                "outputs": [tensor("transpose", 3, 2, 2)],
                "attrs": {"dims": [0, 2]},
            },
        ],
    }


def two_results() -> Json:
    """Return a graph with an op of two results, of which a getitem takes the second."""
    made = [tensor("max_1_0", 2), tensor("max_1_1", 2, dtype="int64")]
    used = [
        tensor("max_1_0", 2, producer="max_1"),
        tensor("max_1_1", 2, dtype="int64", producer="max_1", index=1),
    ]
    return {
        "graph_inputs": [tensor("x", 2, 4)],
        "graph_outputs": [tensor("getitem_1", 2, dtype="int64")],
        "weights": [],
        "nodes": [
            {
                "name": "max_1",
                "op_type": "aten.max.dim",
                "inputs": [tensor("x", 2, 4, producer="x")],
                "outputs": made,
                "attrs": {"dim": 1},
            },
            {
                "name": "getitem_1",
                "op_type": "<built-in function getitem>",
                "inputs": used,
                "outputs": [tensor("getitem_1", 2, dtype="int64")],
                "attrs": {"index": 1},
            },
        ],
    }


def constants() -> Json:
    """Return a graph with a constant that two nodes use, None among indices, an open slice."""
    index = tensor("c_index", 2, dtype="int64")
    return {
        "graph_inputs": [tensor("x", 3, 5)],
        "graph_outputs": [tensor("index_1", 3, 2)],
        "weights": [tensor("index", 2, dtype="int64")],
        "weight_name_mapping": {"c_index": "index"},
        "nodes": [
            {
                "name": "index",
                "op_type": "aten.index.Tensor",
                "inputs": [tensor("x", 3, 5, producer="x"), index],
                "outputs": [tensor("index", 3, 2)],
                "attrs": {"_tensor_list_sizes": [1], "_tensor_list_none_masks": [[True, False]]},
            },
            {
                "name": "slice_1",
                "op_type": "aten.slice.Tensor",
                "inputs": [tensor("index", 3, 2, producer="index")],
                "outputs": [tensor("slice_1", 3, 2)],
                "attrs": {"dim": 0, "start": 0, "end": 9223372036854775807},
            },
            {
                "name": "_to_copy",
                "op_type": "aten._to_copy.default",
                "inputs": [tensor("slice_1", 3, 2, producer="slice_1")],
                "outputs": [tensor("_to_copy", 3, 2, dtype="float64")],
                "attrs": {"dtype": "torch.float64", "device": "meta"},
            },
            {
                "name": "index_1",
                "op_type": "aten.index.Tensor",
                "inputs": [tensor("slice_1", 3, 2, producer="slice_1"), index],
                "outputs": [tensor("index_1", 3, 2)],
                "attrs": {"_tensor_list_sizes": [1], "_tensor_list_none_masks": [[True, False]]},
            },
        ],
        "constants": {"index": {"data": [1, 0], "dtype": "int64"}},
    }


LAYOUTS: dict[str, Callable[[], Json]] = {
    "C": tiny,
    "documentation": documentation_layout,
    "A": layout_a,
    "two results": two_results,
    "constants": constants,
}


def changed(graph: Json, change: Callable[[Json], object]) -> str:
    """Return the text of a graph after a change."""
    own = copy.deepcopy(graph)
    change(own)
    return json.dumps(own, indent=1)
