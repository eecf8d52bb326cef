"""What an XOC file says: tensors, nodes that name them by index, and metadata of all of them.

`NODE.weight`, by the id or the index of a node, is the array of a weight.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from math import prod
from pathlib import Path
from typing import TypeGuard

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.frontends.graph import Report
from gawee_dialect.frontends.metadata import KeyConflict, flatten, nest
from gawee_dialect.frontends.onnx_attributes import ATTRIBUTES
from gawee_dialect.located_json import JsonObject, JsonValue, decode_json, value_text
from gawee_dialect.parameters.data_files import RawFolder
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    MemoryStore,
    ParameterProblem,
    ParameterStore,
)
from gawee_dialect.parameters.uwef import UwefFile
from gawee_dialect.source import Source

Metadata = Mapping[str, JsonValue]
"""Whatever else is known of a thing, nested; never what a format's own fields say."""

DTYPES = ("float32", "float16", "int32", "int64", "uint8", "bool", "string")


class Role(StrEnum):
    """What a tensor is to the graph: the `name` of a tensor."""

    INPUT = "input"
    OUTPUT = "output"
    WEIGHT = "weight"
    ACTIVATION = "activation"


@dataclass(frozen=True)
class XocTensor:
    """One tensor; `offset` is where it stands in the text."""

    id: str
    role: Role
    shape: tuple[int, ...]
    dtype: str
    metadata: Metadata | None = None
    offset: int = 0


@dataclass(frozen=True)
class XocNode:
    """One operation, by ONNX's name; inputs and outputs are indices of tensors."""

    id: str
    name: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    attributes: Metadata = field(default_factory=dict[str, JsonValue])
    metadata: Metadata | None = None
    offset: int = 0


@dataclass(frozen=True)
class XocDocument:
    """A graph as it is written."""

    id: str
    name: str
    tensors: Sequence[XocTensor]
    nodes: Sequence[XocNode]
    inputs: Sequence[int]
    outputs: Sequence[int]
    metadata: Metadata | None = None
    source: Source | None = None
    """The text that it was read from, for places in messages."""

    def producers(self) -> dict[int, int]:
        """Return from the index of a tensor to that of the node that makes it."""
        return {tensor: index for index, node in enumerate(self.nodes) for tensor in node.outputs}


def edges(document: XocDocument) -> Iterator[tuple[str, str]]:
    """Yield the edges that follow from the nodes, between ids, once for each operand.

    From a tensor that no node makes to its reader, unless it is an activation; from a node to the
    reader of what it makes; from a node to the output that it makes.
    """
    made_by = document.producers()
    for node in document.nodes:
        for index in node.inputs:
            tensor = document.tensors[index]
            if index in made_by:
                yield document.nodes[made_by[index]].id, node.id
            elif tensor.role is not Role.ACTIVATION:
                yield tensor.id, node.id
    for index in document.outputs:
        if index in made_by:
            yield document.nodes[made_by[index]].id, document.tensors[index].id


# XOC graphs from JSON text: every variation of files becomes the one that `document.py` describes.
#
# Strict where viewers of such files are lenient: nothing is invented, dropped or guessed.


ROOT_KEYS = ("id", "name", "tensors", "nodes", "inputs", "outputs", "metadata", "edges")
TENSOR_KEYS = ("id", "name", "shape", "dtype", "metadata")
NODE_KEYS = ("id", "name", "inputs", "outputs", "attributes", "metadata")
MAX_ELEMENTS = 2**48
"""More than any memory holds; a shape that says more is a mistake."""
OPERATORS = "operators"
"""How newer files call `nodes`."""
WRAPPER = "graph"
"""The key under which some files have all of it."""


def read_xoc(source: Source) -> XocDocument:
    """Read a graph; raises GaweeError that lists everything that is wrong with it."""
    reader = _Reader(Report(source))
    document = reader.document(decode_json(source))
    reader.report.raise_if_any()
    for offset, message in contradictions(document):
        reader.report.add(offset, message)
    reader.report.raise_if_any()
    return document


