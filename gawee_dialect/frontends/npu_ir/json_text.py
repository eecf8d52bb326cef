"""NPU_IR as JSON text, read and written: one line a tensor of the graph, one line a node.

Every layout of files that is read becomes the one that `ir.py` describes.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite, isnan
from pathlib import Path

from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.open_size import OpenSize, SizeName, name_of_range, parse_size
from gawee_dialect.frontends.graph import Report
from gawee_dialect.frontends.npu_ir.ir import (
    NPU_IR,
    SIZE,
    Attributes,
    AttributeValue,
    Constant,
    OpNode,
    Place,
    SerializationError,
    TensorMeta,
    place_text,
)
from gawee_dialect.frontends.npu_ir.validate import validate_ir
from gawee_dialect.frontends.npu_ir.weights import DataProblem, constant_data, read_constant
from gawee_dialect.located_json import JsonObject, JsonValue, decode_json, value_text
from gawee_dialect.source import Source
from gawee_dialect.whole_file import write_file

# Older layouts of NPU_IR files, made into the one that `ir.py` describes.
#
# | layout | has not | has |
# |---|---|---|
# | documentation | producers, sometimes dtypes and the mapping | weights by placeholder |
# | A | producers | `shape` of view, `dims` of transpose |
# | B | constants, masks of None | producers, names of the schema |
# | C | nulls of optional tensors | everything else |

MISSING_DTYPE = ""
"""The dtype of a tensor whose entry has none, until `normalize` fills it in."""

DEFAULT_DTYPE = "float32"
"""What all tensors are in a file that names no dtype at all."""


def normalize(ir: NPU_IR) -> list[Diagnostic]:
    """Fill in, in place, what an older layout leaves to its reader; return what cannot be."""
    _name_weights(ir)
    _fill_producers(ir)
    for node in ir.nodes:
        _rename_attributes(node)
        _write_nulls(node, ir)
    return _fill_dtypes(ir)


def _name_weights(ir: NPU_IR) -> None:
    """Call weights that are listed by placeholder by their name in the state_dict."""
    listed = {weight.name for weight in ir.weights}
    for weight in ir.weights:
        name = ir.weight_name_mapping.get(weight.name)
        if name is not None and name not in listed:
            weight.name = name


def _fill_producers(ir: NPU_IR) -> None:
    made = {each.name: (each.name, 0) for each in ir.graph_inputs}
    for node in ir.nodes:
        for each in node.inputs:
            if each.producer_node is None and each.name in made:
                each.producer_node, each.producer_output_idx = made[each.name]
        made.update((each.name, (node.name, index)) for index, each in enumerate(node.outputs))


def _rename_attributes(node: OpNode) -> None:
    """Name arguments of layout A as the schema does."""
    op, attrs = node.op_type.removeprefix("aten.").partition(".")[0], node.attrs
    if op in ("view", "expand") and "shape" in attrs and "size" not in attrs:
        attrs["size"] = attrs.pop("shape")
    dims = attrs.get("dims")
    if op == "transpose" and isinstance(dims, list) and len(dims) == 2:
        del attrs["dims"]
        attrs["dim0"], attrs["dim1"] = dims


def _write_nulls(node: OpNode, ir: NPU_IR) -> None:
    """Write the nulls of normalizations without scale, whose tensors would shift otherwise."""
    op = node.op_type.removeprefix("aten.").partition(".")[0]
    # Running statistics are always there in these: three inputs are what is normalized and those.
    evaluating = op == "_native_batch_norm_legit_no_training" or node.attrs.get("training") is False
    if op.endswith(("batch_norm", "_no_training")) and evaluating and len(node.inputs) == 3:
        node.attrs.setdefault("weight", None)
        node.attrs.setdefault("bias", None)
    if op in ("layer_norm", "native_layer_norm", "group_norm") and len(node.inputs) == 2:
        second = ir.weight_name_mapping.get(node.inputs[1].name, node.inputs[1].name)
        if second.endswith(("bias", "_bias")) and "bias" not in node.attrs:
            node.attrs.setdefault("weight", None)


def _all_tensors(ir: NPU_IR) -> Iterator[TensorMeta]:
    yield from ir.graph_inputs
    yield from ir.weights
    for node in ir.nodes:
        for graph in node.graphs.values():
            yield from _all_tensors(graph)
        yield from node.outputs
        yield from node.inputs
    yield from ir.graph_outputs


def _fill_dtypes(ir: NPU_IR) -> list[Diagnostic]:
    tensors = list(_all_tensors(ir))
    missing = [each for each in tensors if each.dtype == MISSING_DTYPE]
    if len(missing) == len(tensors):
        for each in missing:
            each.dtype = DEFAULT_DTYPE
        return []
    known = {each.name: each.dtype for each in tensors if each.dtype != MISSING_DTYPE}
    known.update((name, each.dtype) for name, each in ir.placeholders() if each.dtype)
    problems: list[Diagnostic] = []
    for each in missing:
        each.dtype = known.get(each.name, MISSING_DTYPE)
        if each.dtype == MISSING_DTYPE:
            message = f"expected tensor '{each.name}' to have key 'dtype'"
            problems.append(Diagnostic(message, place_text(each.place)))
    return problems


ROOT_KEYS = (
    *("model_name", "pytorch_version", "graph_inputs", "graph_outputs", "weights"),
    *("weight_name_mapping", "nodes", "constants", "sizes"),
)
NODE_KEYS = ("name", "op_type", "inputs", "outputs", "attrs", "graphs")
TENSOR_KEYS = ("name", "shape", "dtype", "producer_node", "producer_output_idx")

NON_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
"""How numbers are written that JSON does not have."""


def load_ir(path: str | Path) -> NPU_IR:
    """Read a graph from a file; raises SerializationError that lists every problem, and OSError."""
    return read_ir(Source.read(path))


def parse_ir(text: str, name: str = "<string>", *, validate: bool = True) -> NPU_IR:
    """Read a graph from JSON text, as `read_ir` does; `name` is what messages call it."""
    return read_ir(Source.of_text(text, name), validate=validate)


def read_ir(source: Source, *, validate: bool = True) -> NPU_IR:
    """Read a graph from JSON text.

    Raises SerializationError that lists every problem of the structure, or, where that is sound,
    every contradiction in the graph unless `validate` is false.
    """
    try:
        root = decode_json(source, non_finite=True)
    except GaweeError as error:
        raise SerializationError(error.diagnostics) from error
    reader = _Reader(Report(source))
    ir = reader.graph(root)
    reader.report.raise_if_any(SerializationError)
    problems = normalize(ir)
    if problems:
        raise SerializationError(problems)
    if validate:
        validate_ir(ir)
    return ir


class _Reader:
    """Turns decoded JSON into a graph; what it cannot read it reports, and leaves empty."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._names: dict[str, SizeName] = {}

    def graph(self, root: JsonValue) -> NPU_IR:
        ir = NPU_IR([], [], [], [])
        if not isinstance(root, JsonObject):
            self.report.add(0, f"expected a graph to be an object, got {value_text(root)}")
            return ir
        self._require(root, "graph", ("graph_inputs", "graph_outputs", "weights", "nodes"))
        ir.place = self._place(root)
        self._read_ranges(root)
        ir.model_name = self._text(root, "model_name", "graph", "model")
        ir.pytorch_version = self._text(root, "pytorch_version", "graph", "")
        ir.graph_inputs = self._tensors(root, "graph_inputs", "graph")
        ir.graph_outputs = self._tensors(root, "graph_outputs", "graph")
        ir.weights = self._tensors(root, "weights", "graph")
        ir.weight_name_mapping = self._mapping(root)
        ir.nodes = [self._node(node, root) for node in self._list(root, "nodes", "graph")]
        ir.constants = self._constants(root)
        ir.extra = self._extra(root, ROOT_KEYS)
        return ir

    def _place(self, where: JsonObject) -> Place:
        return (self.report.source.name, *self.report.source.line_column(where.offset))

    def _require(self, where: JsonObject, what: str, keys: Sequence[str]) -> None:
        missing = [key for key in keys if key not in where]
        if missing:
            self.report.add(
                where.offset, f"expected {what} to have key {', '.join(map(repr, missing))}"
            )

    def _list(self, where: JsonObject, key: str, what: str) -> list[JsonValue]:
        value = where.get(key, [])
        if isinstance(value, list):
            return value
        self.report.add(
            where.offset, f"expected '{key}' of {what} to be a list, got {value_text(value)}"
        )
        return []

    def _text(self, where: JsonObject, key: str, what: str, otherwise: str) -> str:
        value = where.get(key, otherwise)
        if isinstance(value, str):
            return value
        self.report.add(
            where.offset, f"expected '{key}' of {what} to be text, got {value_text(value)}"
        )
        return otherwise

    def _mapping(self, root: JsonObject) -> dict[str, str]:
        value = root.get("weight_name_mapping", JsonObject())
        if isa(value, dict[str, str]):
            return dict(value)
        message = "expected 'weight_name_mapping' of graph to map text to text"
        self.report.add(root.offset, message)
        return {}

    def _read_ranges(self, root: JsonObject) -> None:
        """Read which values the names of sizes may have."""
        value = root.get("sizes", JsonObject())
        if not isa(value, dict[str, str]):
            self.report.add(root.offset, "expected 'sizes' of graph to map names to ranges")
            return
        for name, text in value.items():
            try:
                self._names[name] = name_of_range(name, text)
            except VerifyException as error:
                self.report.add(value.offset if isinstance(value, JsonObject) else 0, str(error))

    def _size(self, text: str) -> int:
        """Return the size that a text says; raises VerifyException."""
        return parse_size(text, self._name)

    def _name(self, name: str) -> SizeName:
        if name not in self._names:
            known = ", ".join(self._names) or "none"
            raise VerifyException(f"unknown size '{name}'; 'sizes' of the graph: {known}")
        return self._names[name]

    def _extra(self, where: JsonObject, known: Sequence[str]) -> Attributes:
        return {key: attribute(value) for key, value in where.items() if key not in known}

    def _tensors(self, where: JsonObject, key: str, what: str) -> list[TensorMeta]:
        return [
            self._tensor(entry, where, f"'{key}[{index}]' of {what}")
            for index, entry in enumerate(self._list(where, key, what))
        ]

    def _tensor(self, entry: JsonValue, around: JsonObject, what: str) -> TensorMeta:
        if not isinstance(entry, JsonObject):
            self.report.add(
                around.offset, f"expected {what} to be an object, got {value_text(entry)}"
            )
            return TensorMeta("", (), MISSING_DTYPE)
        self._require(entry, what, ("name", "shape"))
        producer, index = entry.get("producer_node"), entry.get("producer_output_idx", 0)
        if producer is not None and not isinstance(producer, str):
            message = f"expected 'producer_node' of {what} to be text, got {value_text(producer)}"
            self.report.add(entry.offset, message)
            producer = None
        if not isinstance(index, int) or isinstance(index, bool):
            got = value_text(index)
            message = f"expected 'producer_output_idx' of {what} to be an integer, got {got}"
            self.report.add(entry.offset, message)
            index = 0
        return TensorMeta(
            self._text(entry, "name", what, ""),
            self._shape(entry, what),
            self._text(entry, "dtype", what, MISSING_DTYPE).removeprefix("torch."),
            producer,
            index,
            self._extra(entry, TENSOR_KEYS),
            self._place(entry),
        )

    def _shape(self, entry: JsonObject, what: str) -> tuple[int, ...]:
        found: list[int] = []
        for size in self._list(entry, "shape", what):
            if isinstance(size, int) and not isinstance(size, bool):
                found.append(size)
                continue
            hint = "only numbers, and forms of the names in 'sizes' of the graph, are supported"
            try:
                if isinstance(size, str):
                    found.append(self._size(size))
                    continue
            except VerifyException as error:
                hint = str(error)
            got = value_text(size)
            message = f"expected sizes in 'shape' of {what} to be integers, got {got}"
            self.report.add(entry.offset, message, hint=hint)
        return tuple(found)

    def _node(self, entry: JsonValue, root: JsonObject) -> OpNode:
        if not isinstance(entry, JsonObject):
            self.report.add(
                root.offset, f"expected a node to be an object, got {value_text(entry)}"
            )
            return OpNode("", "", [], [])
        name = entry.get("name")
        what = f"node '{name}'" if isinstance(name, str) else "a node"
        self._require(entry, what, ("name", "op_type", "inputs", "outputs"))
        attrs = entry.get("attrs") or JsonObject()
        if not isinstance(attrs, JsonObject):
            message = f"expected 'attrs' of {what} to be an object, got {value_text(attrs)}"
            self.report.add(entry.offset, message)
            attrs = JsonObject()
        graphs = entry.get("graphs") or JsonObject()
        if not isinstance(graphs, JsonObject):
            message = f"expected 'graphs' of {what} to be an object, got {value_text(graphs)}"
            self.report.add(entry.offset, message)
            graphs = JsonObject()
        return OpNode(
            self._text(entry, "name", what, ""),
            self._text(entry, "op_type", what, ""),
            self._tensors(entry, "inputs", what),
            self._tensors(entry, "outputs", what),
            self._attributes(attrs, what),
            self._extra(entry, NODE_KEYS),
            self._place(entry),
            {key: self.graph(value) for key, value in graphs.items()},
        )

    def _attributes(self, attrs: JsonObject, what: str) -> Attributes:
        try:
            return {key: attribute(value, self._size) for key, value in attrs.items()}
        except VerifyException as error:
            self.report.add(attrs.offset, f"'attrs' of {what}: {error}")
            return {}

    def _constants(self, root: JsonObject) -> dict[str, Constant]:
        entries = root.get("constants") or JsonObject()
        if not isinstance(entries, JsonObject):
            message = f"expected 'constants' of graph to be an object, got {value_text(entries)}"
            self.report.add(root.offset, message)
            return {}
        constants: dict[str, Constant] = {}
        for name, entry in entries.items():
            try:
                constants[name] = read_constant(entry)
            except DataProblem as problem:
                offset = entry.offset if isinstance(entry, JsonObject) else entries.offset
                self.report.add(offset, f"constant '{name}': {problem}")
        return constants


