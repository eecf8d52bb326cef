"""A graph as read from JSON: values and nodes with their names resolved, no ops yet.

It refers to weights and constants: of these, paths are checked, and constants become attributes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)

from gawee_dialect.diagnostics import did_you_mean
from gawee_dialect.dialect.types import (
    ELEMENT_TYPES,
    AnyTensor,
    dtype_name,
    shaped_bytes,
    tensor_of,
)
from gawee_dialect.frontends.gawee_json.schema import check_attributes, op_types, own_attributes
from gawee_dialect.frontends.graph import Report
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.hints import isa
from gawee_dialect.located_json import JsonObject, JsonValue
from gawee_dialect.parameters.data_files import (
    MAX_TENSOR_BYTES,
    FileProblem,
    check_relative,
    find_file,
)
from gawee_dialect.source import Source

SMALL = 4096
"""Constants of up to so many elements are written in the IR; larger ones are arguments."""


def read_type(shape: Sequence[int], dtype: str, what: str) -> AnyTensor:
    """Return the tensor type of a shape and a dtype, spelled as NumPy or as PyTorch does.

    Raises Refusal for an unknown dtype and for a shape no machine could hold.
    """
    element = ELEMENT_TYPES.get(dtype.removeprefix("torch."))
    if element is None:
        raise Refusal(
            f"unsupported dtype '{dtype}' of {what}; supported: {', '.join(ELEMENT_TYPES)}"
        )
    # Checked before a type is made: a type's sizes are 64-bit integers.
    if prod(max(size, 1) for size in shape) > MAX_TENSOR_BYTES:
        raise Refusal(f"expected {what} of at most {MAX_TENSOR_BYTES} bytes, got shape {[*shape]}")
    type = tensor_of(element, shape)
    if shaped_bytes(type) > MAX_TENSOR_BYTES:
        raise Refusal(f"expected {what} of at most {MAX_TENSOR_BYTES} bytes, got shape {[*shape]}")
    return type


def check_file(folder: Path | None, path: str, type: AnyTensor, what: str) -> str:
    """Return the normal form of a data file's path; check the file where the folder is known.

    Raises Refusal for a path that leaves the folder, a missing file and a wrong number of bytes.
    """
    try:
        if folder is not None:
            find_file(folder, path, shaped_bytes(type))
        return check_relative(path)
    except FileProblem as problem:
        raise Refusal(f"{problem} (of {what}, '{type}')") from problem


def read_constant(folder: Path, path: str, type: AnyTensor, what: str) -> DenseIntOrFPElementsAttr:
    """Read a file, checked before, as a dense attribute; raises Refusal where it has changed."""
    array = np.fromfile(folder / path, dtype=np.dtype(dtype_name(type.element_type)))
    if array.nbytes != shaped_bytes(type):
        raise Refusal(f"expected file '{path}' of {shaped_bytes(type)} bytes (of {what})")
    return dense(type, array)


def dense(type: AnyTensor, array: NDArray[np.generic]) -> DenseIntOrFPElementsAttr:
    """Return a dense attribute of an array's elements."""
    assert isa(type, TensorType[AnyFloat | IntegerType])
    return DenseIntOrFPElementsAttr(type, BytesAttr(array.tobytes()))


def elements(attribute: DenseIntOrFPElementsAttr) -> NDArray[np.generic]:
    """Return the elements of a dense attribute of a tensor type, as an array of its shape."""
    type = attribute.type
    assert isa(type, AnyTensor)
    dtype = np.dtype(dtype_name(type.element_type))
    return np.frombuffer(attribute.data.data, dtype=dtype).reshape(type.get_shape())


_FUNCTION = re.compile(r"<built-in (?:function|method) (\w+)[^>]*>$")
"""The name of a node that calls a function, as Python prints one."""

PYTHON_OPS = frozenset(("getattr", "getitem"))
"""Op types whose result is a Python object, not a tensor."""


@dataclass(frozen=True)
class ValueEntry:
    """What `values` says of one name; a path makes it a constant."""

    name: str
    shape: tuple[int, ...] | None
    dtype: str | None
    path: str | None
    offset: int


@dataclass(frozen=True)
class Node:
    """One node; `attributes` are its own, without bookkeeping.

    Its name is that of no other node. `module` is its name in the file, which begins the names of
    its weights: nodes that one module makes share it.
    """

    op_type: str
    name: str
    module: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: JsonObject
    offset: int


