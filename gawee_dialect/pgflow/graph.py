"""Graphs that go with UWEF files, `*_graph.json`: nodes with an id and an operation, and edges.

{"architecture": "toy", "total_nodes": 2, "total_edges": 1,
 "nodes": [{"id": 0, "op_idx": 1, "op_name": "Conv_3x3", "annotation": ""}, ...],
 "edges": [[0, 1]], "final_output_ids": [1]}
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.located_json import JsonObject, JsonValue, decode_json
from gawee_dialect.parameters.uwef import UwefFile
from gawee_dialect.pgflow.operations import OPERATIONS
from gawee_dialect.source import Source


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
        Diagnostic(text, source.place(value.offset))
        for text in (*_problems(value, graph), *(_differences(graph, weights) if weights else ()))
    ]
    if problems:
        raise GaweeError(problems)
    return graph


def _refuse(source: Source, where: JsonObject, message: str) -> GaweeError:
    return GaweeError(Diagnostic(message, source.place(where.offset)))


def _list(root: JsonObject, key: str, source: Source) -> list[JsonValue]:
    value = root.get(key)
    if not isinstance(value, list):
        raise _refuse(source, root, f"expected '{key}' to be a list")
    return value


def _ids(root: JsonObject, key: str, source: Source) -> list[int]:
    values = _list(root, key, source)
    ids = [each for each in values if isinstance(each, int)]
    if len(ids) != len(values):
        raise _refuse(source, root, f"expected '{key}' to be a list of ids")
    return ids


def _edges(root: JsonObject, source: Source) -> list[tuple[int, int]]:
    edges: list[tuple[int, int]] = []
    for edge in _list(root, "edges", source):
        match edge:
            case [int(before), int(after)]:
                edges.append((before, after))
            case _:
                raise _refuse(source, root, "expected an edge to be two ids")
    return edges


def _nodes(root: JsonObject, source: Source) -> Iterator[tuple[int, int]]:
    seen: set[int] = set()
    for node in _list(root, "nodes", source):
        if not isinstance(node, JsonObject):
            raise _refuse(source, root, "expected a node to be an object")
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


def _problems(root: JsonObject, graph: PgFlowGraph) -> Iterator[str]:
    for what, count in (("nodes", len(graph.operations)), ("edges", len(graph.edges))):
        total = root.get(f"total_{what}", count)
        if total != count:
            yield f"expected {total} {what} as total_{what} says, got {count}"
    unknown = [
        *(each for edge in graph.edges for each in edge if each not in graph.operations),
        *(each for each in graph.outputs if each not in graph.operations),
    ]
    if unknown:
        yield f"expected edges and outputs between nodes, got unknown ids {sorted(set(unknown))}"
        return
    try:
        graph.predecessors()
    except CycleError as error:
        cycle: list[int] = error.args[1]
        yield f"expected no cycle, got {' -> '.join(map(str, cycle))}"


def _differences(graph: PgFlowGraph, weights: UwefFile) -> Iterator[str]:
    """Yield where entries of weights are not those of the graph."""
    known = {str(key): OPERATIONS[index] for key, index in graph.operations.items()}
    for key, node in weights.nodes.items():
        if key not in known:
            hint = did_you_mean(key, known, f"there are {len(known)} nodes")
            yield f"expected weights of nodes of the graph, got '{key}' ({hint})"
        elif known[key] != node.op_type:
            yield f"expected weights of node '{key}' for '{known[key]}', got '{node.op_type}'"