def attribute(value: JsonValue, size: Callable[[str], int] | None = None) -> AttributeValue:
    """Return a decoded value as an attribute: numbers that JSON does not have as floats.

    `size` reads sizes that are open, where there can be any; what it raises is raised.
    """
    if isinstance(value, str):
        return NON_FINITE.get(value, value)
    if isinstance(value, list):
        return [attribute(entry, size) for entry in value]
    if isinstance(value, dict):
        form = value.get(SIZE)
        if size is not None and isinstance(form, str) and len(value) == 1:
            return size(form)
        return {key: attribute(entry, size) for key, entry in value.items()}
    return value


def save_ir(ir: NPU_IR, path: str | Path) -> None:
    """Write a graph as JSON; raises SerializationError where it contradicts itself."""
    validate_ir(ir)
    write_file(Path(path), ir_text(ir))


def ir_text(ir: NPU_IR) -> str:
    """Return a graph as JSON text; `read.parse_ir` makes the same graph of it again."""
    entries = [
        f'"model_name": {_text(ir.model_name)}',
        f'"pytorch_version": {_text(ir.pytorch_version)}',
        _listing("graph_inputs", map(_tensor, ir.graph_inputs)),
        _listing("graph_outputs", map(_tensor, ir.graph_outputs)),
        *([_table("sizes", ranges)] if (ranges := _ranges(ir)) else []),
        _listing("weights", map(_tensor, ir.weights)),
        _table("weight_name_mapping", list(ir.weight_name_mapping.items())),
        _listing("nodes", map(_node, ir.nodes)),
        _table(
            "constants",
            [
                (name, {"data": constant_data(constant), "dtype": constant.dtype})
                for name, constant in ir.constants.items()
            ],
        ),
        *(f"{_text(key)}: {_text(value)}" for key, value in ir.extra.items()),
    ]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _ranges(ir: NPU_IR) -> Sequence[tuple[str, AttributeValue]]:
    return [(each.name, each.range_text()) for each in ir.size_names]