class _Reader:
    """Turns decoded JSON into a document; what it cannot read it reports, and leaves empty."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.count = 0

    def document(self, value: JsonValue) -> XocDocument:
        root = self._unwrapped(value)
        nodes = self._nodes_key(root)
        self._known(root, (*ROOT_KEYS, OPERATORS), "graph")
        tensors = [self._tensor(each) for each in self._objects(root, "tensors")]
        self.count = len(tensors)
        if "edges" in root and not isinstance(root["edges"], list):
            self.report.add(
                root.offset, f"expected 'edges' to be a list, got {value_text(root['edges'])}"
            )
        return XocDocument(
            self._text(root, "id", "graph"),
            self._text(root, "name", "graph"),
            tensors,
            [self._node(each) for each in self._objects(root, nodes)],
            self._indices(root, "inputs", "graph"),
            self._indices(root, "outputs", "graph"),
            self._metadata(root, "graph") or JsonObject(),
            self.report.source,
        )

    def _unwrapped(self, value: JsonValue) -> JsonObject:
        if not isinstance(value, JsonObject):
            self.report.add(0, f"expected a graph to be an object, got {value_text(value)}")
            self.report.raise_if_any()
            raise AssertionError
        inner = value.get(WRAPPER)
        if not isinstance(inner, JsonObject) or "tensors" in value:
            return value
        for key in value:
            if key != WRAPPER:
                self.report.add(value.offset, f"unknown key '{key}' beside '{WRAPPER}'")
        return inner

    def _nodes_key(self, root: JsonObject) -> str:
        if "nodes" in root and OPERATORS in root and root["nodes"] != root[OPERATORS]:
            self.report.add(root.offset, "expected 'nodes' or 'operators', got both, which differ")
        return OPERATORS if OPERATORS in root and "nodes" not in root else "nodes"

    def _tensor(self, each: JsonObject) -> XocTensor:
        id = self._text(each, "id", "tensor")
        what = f"tensor '{id}'"
        self._known(each, TENSOR_KEYS, what)
        role = self._choice(each, "name", tuple(Role), what)
        shape = each.get("shape")
        sizes = tuple(size for size in _list(shape) if _is_integer(size) and size >= 0)
        fits = prod(max(size, 1) for size in sizes) <= MAX_ELEMENTS
        if not isinstance(shape, list) or len(sizes) != len(shape) or not fits:
            got = value_text(shape)
            self.report.add(each.offset, f"{what}: expected a shape of sizes from 0 on, got {got}")
        return XocTensor(
            id,
            Role(role),
            sizes if fits else (),
            self._choice(each, "dtype", DTYPES, what),
            self._metadata(each, what),
            each.offset,
        )

    def _node(self, each: JsonObject) -> XocNode:
        id = self._text(each, "id", "node")
        what = f"node '{id}'"
        self._known(each, NODE_KEYS, what)
        name = self._text(each, "name", what)
        attributes = each.get("attributes")
        if not isinstance(attributes, JsonObject):
            got = value_text(attributes)
            self.report.add(
                each.offset, f"{what}: expected 'attributes' to be an object, got {got}"
            )
            attributes = JsonObject()
        self._check_attributes(name, attributes, what)
        return XocNode(
            id,
            name,
            self._indices(each, "inputs", what),
            self._indices(each, "outputs", what),
            dict(attributes),
            self._metadata(each, what),
            each.offset,
        )

    def _check_attributes(self, name: str, attributes: JsonObject, what: str) -> None:
        for number in _integers(list(attributes.values())):
            if not -(2**63) <= number < 2**63:
                text = f"{what}: expected attributes of 64 bits, got {value_text(number)}"
                self.report.add(attributes.offset, text)
        known = ATTRIBUTES.get(name)  # what an unknown operator has, only its lowering can say
        for key in attributes if known is not None else ():
            if known is not None and key not in known:
                hint = did_you_mean(key, known, "what the operator does not define is metadata")
                message = f"{what}: unknown attribute '{key}' of '{name}'"
                self.report.add(attributes.offset, message, hint=hint)

    def _objects(self, root: JsonObject, key: str) -> Iterator[JsonObject]:
        value = root.get(key)
        if not isinstance(value, list):
            message = f"expected '{key}' of graph to be a list, got {value_text(value)}"
            self.report.add(root.offset, message)
            return
        for index, each in enumerate(value):
            if isinstance(each, JsonObject):
                yield each
            else:
                message = f"expected {key}[{index}] to be an object, got {value_text(each)}"
                self.report.add(root.offset, message)

    def _indices(self, where: JsonObject, key: str, what: str) -> list[int]:
        value = where.get(key)
        if not isinstance(value, list):
            message = f"{what}: expected '{key}' to be a list of indices, got {value_text(value)}"
            self.report.add(where.offset, message)
            return []
        for each in value:
            if not _is_integer(each) or not 0 <= each < self.count:
                wanted, got = f"indices below {self.count}", value_text(each)
                message = f"{what}: expected '{key}' to be {wanted}, got {got}"
                self.report.add(where.offset, message)
        return [each for each in value if _is_integer(each) and 0 <= each < self.count]

    def _text(self, where: JsonObject, key: str, what: str) -> str:
        value = where.get(key)
        if isinstance(value, str) and value:
            return value
        message = f"{what}: expected '{key}' to be text, got {value_text(value)}"
        self.report.add(where.offset, message)
        return ""

    def _choice(self, where: JsonObject, key: str, choices: Sequence[str], what: str) -> str:
        value = where.get(key)
        if isinstance(value, str) and value in choices:
            return value
        message = (
            f"{what}: expected '{key}' to be one of {', '.join(choices)}, got {value_text(value)}"
        )
        self.report.add(where.offset, message)
        return choices[0]

    def _metadata(self, where: JsonObject, what: str) -> JsonObject | None:
        value = where.get("metadata")
        if value is None and "metadata" not in where:
            return None
        if not isinstance(value, JsonObject):
            message = f"{what}: expected 'metadata' to be an object, got {value_text(value)}"
            self.report.add(where.offset, message)
            return None
        try:
            return nest(flatten(value))
        except KeyConflict as conflict:
            self.report.add(value.offset, f"metadata of {what}: {conflict}")
        return value

    def _known(self, where: JsonObject, keys: Sequence[str], what: str) -> None:
        for key in where:
            if key not in keys:
                hint = did_you_mean(key, keys, f"keys: {', '.join(keys)}")
                self.report.add(where.offset, f"{what}: unknown key '{key}'", hint=hint)


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _integers(values: Sequence[JsonValue]) -> Iterator[int]:
    for value in values:
        if isinstance(value, list):
            yield from _integers(value)
        elif _is_integer(value):
            yield value


def _is_integer(value: JsonValue) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def contradictions(document: XocDocument) -> Iterator[tuple[int, str]]:
    """Yield what the parts of a graph, each of them sound, say against each other, and where."""
    yield from _repeated("tensor", [(each.id, each.offset) for each in document.tensors])
    yield from _repeated("node", [(each.id, each.offset) for each in document.nodes])
    made_by: dict[int, XocNode] = {}
    for node in document.nodes:
        for index in node.outputs:
            tensor = document.tensors[index]
            if index in made_by:
                others = f"'{made_by[index].id}' and '{node.id}'"
                yield node.offset, f"expected one node to make '{tensor.id}', got {others}"
            elif tensor.role in (Role.WEIGHT, Role.INPUT):
                yield node.offset, f"expected no node to make {tensor.role} '{tensor.id}', got one"
            made_by[index] = node
    for index in sorted(set(document.inputs) & set(made_by)):
        tensor = document.tensors[index]
        if tensor.role not in (Role.WEIGHT, Role.INPUT):
            yield tensor.offset, f"expected no node to make graph input '{tensor.id}', got one"
    yield from _repeated("input", [(document.tensors[i].id, 0) for i in document.inputs])
    read = {index for node in document.nodes for index in node.inputs} | set(document.outputs)
    for index in sorted(read - set(document.inputs) - set(made_by)):
        tensor = document.tensors[index]
        if tensor.role in (Role.ACTIVATION, Role.OUTPUT):
            message = f"expected a node that makes {tensor.role} '{tensor.id}', got none"
            yield tensor.offset, message
        elif tensor.role is Role.INPUT:
            yield tensor.offset, f"expected input '{tensor.id}' in 'inputs', got none"
    yield from _cycle(document)


def _repeated(what: str, ids: Sequence[tuple[str, int]]) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for id, offset in ids:
        if id in seen:
            yield offset, f"expected ids of {what}s to differ, got '{id}' twice"
        seen.add(id)


def node_order(document: XocDocument) -> list[int]:
    """Return the indices of the nodes, each behind those whose outputs it reads.

    Raises CycleError. Files need not list nodes in that order.
    """
    made_by = document.producers()
    sorter = TopologicalSorter(
        {
            index: [made_by[each] for each in node.inputs if each in made_by]
            for index, node in enumerate(document.nodes)
        }
    )
    return list(sorter.static_order())


def _cycle(document: XocDocument) -> Iterator[tuple[int, str]]:
    try:
        node_order(document)
    except CycleError as error:
        cycle: list[int] = error.args[1]
        path = " -> ".join(f"'{document.nodes[index].id}'" for index in cycle)
        yield document.nodes[cycle[0]].offset, f"expected nodes without a cycle, got {path}"


def without_places(document: XocDocument) -> XocDocument:
    """Return a document as if it were never text, so that two of them can be compared."""
    return replace(
        document,
        tensors=[replace(each, offset=0) for each in document.tensors],
        nodes=[replace(each, offset=0) for each in document.nodes],
        source=None,
    )


# XOC graphs as JSON text, in the layout of the format's description.


def xoc_text(document: XocDocument, *, with_edges: bool = False) -> str:
    """Return the JSON text of a graph, a tensor and a node a line; nothing that it lacks is added.

    `with_edges` adds what follows from the nodes, for readers that do not derive it.
    """
    parts = [
        f'  "id": {_json(document.id)}',
        f'  "name": {_json(document.name)}',
        f'  "tensors": {_lines([_json(_tensor(each)) for each in document.tensors])}',
        f'  "nodes": {_lines([_json(_node(each)) for each in document.nodes])}',
        f'  "inputs": {_json(list(document.inputs))}',
        f'  "outputs": {_json(list(document.outputs))}',
        f'  "metadata": {_json(document.metadata or {})}',
    ]
    if with_edges:
        pairs = [_json({"source": a, "target": b}) for a, b in edges(document)]
        parts.append(f'  "edges": {_lines(pairs)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def split_attributes(
    operator: str, mixed: Mapping[str, JsonValue]
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Return which of an operator's attributes ONNX defines, and all others as nested metadata.

    All of an operator that ONNX does not have are its attributes. Raises KeyConflict for keys that
    cannot be nested.
    """
    known = ATTRIBUTES.get(operator, tuple(mixed))
    attributes = {key: value for key, value in mixed.items() if key in known}
    return attributes, nest({key: value for key, value in mixed.items() if key not in known})


