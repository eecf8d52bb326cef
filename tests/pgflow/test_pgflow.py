"""Graphs of PG-Flow and their vectors: against sums written out here, and what is refused."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.parameters.uwef import UwefFile
from gawee_dialect.pgflow import Flow, Gate, Projection, gates, read_pgflow_graph, surrogate_vector

# Two inputs that join; 3 and 6 are outputs; 2 and 4 have no weight.
NODES = {
    0: (1, "Conv_3x3"),
    1: (15, "Linear"),
    2: (16, "ReLU"),
    3: (13, "BatchNorm"),
    4: (20, "Add"),
    5: (0, "Conv_1x1"),
    6: (15, "Linear"),
}
EDGES = [[0, 2], [2, 3], [2, 4], [1, 4], [4, 5], [5, 6]]
SHAPES = {0: (3, 2, 3, 3), 1: (4, 5), 3: (6,), 5: (2, 3, 1, 1), 6: (7, 2)}


def content(**changes: object) -> dict[str, object]:
    nodes = [
        {"id": key, "op_idx": index, "op_name": name, "annotation": ""}
        for key, (index, name) in NODES.items()
    ]
    return {
        "architecture": "toy",
        "total_nodes": 7,
        "total_edges": 6,
        "nodes": nodes,
        "edges": EDGES,
        "final_output_ids": [3, 6],
        **changes,
    }


def saved(folder: Path, value: object) -> Path:
    path = folder / "toy_graph.json"
    path.write_text(json.dumps(value))
    return path


def toy_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    weights = {f"{key}.weight": rng.standard_normal(shape) for key, shape in SHAPES.items()}
    weights["1.weight"][weights["1.weight"] < 0] = 1e-4
    return weights


def expected_gate(node: int, weights: dict[str, np.ndarray], gate: str) -> float:
    def energy(key: int) -> float:
        weight = weights[f"{key}.weight"]
        fan_in = {4: math.prod(weight.shape[1:]), 2: weight.shape[-1], 1: 1}[weight.ndim]
        size = fan_in if gate == "scale_norm" else weight.size
        norm = math.sqrt(math.fsum(float(x) ** 2 for x in weight.flat))
        zeros = sum(abs(float(x)) < 1e-3 for x in weight.flat) / weight.size
        value = math.log(norm / (math.sqrt(size) + 1e-6) + 1e-6)
        return value - 0.5 * zeros if gate == "norm_sparsity" else value

    if node not in SHAPES:
        return 1.0
    energies = [energy(key) for key in SHAPES]
    mean = math.fsum(energies) / len(energies)
    spread = math.sqrt(math.fsum((e - mean) ** 2 for e in energies) / len(energies)) + 1e-6
    return 1 + 0.2 * math.tanh((energy(node) - mean) / spread)


@pytest.mark.parametrize("gate", list(Gate))
@pytest.mark.parametrize("flow", list(Flow))
def test_vector_of_seven_nodes(tmp_path: Path, gate: Gate, flow: Flow) -> None:
    graph, weights = read_pgflow_graph(saved(tmp_path, content())), toy_weights()
    projection = Projection.random(k=5, seed=3)

    found = surrogate_vector(graph, weights, projection, gate, flow)

    g = {node: expected_gate(node, weights, gate) for node in NODES}
    assert gates(graph, weights, gate) == pytest.approx(g, rel=1e-12)  # f64, a dozen terms

    def state(node: int) -> np.ndarray:
        before = [source for source, target in EDGES if target == node]
        if not before:
            return projection.r
        m = sum((g[b] if flow == "outgoing" else g[node]) * state(b) for b in before)
        row = np.concatenate([projection.p[NODES[node][0]], m])
        return np.clip(0.5 * m + 0.5 * np.maximum(projection.w.T @ row, 0), -10, 10)

    total = state(3) + state(6)
    np.testing.assert_allclose(found, total / np.linalg.norm(total), rtol=1e-12)


def test_equal_weights_leave_all_gates_open(tmp_path: Path) -> None:
    graph = read_pgflow_graph(saved(tmp_path, content()))
    ones = {f"{key}.weight": np.ones((2, 2)) for key in SHAPES}

    assert set(gates(graph, ones).values()) == {1.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edges": [[0, 2], [2, 0]], "total_edges": 2}, "expected no cycle, got 0 -> 2 -> 0"),
        ({"edges": [[0, 9]], "total_edges": 1}, r"got unknown ids \[9\]"),
        ({"final_output_ids": [11]}, r"got unknown ids \[11\]"),
        ({"total_nodes": 8}, "expected 8 nodes as total_nodes says, got 7"),
        ({"edges": [[0]]}, "expected an edge to be two ids"),
        ({"final_output_ids": ["a"]}, "expected 'final_output_ids' to be a list of ids"),
        ({"nodes": None}, "expected 'nodes' to be a list"),
        ({"nodes": [3]}, "expected a node to be an object"),
        ({"nodes": [{"id": 0}]}, "expected a node to have id, op_idx and op_name"),
        (
            {"nodes": [{"id": 0, "op_idx": 32, "op_name": "out"}]},
            "expected op_idx from 0 to 31, got 32",
        ),
        (
            {"nodes": [{"id": 0, "op_idx": 16, "op_name": "SiLU"}]},
            "expected op_name 'ReLU' of op_idx 16, got 'SiLU'",
        ),
        (
            {"nodes": [{"id": 0, "op_idx": 16, "op_name": "ReLU"}] * 2},
            "expected ids of nodes to differ, got 0 twice",
        ),
    ],
)
def test_wrong_graphs_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(GaweeError, match=message) as caught:
        read_pgflow_graph(saved(tmp_path, content(**changes)))

    assert f"{tmp_path}/toy_graph.json:1:" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"edges": [[0, 2], [2, 0]], "total_edges": 2}, "[0, 2]"),
        ({"edges": [[0, 1], [0, 9]], "total_edges": 2}, "[0, 9]"),
        ({"edges": [[0, 1], [0]]}, "[0]"),
        ({"final_output_ids": [11]}, "[11]"),
        ({"final_output_ids": ["a"]}, '["a"]'),
        ({"nodes": [3]}, "[3]"),
    ],
)
def test_errors_point_at_the_edge(tmp_path: Path, changes: dict[str, object], where: str) -> None:
    path = saved(tmp_path, content(**changes))

    with pytest.raises(GaweeError) as caught:
        read_pgflow_graph(path)

    column = path.read_text().index(where) + 1
    assert [each.place for each in caught.value.diagnostics] == [f"{path}:1:{column}"]


def test_a_graph_is_an_object(tmp_path: Path) -> None:
    with pytest.raises(GaweeError, match="as a graph: expected an object with nodes"):
        read_pgflow_graph(saved(tmp_path, [1]))


def test_weights_are_those_of_the_graph(tmp_path: Path) -> None:
    tensor = {"dtype": "float32", "shape": [1, 1], "data": [1]}
    entry = {"op_type": "Linear", "has_weight": True, "tensors": {"weight": tensor}}
    (tmp_path / "w.json").write_text(
        json.dumps(
            {
                "meta": dict.fromkeys(
                    ("architecture", "format_version", "source_framework", "created_at"), "1.0"
                ),
                "node_weights": {"1": entry, "2": entry, "17": entry},
            }
        )
    )

    with pytest.raises(GaweeError) as caught:
        read_pgflow_graph(saved(tmp_path, content()), UwefFile(tmp_path / "w.json"))

    assert "expected weights of node '2' for 'ReLU', got 'Linear'" in str(caught.value)
    assert "expected weights of nodes of the graph, got '17'" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gate": "norm"}, "unknown gate 'norm'; supported: rel_norm, scale_norm, norm_sparsity"),
        ({"flow": "both"}, "unknown flow 'both'; supported: outgoing, incoming"),
    ],
)
def test_unknown_gates_and_flows_are_refused(
    tmp_path: Path, arguments: dict[str, str], message: str
) -> None:
    graph = read_pgflow_graph(saved(tmp_path, content()))

    with pytest.raises(GaweeError, match=message):
        surrogate_vector(graph, toy_weights(), Projection.random(), **arguments)
