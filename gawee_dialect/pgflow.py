"""PG-Flow: graphs of detectors as ids and operations, whose weights are UWEF, and their vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.located_json import JsonList, JsonObject, decode_json
from gawee_dialect.parameters.store import Array
from gawee_dialect.parameters.uwef import UwefFile
from gawee_dialect.source import Source

# The operations that PG-Flow's graphs name, in the order of their indices.

OPERATIONS = (
    "Conv_1x1",
    "Conv_3x3",
    "Conv_3x3_DS",
    "Conv_7x7_DS",
    "Conv_3x3_Dil",
    "DWConv_3x3",
    "DWConv_3x3_DS",
    "DWConv_5x5",
    "MaxPool_2x2",
    "MaxPool_SPP",
    "AvgPool_Global",
    "Upsample_2x",
    "RoIAlign_7x7",
    "BatchNorm",
    "LayerNorm",
    "Linear",
    "ReLU",
    "SiLU",
    "Sigmoid",
    "Concat",
    "Add",
    "Split_Half",
    "Flatten",
    "Reshape_Heads",
    "Transpose",
    "Gather_TopK",
    "MatMul",
    "SoftMax",
    "Mul",
    "Div",
    "Sub",
    "Exp",
)


@dataclass(frozen=True)
class PgFlowGraph:
    """Nodes by id with the index of their operation, edges, and the ids that are the outputs."""

    architecture: str
    operations: dict[int, int]
    edges: Sequence[tuple[int, int]]
    outputs: Sequence[int]

    def predecessors(self) -> dict[int, list[int]]:
        """Return what each node reads, in topological order of the nodes."""
        found: dict[int, list[int]] = {node: [] for node in self.operations}
        for source, target in self.edges:
            found[target].append(source)
        return {node: found[node] for node in TopologicalSorter(found).static_order()}


def read_pgflow_graph(path: Path, weights: UwefFile | None = None) -> PgFlowGraph:
    """Read a graph; with `weights`, also check that every entry of theirs is a node of it.

    Raises GaweeError that lists everything that is wrong: ids that are not there or occur twice, an
    operation whose index and name differ, a cycle; OSError for a file that cannot be read.
    """
    source = Source.read(path)
    value = decode_json(source)
    if not isinstance(value, JsonObject):
        raise GaweeError(f"cannot read '{path}' as a graph: expected an object with nodes")
    graph = PgFlowGraph(
        str(value.get("architecture", "")),
        dict(_nodes(value, source)),
        _edges(value, source),
        _ids(value, "final_output_ids", source),
    )
    problems = [
        Diagnostic(text, source.place(where.offset))
        for where, text in (*_problems(value, graph), *_differences(value, graph, weights))
    ]
    if problems:
        raise GaweeError(problems)
    return graph


def _refuse(source: Source, where: JsonObject | JsonList, message: str) -> GaweeError:
    return GaweeError(Diagnostic(message, source.place(where.offset)))


def _list(root: JsonObject, key: str, source: Source) -> JsonList:
    value = root.get(key)
    if not isinstance(value, JsonList):
        raise _refuse(source, root, f"expected '{key}' to be a list")
    return value


def _ids(root: JsonObject, key: str, source: Source) -> list[int]:
    values = _list(root, key, source)
    ids = [each for each in values if isinstance(each, int)]
    if len(ids) != len(values):
        raise _refuse(source, values, f"expected '{key}' to be a list of ids")
    return ids


def _edges(root: JsonObject, source: Source) -> list[tuple[int, int]]:
    edges: list[tuple[int, int]] = []
    every = _list(root, "edges", source)
    for edge in every:
        match edge:
            case [int(before), int(after)]:
                edges.append((before, after))
            case _:
                where = edge if isinstance(edge, JsonList | JsonObject) else every
                raise _refuse(source, where, "expected an edge to be two ids")
    return edges


def _nodes(root: JsonObject, source: Source) -> Iterator[tuple[int, int]]:
    seen: set[int] = set()
    every = _list(root, "nodes", source)
    for node in every:
        if not isinstance(node, JsonObject):
            raise _refuse(source, every, "expected a node to be an object")
        key, index, name = node.get("id"), node.get("op_idx"), node.get("op_name")
        if not isinstance(key, int) or not isinstance(index, int) or not isinstance(name, str):
            raise _refuse(source, node, "expected a node to have id, op_idx and op_name")
        if key in seen:
            raise _refuse(source, node, f"expected ids of nodes to differ, got {key} twice")
        if not 0 <= index < len(OPERATIONS):
            last = len(OPERATIONS) - 1
            raise _refuse(source, node, f"expected op_idx from 0 to {last}, got {index}")
        if OPERATIONS[index] != name:
            expected = f"expected op_name '{OPERATIONS[index]}' of op_idx {index}, got '{name}'"
            raise _refuse(source, node, expected)
        seen.add(key)
        yield key, index


def _problems(root: JsonObject, graph: PgFlowGraph) -> Iterator[tuple[JsonObject | JsonList, str]]:
    for what, count in (("nodes", len(graph.operations)), ("edges", len(graph.edges))):
        total = root.get(f"total_{what}", count)
        if total != count:
            yield root, f"expected {total} {what} as total_{what} says, got {count}"
    places: list[tuple[Sequence[int], JsonObject | JsonList]] = [
        (edge, _edge_place(root, index)) for index, edge in enumerate(graph.edges)
    ]
    places.append((graph.outputs, _member(root, "final_output_ids")))
    unknown = {
        id: where for ids, where in reversed(places) for id in ids if id not in graph.operations
    }
    if unknown:
        first = min(unknown.values(), key=lambda where: where.offset)
        yield first, f"expected edges and outputs between nodes, got unknown ids {sorted(unknown)}"
        return
    try:
        graph.predecessors()
    except CycleError as error:
        cycle: list[int] = error.args[1]
        steps = set(pairwise(cycle)) | set(pairwise(reversed(cycle)))
        where = next(index for index, edge in enumerate(graph.edges) if edge in steps)
        yield _edge_place(root, where), f"expected no cycle, got {' -> '.join(map(str, cycle))}"


def _member(root: JsonObject, key: str) -> JsonObject | JsonList:
    value = root[key]
    return value if isinstance(value, JsonList) else root


def _edge_place(root: JsonObject, index: int) -> JsonObject | JsonList:
    edges = _member(root, "edges")
    edge = edges[index] if isinstance(edges, JsonList) else None
    return edge if isinstance(edge, JsonList) else root


def _differences(
    root: JsonObject, graph: PgFlowGraph, weights: UwefFile | None
) -> Iterator[tuple[JsonObject, str]]:
    """Yield where entries of weights are not those of the graph."""
    if weights is None:
        return
    known = {str(key): OPERATIONS[index] for key, index in graph.operations.items()}
    for key, node in weights.nodes.items():
        if key not in known:
            hint = did_you_mean(key, known, f"there are {len(known)} nodes")
            yield root, f"expected weights of nodes of the graph, got '{key}' ({hint})"
        elif known[key] != node.op_type:
            yield root, f"expected weights of node '{key}' for '{known[key]}', got '{node.op_type}'"


Vector = NDArray[np.float64]

BETA, LAMBDA, GAMMA, EPSILON = 0.2, 1.0, 0.5, 1e-6
SPARSE = 1e-3
"""Weights smaller than this count as zero."""
LIMIT = 10.0
"""What no state exceeds."""


class Gate(StrEnum):
    """What the energy of a node's weight is."""

    REL_NORM = "rel_norm"
    SCALE_NORM = "scale_norm"
    NORM_SPARSITY = "norm_sparsity"