def _tensor(tensor: XocTensor) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": tensor.id,
        "name": tensor.role.value,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
    }
    return fields | ({} if tensor.metadata is None else {"metadata": tensor.metadata})


def _node(node: XocNode) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": node.id,
        "name": node.name,
        "inputs": list(node.inputs),
        "outputs": list(node.outputs),
        "attributes": dict(node.attributes),
    }
    return fields | ({} if node.metadata is None else {"metadata": node.metadata})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(items: list[str]) -> str:
    return "[\n" + ",\n".join(f"    {item}" for item in items) + "\n  ]" if items else "[]"


KEYS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("RNN", "GRU", "LSTM"), ("weight", "recurrence", "bias")),
    "BatchNormalization": ("weight", "bias", "running_mean", "running_var"),
}
"""What the weights of a node are called, in the order of its operands, where it is not `USUAL`."""
USUAL = ("weight", "bias")


def weight_keys(operator: str, count: int) -> Sequence[str]:
    """Return what the weights of a node are called; more than have a name get a number."""
    keys = KEYS.get(operator, USUAL)
    return [*keys[:count], *(f"weight_{index}" for index in range(len(keys), count))]


WEIGHTS_OF_OPERATORS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("conv", "dwconv"), ("Conv", "ConvTranspose")),
    "linear": ("Gemm", "MatMul"),
    "batchnorm": ("BatchNormalization",),
    "layernorm": ("LayerNormalization",),
}
"""ONNX's names of what UWEF's table of operations calls so, before the first underscore."""