def _listing(key: str, entries: Iterable[AttributeValue]) -> str:
    lines = ",\n  ".join(map(_text, entries))
    return f'"{key}": [\n  {lines}\n]' if lines else f'"{key}": []'


def _table(key: str, entries: Sequence[tuple[str, AttributeValue]]) -> str:
    lines = ",\n  ".join(f"{_text(name)}: {_text(value)}" for name, value in entries)
    return f'"{key}": {{\n  {lines}\n}}' if lines else f'"{key}": {{}}'


def _tensor(tensor: TensorMeta) -> AttributeValue:
    entry: dict[str, AttributeValue] = {
        "name": tensor.name,
        "shape": [str(size) if isinstance(size, OpenSize) else size for size in tensor.shape],
        "dtype": tensor.dtype,
    }
    if tensor.producer_node is not None:
        entry["producer_node"] = tensor.producer_node
        entry["producer_output_idx"] = tensor.producer_output_idx
    return {**entry, **tensor.extra}


def _node(node: OpNode) -> AttributeValue:
    return {
        "name": node.name,
        "op_type": node.op_type,
        "inputs": [_tensor(each) for each in node.inputs],
        "outputs": [_tensor(each) for each in node.outputs],
        "attrs": node.attrs,
        **({"graphs": graphs} if (graphs := _graphs(node)) else {}),
        **node.extra,
    }


def _graphs(node: OpNode) -> dict[str, AttributeValue]:
    """Return the graphs of a node of control flow, which have no weights of their own."""
    return {
        name: {
            "graph_inputs": [_tensor(each) for each in graph.graph_inputs],
            "graph_outputs": [_tensor(each) for each in graph.graph_outputs],
            "weights": [],
            "nodes": [_node(each) for each in graph.nodes],
        }
        for name, graph in node.graphs.items()
    }


def _text(value: AttributeValue) -> str:
    return json.dumps(_finite(value), allow_nan=False, ensure_ascii=False)


def _finite(value: AttributeValue) -> AttributeValue:
    """Return a value with numbers that JSON does not have as text: `inf`, `-inf`, `nan`."""
    if isinstance(value, OpenSize):
        return {SIZE: str(value)}
    if isinstance(value, float) and not isfinite(value):
        return "nan" if isnan(value) else str(value)
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    return value