class Flow(StrEnum):
    """Whose gate a message passes: that of the node it leaves, or of the one it enters."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"


@dataclass(frozen=True)
class Projection:
    """The fixed random arrays: P (32 x k), W (2k x k), r (k). Results depend on them."""

    p: Vector
    w: Vector
    r: Vector

    @staticmethod
    def random(k: int = 16, seed: int = 42) -> "Projection":
        """Draw P and W from N(0, 0.05), r from [0, 1), by NumPy's generator."""
        rng = np.random.default_rng(seed)
        p = rng.normal(0, 0.05, (len(OPERATIONS), k))
        return Projection(p, rng.normal(0, 0.05, (2 * k, k)), rng.random(k))


def energy(weight: Array, gate: Gate | str) -> float:
    """Return the energy of a weight; raises GaweeError for a gate that does not exist."""
    if gate not in tuple(Gate):
        raise GaweeError(f"unknown gate '{gate}'; supported: {', '.join(Gate)}")
    values = np.asarray(weight, np.float64)
    norm = float(np.sqrt(np.sum(values**2)))
    fan_in = prod(values.shape[1:]) if values.ndim > 1 else 1
    size = fan_in if gate == Gate.SCALE_NORM else values.size
    result = float(np.log(norm / (np.sqrt(size) + EPSILON) + EPSILON))
    if gate == Gate.NORM_SPARSITY:
        result -= GAMMA * float(np.mean(np.abs(values) < SPARSE))
    return result


def gates(
    graph: PgFlowGraph, weights: Mapping[str, Array], gate: Gate | str = Gate.REL_NORM
) -> dict[int, float]:
    """Return the gate of every node: 1 for one without a weight, named `ID.weight`."""
    named = {node: f"{node}.weight" for node in graph.operations}
    energies = {
        node: energy(weights[name], gate) for node, name in named.items() if name in weights
    }
    values = np.array(list(energies.values()) or [0.0])
    mean, spread = float(values.mean()), float(values.std()) + EPSILON
    return {
        node: 1 + BETA * float(np.tanh(LAMBDA * (energies[node] - mean) / spread))
        if node in energies
        else 1.0
        for node in graph.operations
    }


def surrogate_vector(
    graph: PgFlowGraph,
    weights: Mapping[str, Array],
    projection: Projection,
    gate: Gate | str = Gate.REL_NORM,
    flow: Flow | str = Flow.OUTGOING,
) -> Vector:
    """Return the vector of a network, of k entries.

    Raises GaweeError for a gate or a flow that does not exist.
    """
    if flow not in tuple(Flow):
        raise GaweeError(f"unknown flow '{flow}'; supported: {', '.join(Flow)}")
    gate_of = gates(graph, weights, gate)
    states: dict[int, Vector] = {}
    for node, before in graph.predecessors().items():
        if not before:
            states[node] = projection.r
            continue
        factors = [gate_of[each if flow == Flow.OUTGOING else node] for each in before]
        message = np.sum([f * states[each] for f, each in zip(factors, before, strict=True)], 0)
        joined = np.concatenate([projection.p[graph.operations[node]], message])
        state = 0.5 * message + 0.5 * np.maximum(joined @ projection.w, 0)
        states[node] = np.clip(state, -LIMIT, LIMIT)
    total = np.sum([states[node] for node in graph.outputs], 0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm > EPSILON else total