def beside(graph: Path) -> Path:
    """Return the UWEF file that goes with a graph: net.uwef.json with net.xoc.json."""
    stem = graph.name.removesuffix(".json").removesuffix(".xoc")
    return graph.with_name(f"{stem}.uwef.json")


class XocWeights(ParameterStore):
    """A store's arrays under the names that the graph has for them.

    A weight is found by its node's id, then by the index of its node, then by its tensor's id.
    Raises GaweeError for UWEF that is of another graph.
    """

    def __init__(
        self,
        document: XocDocument,
        store: ParameterStore,
        tensors: Mapping[str, str],
        graph: Path | None,
    ) -> None:
        """Look a graph's weights up in a store; `tensors` are their tensors' ids by their names.

        A folder has no files for them: in its place is the UWEF file beside the graph, if any.
        """
        self._graph = graph
        if isinstance(store, RawFolder):
            own = None if graph is None else beside(graph)
            store = MemoryStore({}) if own is None or not own.exists() else UwefFile(own)
        if isinstance(store, UwefFile):
            problems = list(_differences(document, store))
            if problems:
                raise GaweeError(problems)
        self._store = store
        self.names = self._found = _names(document, set(store), tensors)

    def _name(self, name: str) -> str:
        if name in self._found:
            return self._found[name]
        if not len(self._store):
            place = "" if self._graph is None else f", or it is '{beside(self._graph).name}'"
            raise ParameterProblem(
                f"expected data, which such a graph has none of: --weights FILE has it{place}"
            )
        raise KeyError(name)

    def describe(self, name: str) -> ArrayDescription:
        return self._store.describe(self._name(name))

    def __getitem__(self, name: str) -> Array:
        return self._store[self._name(name)]


