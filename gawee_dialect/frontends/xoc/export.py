"""From a module to an XOC graph, and to the UWEF file that has its weights."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.open_sizes import require_numbers
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.metadata import KeyConflict, flatten, nest
from gawee_dialect.frontends.onnx.export.exporter import export_graph
from gawee_dialect.frontends.onnx.export.ops.elementwise import ONNX_DTYPES
from gawee_dialect.frontends.onnx.export.registry import (
    ExportedGraph,
    ExportedNode,
    ExportedValue,
    Figures,
)
from gawee_dialect.frontends.onnx.model import Array
from gawee_dialect.frontends.onnx_attributes import ATTRIBUTES
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.frontends.xoc.document import (
    DTYPES,
    Role,
    XocDocument,
    XocNode,
    XocTensor,
    beside,
    weight_keys,
    xoc_text,
)
from gawee_dialect.frontends.xoc.xoc_graph import XocGraph
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import take_name
from gawee_dialect.located_json import JsonValue
from gawee_dialect.locations import node_name, place
from gawee_dialect.parameters.store import joined
from gawee_dialect.parameters.uwef import NodeWeights, Slice, write_uwef
from gawee_dialect.whole_file import whole_file

MAX_INLINE = 64
"""Constants of more floats than these are weights; others stand in the graph."""


Place = tuple[str, str | None]
"""The name of a node, or what stands for it, and its place, as profiles have them."""


@dataclass(frozen=True)
class ExportedXoc:
    """A graph, what its nodes have of weights, and the arrays that are in the module itself."""

    document: XocDocument
    weights: Sequence[NodeWeights]
    constants: Mapping[str, Array]
    nodes: Mapping[Place, str]
    """The ids of nodes by what they are called, and where, in the graph that was read."""


def export_xoc(module: ModuleOp, name: str = "graph") -> ExportedXoc:
    """Say a module at the gawee level as an XOC graph, without touching any file.

    `name` is the graph's where the module has none. Raises GaweeError that lists every op that ONNX
    has no twin of, and every tensor that the format has no dtype for.
    """
    require_numbers(module, "XOC")
    return _Exporter(export_graph(module, bodies=False), name).export()


def write_xoc(
    module: ModuleOp,
    path: Path,
    weights: Mapping[str, Array] | None,
    *,
    with_edges: bool = False,
) -> list[Path]:
    """Write a module as an XOC graph, with its weights as UWEF beside it; returns the paths.

    Without `weights`, by the names of parameters, there is no such file. Raises
    GaweeError, and then writes nothing.
    """
    exported = export_xoc(module, path.name.partition(".")[0])
    text = xoc_text(exported.document, with_edges=with_edges)
    written: list[Path] = []
    if weights is not None:
        written.append(beside(path))
        store = joined(exported.constants, weights)
        meta = {"architecture": exported.document.name, "source_framework": "gawee"}
        write_uwef(written[0], exported.weights, store, meta)
    with whole_file(path) as draft:
        draft.write_text(text)
    return [path, *written]


class _Exporter:
    def __init__(self, graph: ExportedGraph, name: str) -> None:
        self.graph = graph
        self.name = name
        self.tensors: list[XocTensor] = []
        self.indices: dict[str, int] = {}
        self.nodes: list[XocNode] = []
        self.names = {each.name for each in graph.nodes}
        self.problems: list[Diagnostic] = []
        self.roles = {
            **{each.name: Role.OUTPUT for each in graph.outputs},
            **{each.name: Role.INPUT for each in graph.inputs},
            **{each.name: Role.WEIGHT for each in graph.weights},
            **{name: Role.WEIGHT for name, array in graph.constants.items() if _is_weight(array)},
        }
        self.weights: list[NodeWeights] = []

    def export(self) -> ExportedXoc:
        graph = self.graph
        inputs = [self._tensor(each) for each in graph.inputs]
        for node in graph.nodes:
            try:
                self._add(node)
            except Refusal as problem:
                self._refuse(node, problem)
        if self.problems:
            raise GaweeError(self.problems)
        outputs = [self._tensor(each) for each in graph.outputs]
        document = XocDocument(
            graph.id or graph.name or self.name,
            graph.name or self.name,
            self.tensors,
            self.nodes,
            inputs,
            outputs,
            graph.metadata or {},
        )
        held = {name: array for name, array in graph.constants.items() if _is_weight(array)}
        nodes: dict[Place, str] = {}
        for node in graph.nodes:
            if node.op is not None and node.is_own:
                where = place(node.op.location)
                called = node_name(node.op.location) or where or node.op.name
                nodes.setdefault((called, where), node.name)
        return ExportedXoc(document, self.weights, held, nodes)

    def _refuse(self, node: ExportedNode, problem: Refusal) -> None:
        if node.op is None:
            self.problems.append(Diagnostic(problem.message, node=node.name, hint=problem.hint))
        else:
            self.problems.append(Diagnostic.at(node.op, problem.message, problem.hint))

    def _tensor(self, value: ExportedValue) -> int:
        """Return the index of a tensor; a new one is added behind the others."""
        if value.name not in self.indices:
            dtype = dtype_name(value.type.element_type)
            if dtype not in DTYPES:
                raise Refusal(
                    f"cannot be written as XOC because of dtype {dtype}; supported: "
                    + ", ".join(DTYPES)
                )
            role = self.roles.get(value.name, Role.ACTIVATION)
            metadata = self.graph.tensor_metadata.get(value.name)
            shape = value.type.get_shape()
            self._append(XocTensor(value.name, role, shape, dtype, metadata))
        return self.indices[value.name]

    def _append(self, tensor: XocTensor) -> int:
        self.indices[tensor.id] = len(self.tensors)
        self.tensors.append(tensor)
        return self.indices[tensor.id]

    def _add(self, node: ExportedNode) -> None:
        attributes: dict[str, JsonValue] = {key: _json(v) for key, v in node.attributes.items()}
        figures = [each for each in node.inputs if isinstance(each, Figures)]
        sayable = ATTRIBUTES.get(node.op_type, ())
        if all(each.name in sayable for each in figures):
            attributes.update((each.name, _json(each.array.tolist())) for each in figures)
            given = [each for each in node.inputs if not isinstance(each, Figures)]
            while given and given[-1] is None:
                given.pop()
        else:
            given = list(node.inputs)
        inputs = [self._operand(node, each) for each in given]
        outputs = [self._tensor(each) for each in node.outputs]
        self.nodes.append(
            XocNode(node.name, node.op_type, inputs, outputs, attributes, node.metadata)
        )
        self._add_weights(node)

    def _operand(self, node: ExportedNode, operand: ExportedValue | Figures | None) -> int:
        match operand:
            case ExportedValue():
                array = self.graph.constants.get(operand.name)
                if array is None or operand.name in self.indices or _is_weight(array):
                    return self._tensor(operand)
                return self._constant(operand.name, array)
            case Figures():
                return self._constant(self._unique(f"{node.name}_{operand.name}"), operand.array)
            case None if node.op_type == "Resize":  # no region, no scales: tensors without elements
                name = self._unique(f"{node.name}_none")
                return self._append(XocTensor(name, Role.WEIGHT, (0,), "float32"))
            case None:
                raise Refusal("cannot be written as XOC because an input is left out before others")

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self.indices or unique in self.names or unique in self.roles:
            count += 1
            unique = f"{name}_{count}"
        return unique

    def _constant(self, name: str, array: Array) -> int:
        """Return the tensor of nodes that make an array: a list, its shape, its dtype."""
        dtype = array.dtype.name
        if dtype not in DTYPES:
            raise Refusal(f"cannot be written as XOC because of a constant of dtype {dtype}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Refusal("cannot be written as XOC because a constant of it is not finite")
        stored = "float32" if array.dtype.kind == "f" else "int64"
        steps = list(self._steps(array, stored))
        index = -1
        for number, (operator, shape, made, attributes) in enumerate(steps):
            last = number == len(steps) - 1
            own = name if last else self._unique(f"{name}_{operator}")
            role = self.roles.get(own, Role.ACTIVATION)
            before = [] if index < 0 else [index]
            index = self._append(XocTensor(own, role, shape, made))
            id = take_name(own, self.names)
            self.nodes.append(XocNode(id, operator, before, [index], attributes))
            self.weights.append(NodeWeights(id, operator, {}))
        return index

    def _steps(
        self, array: Array, stored: str
    ) -> Iterator[tuple[str, tuple[int, ...], str, dict[str, JsonValue]]]:
        key = "value_float" if stored == "float32" else "value_int"
        flat = array.astype(stored)
        if array.ndim == 0:
            yield "Constant", (), stored, {key: _json(flat.item())}
        else:
            values = _json(flat.reshape(-1).tolist())
            yield "Constant", (array.size,), stored, {f"{key}s": values}
        if array.ndim > 1:
            shape: list[JsonValue] = [*array.shape]
            zeros: dict[str, JsonValue] = {"allowzero": 1} if 0 in array.shape else {}
            yield "Reshape", array.shape, stored, {"shape": shape, **zeros}
        if array.dtype.name != stored:
            dtype = array.dtype.name
            yield "Cast", array.shape, dtype, {"to": ONNX_DTYPES[dtype]}

    def _add_weights(self, node: ExportedNode) -> None:
        held = [
            each.name
            for each in node.inputs
            if isinstance(each, ExportedValue) and self.roles.get(each.name) is Role.WEIGHT
        ]
        keys = weight_keys(node.op_type, len(held))
        tensors = {key: Slice(name) for key, name in zip(keys, held, strict=True)}
        self.weights.append(NodeWeights(node.name, node.op_type, tensors))


def _is_weight(array: Array) -> bool:
    """Whether an array is data, which a graph cannot hold: many floats, all of them finite."""
    floats = array.dtype.name in ("float32", "float16")
    return floats and array.size > MAX_INLINE and bool(np.isfinite(array).all())


def _json(value: object) -> JsonValue:
    """Return an attribute as JSON has it."""
    if isinstance(value, int | float | str):
        return value
    assert isa(value, list[object])
    return [_json(each) for each in value]


# Measured times as metadata of nodes: `performance.time.cpu`, in milliseconds.


CPU_TIME = "performance.time.cpu"


def timed_document(
    graph: Graph, module: ModuleOp, seconds: Mapping[Place, float], name: str
) -> XocDocument:
    """Return a graph as XOC, whose nodes have the times that were measured of them.

    A graph of that format is as it was but for that; another one is exported, from its module, and
    is called `name`. A node that ran as a part of another one has no time of its own. Raises
    GaweeError for a graph that cannot be written, and for metadata that leaves no place.
    """
    if isinstance(graph, XocGraph):
        return with_times(graph.document, _by_id(graph.document.nodes, seconds))
    exported = export_xoc(module, name)
    times = {exported.nodes[each]: time for each, time in seconds.items() if each in exported.nodes}
    return with_times(exported.document, times)


def _by_id(nodes: Sequence[XocNode], seconds: Mapping[Place, float]) -> dict[str, float]:
    ids = {node.id for node in nodes}
    return {name: time for (name, _), time in seconds.items() if name in ids}


def with_times(document: XocDocument, seconds: Mapping[str, float]) -> XocDocument:
    """Return a document whose nodes have these times, by their ids, and no others."""
    return replace(
        document, nodes=[_with_time(each, seconds.get(each.id)) for each in document.nodes]
    )


def _with_time(node: XocNode, seconds: float | None) -> XocNode:
    flat = flatten(node.metadata or {})
    if seconds is None and CPU_TIME not in flat:
        return node
    flat.pop(CPU_TIME, None)
    if seconds is not None:
        flat[CPU_TIME] = round(seconds * 1e3, 6)
    try:
        return replace(node, metadata=nest(flat))
    except KeyConflict as conflict:
        raise GaweeError(f"cannot write the time of node '{node.id}': {conflict}") from conflict
