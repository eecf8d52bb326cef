"""XOC documents: every variation that files show is read, everything else is refused, with a place."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.metadata import KeyConflict, flatten, nest
from gawee_dialect.frontends.onnx_attributes import ATTRIBUTES
from gawee_dialect.frontends.xoc.document import (
    Role,
    edges,
    node_order,
    split_attributes,
    without_places,
    xoc_text,
)
from tests.frontends.xoc.documents import EXAMPLE, Json, chain, node, read, tensor


def test_example_of_the_description_is_read() -> None:
    document = read(EXAMPLE)

    assert [each.role for each in document.tensors] == [Role.INPUT, Role.WEIGHT, Role.ACTIVATION]
    assert document.nodes[0].attributes["pads"] == [1, 1]
    assert list(document.outputs) == [2]


def test_newer_files_say_operators_and_wrap_the_graph() -> None:
    newer = deepcopy(EXAMPLE)
    newer["operators"] = newer.pop("nodes")

    assert without_places(read({"graph": newer})) == without_places(read(EXAMPLE))


def test_nodes_and_operators_may_both_be_there_where_they_are_equal() -> None:
    both = {**EXAMPLE, "operators": EXAMPLE["nodes"]}

    assert without_places(read(both)) == without_places(read(EXAMPLE))


def test_nodes_may_be_in_any_order() -> None:
    graph = chain()
    graph["nodes"].reverse()

    assert node_order(read(graph)) == [1, 0]


def test_edges_follow_from_the_nodes() -> None:
    graph = chain()
    graph["tensors"].append(tensor("w", "weight", [3]))
    graph["nodes"][1] = node("add", "Sum", [1, 3, 1], [2])

    assert list(edges(read(graph))) == [
        ("x", "relu"),
        ("relu", "add"),
        ("w", "add"),
        ("relu", "add"),
        ("add", "y"),
    ]


def test_edges_are_written_when_asked_for() -> None:
    document = read(chain())

    written = json.loads(xoc_text(document, with_edges=True))

    assert written["edges"] == [
        {"source": a, "target": b}
        for a, b in (("x", "relu"), ("relu", "add"), ("relu", "add"), ("add", "y"))
    ]
    assert without_places(read(written)) == without_places(read(xoc_text(document)))


def test_written_graphs_are_read_again_as_they_were() -> None:
    graph = chain(metadata={"producer": "å", "note": {"a": [1, {"b": 2}]}})
    graph["tensors"][1]["metadata"] = {"start": 0, "end": 2, "offset": 64, "size": 24}
    graph["nodes"][0]["metadata"] = {"level": 0, "performance": {"time": {"cpu": 12.5}}}
    document = read(graph)

    text = xoc_text(document)

    assert without_places(read(text)) == without_places(document)
    assert xoc_text(read(text)) == text


def test_metadata_by_dotted_keys_is_nested() -> None:
    graph = chain(metadata={"perf.time.cpu": 12.5, "perf": {"runs": 3}})
    graph["nodes"][0]["metadata"] = {"perf.time.cpu": 12.5}

    written = json.loads(xoc_text(read(graph)))

    assert written["metadata"] == {"perf": {"time": {"cpu": 12.5}, "runs": 3}}
    assert written["nodes"][0]["metadata"] == {"perf": {"time": {"cpu": 12.5}}}


def test_writing_adds_no_defaults() -> None:
    written = json.loads(xoc_text(read(chain())))

    assert written["metadata"] == {}
    assert written["nodes"][0]["attributes"] == {}
    assert set(written["nodes"][0]) == {"id", "name", "inputs", "outputs", "attributes"}
    assert set(written["tensors"][0]) == {"id", "name", "shape", "dtype"}


@pytest.mark.parametrize(
    ("flat", "nested"),
    [
        ({"perf.time.cpu": 12.5}, {"perf": {"time": {"cpu": 12.5}}}),
        ({"a.b": 1, "a.c": [1, {"d.e": 2}]}, {"a": {"b": 1, "c": [1, {"d.e": 2}]}}),
        ({"a": {}, "b.c": None}, {"a": {}, "b": {"c": None}}),
        ({}, {}),
    ],
)
def test_dotted_keys_nest_and_flatten(flat: Json, nested: Json) -> None:
    assert nest(flat) == nested
    assert flatten(nested) == flat


@pytest.mark.parametrize(
    ("flat", "message"),
    [
        ({"perf": 1, "perf.time": 2}, "expected 'perf' to be a value or a prefix"),
        ({"perf.time": 2, "perf": 1}, "expected 'perf' to be a value or a prefix"),
        ({"a.b": {}, "a.b.c": 2}, "expected 'a.b' to be a value or a prefix"),
        ({"a..b": 1}, "expected words between the dots of a key, got 'a..b'"),
    ],
)
def test_keys_that_cannot_nest_are_refused(flat: Json, message: str) -> None:
    with pytest.raises(KeyConflict, match=message):
        nest(flat)


def test_attributes_of_the_schema_are_told_from_metadata() -> None:
    mixed = {"strides": [1, 1], "level": 3, "perf.time.cpu": 1.5, "group": 1}

    attributes, metadata = split_attributes("Conv", mixed)

    assert attributes == {"strides": [1, 1], "group": 1}
    assert metadata == {"level": 3, "perf": {"time": {"cpu": 1.5}}}
    assert split_attributes("MyOwn", {"level": 3}) == ({"level": 3}, {})


def changed(path: str, value: object) -> Json:
    """Return the chain with what stands at a path, `nodes.0.inputs`, replaced, removed by ...."""
    graph = chain()
    *parents, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    where: Any = graph
    for part in parents:
        where = where[part]
    if value is ...:
        del where[last]
    else:
        where[last] = value
    return graph


REFUSED = [
    ([1], "expected a graph to be an object, got [1]"),
    (changed("id", ...), "graph: expected 'id' to be text, got none"),
    (changed("name", 3), "graph: expected 'name' to be text, got 3"),
    (changed("tensors", ...), "expected 'tensors' of graph to be a list, got none"),
    (changed("nodes", ...), "expected 'nodes' of graph to be a list, got none"),
    (changed("inputs", ...), "graph: expected 'inputs' to be a list of indices, got none"),
    (changed("outputs", ...), "graph: expected 'outputs' to be a list of indices, got none"),
    (changed("tensors.0.id", ...), "expected 'id' to be text, got none"),
    (changed("nodes.0.id", ...), "expected 'id' to be text, got none"),
    (changed("nodes.0.name", ...), "expected 'name' to be text, got none"),
    (changed("nodes.0.inputs", [-1]), "expected 'inputs' to be indices below 3, got -1"),
    (changed("nodes.0", 5), "expected nodes[0] to be an object, got 5"),
    (changed("nodes.0.attributes", ...), "expected 'attributes' to be an object, got none"),
    (changed("nodes.0.idd", "x"), "node 'relu': unknown key 'idd'"),
    (changed("edges", 1), "expected 'edges' to be a list, got 1"),
    (changed("tensors.1.id", "x"), "expected ids of tensors to differ, got 'x' twice"),
    (changed("nodes.1.id", "relu"), "expected ids of nodes to differ, got 'relu' twice"),
    (
        changed("tensors.0.name", "param"),
        "expected 'name' to be one of input, output, weight, activation, got 'param'",
    ),
    (changed("tensors.0.dtype", "float"), "expected 'dtype' to be one of float32, float16"),
    (changed("tensors.0.shape", [2, -1]), "expected a shape of sizes from 0 on, got [2, -1]"),
    (changed("tensors.0.shape", [2, "n"]), "expected a shape of sizes from 0 on"),
    (changed("tensors.0.shape", [2**40, 2**40]), "expected a shape of sizes from 0 on"),
    (
        changed("nodes.0", node("relu", "Softmax", [0], [1], axis=[1, 10**30])),
        "node 'relu': expected attributes of 64 bits, got 1000000000",
    ),
    (changed("nodes.0.inputs", [7]), "expected 'inputs' to be indices below 3, got 7"),
    (changed("nodes.0.inputs", [0.0]), "expected 'inputs' to be indices below 3, got 0.0"),
    (changed("nodes.0.inputs", [True]), "expected 'inputs' to be indices below 3, got true"),
    (changed("nodes.1.outputs", [1]), "expected one node to make 'r', got 'relu' and 'add'"),
    (changed("nodes.0.outputs", [0]), "expected no node to make input 'x', got one"),
    (changed("tensors.1.name", "weight"), "expected no node to make weight 'r', got one"),
    (changed("nodes.0", node("n", "Relu", [0], [])), "expected a node that makes activation 'r'"),
    (changed("inputs", [0, 1]), "expected no node to make graph input 'r', got one"),
    (changed("inputs", [0, 0]), "expected ids of inputs to differ, got 'x' twice"),
    (changed("inputs", []), "expected input 'x' in 'inputs', got none"),
    (
        changed("nodes.0.inputs", [2]),
        "expected nodes without a cycle, got 'relu' -> 'add' -> 'relu'",
    ),
    (
        changed("nodes.0.attributes", {"alpha": 1}),
        "node 'relu': unknown attribute 'alpha' of 'Relu'",
    ),
    (changed("nodes.0.metadata", 3), "expected 'metadata' to be an object, got 3"),
    (
        changed("nodes.0.metadata", {"a": 1, "a.b": 2}),
        "metadata of node 'relu': expected 'a' to be a value or a prefix",
    ),
    (
        chain(operators=[]),
        "expected 'nodes' or 'operators', got both, which differ",
    ),
    ({"graph": chain(), "more": 1}, "unknown key 'more' beside 'graph'"),
]


@pytest.mark.parametrize(("graph", "message"), REFUSED)
def test_what_is_wrong_is_said_with_its_place(graph: object, message: str) -> None:
    with pytest.raises(GaweeError) as caught:
        read(graph)

    assert message in str(caught.value)
    assert str(caught.value).startswith("model.json:")


def test_all_problems_are_reported_at_once() -> None:
    graph = changed("nodes.0.inputs", [7])
    graph["tensors"][0]["dtype"] = "f32"
    graph["outputs"] = [-1]

    with pytest.raises(GaweeError) as caught:
        read(graph)

    assert len(caught.value.diagnostics) == 3


def test_an_unknown_operator_is_read_and_kept() -> None:
    graph = changed("nodes.0", node("relu", "MyOwn", [0], [1], anything={"at": "all"}))

    assert without_places(read(xoc_text(read(graph)))) == without_places(read(graph))


def test_attributes_are_those_of_onnx() -> None:
    pytest.importorskip("onnx")
    script = Path(__file__).parents[3] / "docs" / "generate_onnx_attributes.py"

    assert subprocess.run([sys.executable, script, "--check"]).returncode == 0
    assert ATTRIBUTES["LeakyRelu"] == ["alpha", "consumed_inputs"]
