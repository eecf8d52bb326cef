"""NPU_IR from JSON text: every layout of files becomes the one that `ir.py` describes."""

from collections.abc import Sequence
from pathlib import Path

from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.constant_data import DataProblem, read_constant
from gawee_dialect.frontends.npu_ir.errors import SerializationError
from gawee_dialect.frontends.npu_ir.ir import (
    NPU_IR,
    Attributes,
    AttributeValue,
    Constant,
    OpNode,
    Place,
    TensorMeta,
)
from gawee_dialect.frontends.npu_ir.layouts import MISSING_DTYPE, normalize
from gawee_dialect.frontends.npu_ir.validate import validate_ir
from gawee_dialect.frontends.report import Report
from gawee_dialect.located_json import JsonObject, JsonValue, decode_json, value_text
from gawee_dialect.source import Source

ROOT_KEYS = (
    *("model_name", "pytorch_version", "graph_inputs", "graph_outputs", "weights"),
    *("weight_name_mapping", "nodes", "constants"),
)
NODE_KEYS = ("name", "op_type", "inputs", "outputs", "attrs")
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

    def graph(self, root: JsonValue) -> NPU_IR:
        ir = NPU_IR([], [], [], [])
        if not isinstance(root, JsonObject):
            self.report.add(0, f"expected a graph to be an object, got {value_text(root)}")
            return ir
        self._require(root, "graph", ("graph_inputs", "graph_outputs", "weights", "nodes"))
        ir.place = self._place(root)
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
        sizes = self._list(entry, "shape", what)
        for size in sizes:
            if not isinstance(size, int) or isinstance(size, bool):
                message = (
                    f"expected sizes in 'shape' of {what} to be integers, got {value_text(size)}"
                )
                self.report.add(entry.offset, message, hint="only static shapes are supported")
        return tuple(size for size in sizes if isinstance(size, int))

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
        return OpNode(
            self._text(entry, "name", what, ""),
            self._text(entry, "op_type", what, ""),
            self._tensors(entry, "inputs", what),
            self._tensors(entry, "outputs", what),
            {key: attribute(value) for key, value in attrs.items()},
            self._extra(entry, NODE_KEYS),
            self._place(entry),
        )

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


def attribute(value: JsonValue) -> AttributeValue:
    """Return a decoded value as an attribute: numbers that JSON does not have as floats."""
    if isinstance(value, str):
        return NON_FINITE.get(value, value)
    if isinstance(value, list):
        return [attribute(entry) for entry in value]
    if isinstance(value, dict):
        return {key: attribute(entry) for key, entry in value.items()}
    return value