def _names(document: XocDocument, given: set[str], tensors: Mapping[str, str]) -> dict[str, str]:
    """Return from the names of weights to those that a store has them under."""
    indices = _indices(document)
    found: dict[str, str] = {}
    for name, tensor in tensors.items():
        node, _, key = name.rpartition(".")
        candidates = (name, f"{indices.get(node)}.{key}", tensor)
        own = next((each for each in candidates if each in given), None)
        if own is not None:
            found[name] = own
    return found


def _indices(document: XocDocument) -> dict[str, str]:
    """Return the nodes' indices by their ids, where no other node has the index as its id."""
    ids = {node.id for node in document.nodes}
    numbered = ((node.id, str(index)) for index, node in enumerate(document.nodes))
    return {id: index for id, index in numbered if index not in ids}


def _differences(document: XocDocument, weights: UwefFile) -> Iterator[Diagnostic]:
    """Yield where entries of weights are not those of the graph's nodes."""
    known = {node.id: node.name for node in document.nodes}
    for id, index in _indices(document).items():
        known[index] = known[id]
    for key, entry in weights.nodes.items():
        if key not in known:
            hint = did_you_mean(key, known, f"the graph has {len(document.nodes)} nodes")
            message = f"expected weights of nodes of the graph, got '{key}'"
            yield Diagnostic(message, entry.place, hint=hint)
        elif not _is_of(entry.op_type, known[key]):
            wanted = f"expected weights of node '{key}' for '{known[key]}'"
            yield Diagnostic(f"{wanted}, got '{entry.op_type}'", entry.place)


def _is_of(op_type: str, operator: str) -> bool:
    """Whether weights of an operation may be an operator's; names that are in no table may."""
    if op_type == operator:
        return True
    of_table = WEIGHTS_OF_OPERATORS.get(op_type.partition("_")[0].lower())
    return of_table is None or operator in of_table