@dataclass(frozen=True)
class Graph:
    """A whole graph in the order of the text."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    values: dict[str, ValueEntry]
    nodes: Sequence[Node]
    source: Source
    offset: int

    def is_constant(self, name: str) -> bool:
        """Whether a name is that of a graph constant."""
        entry = self.values.get(name)
        return entry is not None and entry.path is not None


def _names(value: JsonValue) -> list[str]:
    assert isa(value, list[str])
    return value


def _text(value: JsonValue) -> str | None:
    assert value is None or isinstance(value, str)
    return value


def _read_value(name: str, entry: JsonValue) -> ValueEntry:
    assert isinstance(entry, JsonObject)
    shape = entry["shape"]
    assert shape is None or isa(shape, list[int])
    return ValueEntry(
        name,
        None if shape is None else tuple(shape),
        _text(entry["dtype"]),
        _text(entry.get("path")),
        entry.offset,
    )


def _read_node(node: JsonValue) -> Node:
    assert isinstance(node, JsonObject)
    attrs = node.get("attrs", JsonObject())
    op_type, name = node["op_type"], node["name"]
    assert isinstance(attrs, JsonObject)
    assert isinstance(op_type, str)
    assert isinstance(name, str)
    if "attrs" not in node:
        attrs.offset = node.offset
    return Node(
        op_type,
        name,
        name,
        _names(node["inputs"]),
        _names(node["outputs"]),
        own_attributes(attrs),
        node.offset,
    )


def read_graph(root: JsonValue, source: Source) -> Graph:
    """Turn JSON whose structure has been checked into a Graph."""
    assert isinstance(root, JsonObject)
    values, nodes = root["values"], root["nodes"]
    assert isinstance(values, JsonObject)
    assert isinstance(nodes, list)
    return Graph(
        _names(root["inputs"]),
        _names(root["outputs"]),
        {name: _read_value(name, entry) for name, entry in values.items()},
        _with_own_names([_read_node(node) for node in nodes]),
        source,
        root.offset,
    )


def _with_own_names(nodes: Sequence[Node]) -> Sequence[Node]:
    """Give nodes that share a name, and calls of functions, names of their own.

    `<built-in function add>` between `layer1.0.bn2` and `layer1.0.relu` is `layer1.0.add`; the
    second `layer1.0.relu` is `layer1.0.relu_1`.
    """
    modules = _modules_of_calls([node.name for node in nodes])
    taken = {node.name for node in nodes}
    seen: set[str] = set()
    found: list[Node] = []
    for node, module in zip(nodes, modules, strict=True):
        function = _FUNCTION.match(node.name)
        base = node.name if function is None else ".".join((*module, function[1]))
        name, attempt = base, 0
        while name in seen or (name in taken and name != node.name):
            attempt += 1
            name = f"{base}_{attempt}"
        seen.add(name)
        found.append(replace(node, name=name))
    return found


def _modules_of_calls(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield for each node the path that the modules of its neighbours have in common."""
    own = [None if _FUNCTION.match(name) else tuple(name.split(".")[:-1]) for name in names]
    before, after = _filled(own), _filled(own[::-1])[::-1]
    for one, other in zip(before, after, strict=True):
        same = (left == right for left, right in zip(one, other, strict=False))
        yield one[: sum(takewhile(bool, same))]


def _filled(modules: Sequence[tuple[str, ...] | None]) -> list[tuple[str, ...]]:
    """Return the modules, the one before in the place of None."""
    found: list[tuple[str, ...]] = []
    for module in modules:
        last = found[-1] if found else ()
        found.append(last if module is None else module)
    return found


def check_ops(graph: Graph, report: Report) -> None:
    """Report every op type that is not supported, and every attribute that its op does not have."""
    for node in graph.nodes:
        check_op(node, report)


def check_op(node: Node, report: Report) -> bool:
    """Report what is wrong with one node's op type and attributes; return whether nothing is."""
    supported = op_types()
    if node.op_type in supported:
        return check_attributes(node.op_type, node.name, node.attributes, report)
    hint = did_you_mean(node.op_type, supported, f"supported: {', '.join(supported)}")
    report.add(node.offset, f"unsupported op_type '{node.op_type}'", node.name, hint)
    return False


def check_names(graph: Graph, report: Report) -> None:
    """Report names that do not fit: unknown, made twice, read before they are made."""
    for what, names in (("inputs", graph.inputs), ("outputs", graph.outputs)):
        for name in {name for name in names if names.count(name) > 1}:
            report.add(graph.offset, f"expected {what} of graph to differ, got '{name}' twice")
    _check_inputs(graph, report)
    made = {*graph.inputs, *(name for name in graph.values if graph.is_constant(name))}
    later = {name for node in graph.nodes for name in node.outputs}
    for node in graph.nodes:
        _check_node_names(node, made, later, report)
    for name in graph.outputs:
        if name not in made:
            report.add(graph.offset, f"expected a node that makes graph output '{name}', got none")
    for name, entry in graph.values.items():
        _check_entry(graph, name, entry, report)


def _check_node_names(node: Node, made: set[str], later: set[str], report: Report) -> None:
    """Check one node against the names `made` before it, then add its own."""
    for name in node.inputs:
        if name not in made:
            hint = "nodes are listed in the order they run" if name in later else None
            message = (
                f"expected input '{name}' to be a graph input, a constant or an earlier result"
            )
            report.add(node.offset, message, node.name, hint)
    if len(node.outputs) != 1:
        report.add(node.offset, f"expected one output, got {len(node.outputs)}", node.name)
    for name in node.outputs:
        if name in made:
            report.add(node.offset, f"expected one producer of '{name}', got two", node.name)
        made.add(name)


def _check_inputs(graph: Graph, report: Report) -> None:
    for name in graph.inputs:
        if name not in graph.values:
            report.add(graph.offset, f"expected an entry in values for graph input '{name}'")
        elif graph.is_constant(name):
            offset = graph.values[name].offset
            report.add(offset, f"expected graph input '{name}' to have no path, it is a constant")


def _check_entry(graph: Graph, name: str, entry: ValueEntry, report: Report) -> None:
    if entry.path is not None and (entry.shape is None or entry.dtype is None):
        report.add(entry.offset, f"expected constant '{name}' to have a shape and a dtype")
    elif name in graph.inputs and (entry.shape is None or entry.dtype is None):
        report.add(entry.offset, f"expected graph input '{name}' to have a shape and a dtype")


def check_live_shapes(graph: Graph, report: Report) -> None:
    """Report values without a shape that have uses, Python values apart."""
    read = {name for node in graph.nodes for name in node.inputs} | set(graph.outputs)
    for node in graph.nodes:
        if node.op_type in PYTHON_OPS:
            continue
        for name in node.outputs:
            entry = graph.values.get(name)
            if name not in read or (entry is not None and entry.shape is not None):
                continue
            got = "no entry in values" if entry is None else "null"
            offset = node.offset if entry is None else entry.offset
            report.add(
                offset, f"expected a shape of value '{name}', which is read, got {got}", node.name
            )
