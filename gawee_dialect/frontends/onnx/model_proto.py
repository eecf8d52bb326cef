"""ModelProto, the file format of ONNX, as plain data; needs the package `onnx`."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Protocol

import numpy as np
from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.frontends.metadata import nest
from gawee_dialect.frontends.onnx.model import (
    Array,
    AttributeReference,
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxValue,
)
from gawee_dialect.frontends.onnx.raw_data import cut_raw_data
from gawee_dialect.frontends.onnx.registry import is_registered
from gawee_dialect.frontends.onnx.text_fields import Message, not_text
from gawee_dialect.located_json import JsonValue
from gawee_dialect.parameters.contained_file import FileProblem, find_inside
from gawee_dialect.source import Source

METADATA_PREFIX = "gawee."
"""What keys of metadata of ours begin with."""
EXTERNAL = 1
"""TensorProto.DataLocation of data in a file of its own."""

AS_IN_MEMORY = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13))
"""TensorProto.DataType of the elements that raw data has as NumPy has them, little-endian."""


class _Entry(Protocol):
    key: str
    value: str


class _Dim(Protocol):
    dim_value: int
    dim_param: str

    def HasField(self, name: str) -> bool: ...


class _Shape(Protocol):
    dim: Sequence[_Dim]


class _TensorType(Protocol):
    elem_type: int
    shape: _Shape

    def HasField(self, name: str) -> bool: ...


class _Type(Protocol):
    tensor_type: _TensorType

    def HasField(self, name: str) -> bool: ...


class _ValueInfo(Protocol):
    name: str
    type: _Type


class _Tensor(Protocol):
    name: str
    dims: Sequence[int]
    data_type: int
    data_location: int
    raw_data: bytes
    external_data: Sequence[_Entry]


class _Attribute(Protocol):
    name: str
    type: int
    ref_attr_name: str
    t: _Tensor
    g: "_Graph"


class _Node(Protocol):
    name: str
    op_type: str
    domain: str
    input: Sequence[str]
    output: Sequence[str]
    attribute: Sequence[_Attribute]
    metadata_props: Sequence[_Entry]

    def SerializeToString(self) -> bytes: ...


class _Graph(Protocol):
    name: str
    node: Sequence[_Node]
    input: Sequence[_ValueInfo]
    output: Sequence[_ValueInfo]
    initializer: Sequence[_Tensor]
    sparse_initializer: Sequence[object]


class _OpSet(Protocol):
    domain: str
    version: int


class _Function(Protocol):
    name: str
    domain: str
    input: Sequence[str]
    output: Sequence[str]
    attribute: Sequence[str]
    attribute_proto: Sequence[_Attribute]
    node: Sequence[_Node]
    opset_import: Sequence[_OpSet]


class _FunctionMessage(_Function, Protocol):
    def ParseFromString(self, data: bytes) -> int: ...


class _Model(Message, Protocol):
    graph: _Graph
    opset_import: Sequence[_OpSet]
    functions: Sequence[_Function]

    def ParseFromString(self, data: bytes) -> int: ...


def read_model(source: Source, folder: Path | None, data: Array | None = None) -> OnnxModel:
    """Decode a model; arrays in files of their own are mapped from `folder`, where it is known.

    data: the bytes of the source, of which large arrays are views; those in memory unless given.

    Raises GaweeError for bytes that are no model, for a file that leaves the folder, and where the
    package `onnx` is not installed.
    """
    try:
        new_model: Callable[[], _Model] = getattr(import_module("onnx"), "ModelProto")
    except ModuleNotFoundError as error:
        raise GaweeError(
            Diagnostic(
                f"cannot read '{source.name}' without the package 'onnx'",
                hint="pip install 'gawee-dialect[onnx]'",
            )
        ) from error
    model, cut = new_model(), cut_raw_data(source.data)
    try:
        model.ParseFromString(cut.data)
    except Exception as error:
        text = f"cannot read an ONNX model: {first_line(error)}"
        raise GaweeError(Diagnostic(text, source.name, hint="is the file cut off?")) from error
    field = not_text(model)
    if field is not None:
        text = f"cannot read an ONNX model: expected field '{field}' to be text in UTF-8"
        raise GaweeError(Diagnostic(text, source.name))
    if not model.opset_import or not model.graph.output:
        raise GaweeError(
            Diagnostic("expected an ONNX model with opsets and outputs, got none", source.name)
        )
    reader = _Reader(source, folder)
    reader.data = np.frombuffer(source.data, np.uint8) if data is None else data
    reader.raw = [*cut.raw, *[None] * (len(model.graph.initializer) - len(cut.raw))]
    return reader.model(model)


def read_function(data: bytes) -> OnnxFunction:
    """Decode a FunctionProto of the standard."""
    new_function: Callable[[], _FunctionMessage] = getattr(import_module("onnx"), "FunctionProto")
    function = new_function()
    function.ParseFromString(data)
    return _Reader(Source("<standard>", b""), None).function(function)


class _Reader:
    def __init__(self, source: Source, folder: Path | None) -> None:
        self.source = source
        self.folder = folder
        self.data: Array = np.empty(0, np.uint8)
        self.raw: Sequence[slice | None] = ()
        """Where in `data` the elements are that each initializer of the model lacks."""
        helper = import_module("onnx.helper")
        self.to_array: Callable[[_Tensor], Array] = getattr(
            import_module("onnx.numpy_helper"), "to_array"
        )
        self.attribute_value: Callable[[_Attribute], object] = getattr(
            helper, "get_attribute_value"
        )
        self.dtype: Callable[[int], np.dtype[np.generic]] = getattr(
            helper, "tensor_dtype_to_np_dtype"
        )

    def model(self, model: _Model) -> OnnxModel:
        """Return the whole model."""
        functions = {
            f"{each.domain}.{each.name}".removeprefix("."): self.function(each)
            for each in model.functions
        }
        initializers = {
            each.name: self._array(each) if raw is None else self._view(each, raw)
            for each, raw in zip(model.graph.initializer, self.raw, strict=True)
        }
        graph = self._graph(model.graph, initializers)
        return OnnxModel(graph, _opsets(model.opset_import), functions)

    def function(self, function: _Function) -> OnnxFunction:
        """Return a function."""
        defaults = {each.name: self._attribute(each) for each in function.attribute_proto}
        return OnnxFunction(
            list(function.input),
            list(function.output),
            {**dict.fromkeys(function.attribute), **defaults},
            self._nodes(function.node),
            _opsets(function.opset_import),
        )

    def _graph(self, graph: _Graph, initializers: Mapping[str, Array] | None = None) -> OnnxGraph:
        if len(graph.sparse_initializer):
            raise self._problem("unsupported sparse initializers; supported: dense ones")
        return OnnxGraph(
            graph.name,
            self._nodes(graph.node),
            [self._value(each) for each in graph.input],
            [self._value(each) for each in graph.output],
            {each.name: self._array(each) for each in graph.initializer}
            if initializers is None
            else initializers,
        )

    def _problem(self, text: str, node: str | None = None) -> GaweeError:
        return GaweeError(Diagnostic(text, self.source.name, node))

    def _nodes(self, nodes: Sequence[_Node]) -> list[OnnxNode]:
        return [
            OnnxNode(
                node.name or f"{node.op_type}_{index}",
                node.op_type,
                list(node.input),
                list(node.output),
                {each.name: self._attribute(each) for each in node.attribute},
                node.domain,
                _metadata(node.metadata_props),
                None if is_registered(node.domain, node.op_type) else node.SerializeToString(),
            )
            for index, node in enumerate(nodes)
        ]

    def _value(self, value: _ValueInfo) -> OnnxValue:
        if not value.type.HasField("tensor_type"):
            return OnnxValue(value.name, "a value that is no tensor", None)
        type = value.type.tensor_type
        try:
            dtype = self.dtype(type.elem_type).name
        except KeyError:
            dtype = f"ONNX type {type.elem_type}"
        shape = [
            # Some writers have a size that is open as -1.
            each.dim_value
            if each.HasField("dim_value") and each.dim_value >= 0
            else each.dim_param or "?"
            for each in type.shape.dim
        ]
        return OnnxValue(value.name, dtype, shape if type.HasField("shape") else None)

    def _attribute(self, attribute: _Attribute) -> object:
        if attribute.ref_attr_name:
            return AttributeReference(attribute.ref_attr_name)
        if attribute.type == 4:
            return self._array(attribute.t)
        if attribute.type == 5:
            return self._graph(attribute.g)
        value = self.attribute_value(attribute)
        if isinstance(value, bytes):
            return value.decode(errors="replace")
        if isa(value, list[object]):
            return [v.decode(errors="replace") if isinstance(v, bytes) else v for v in value]
        return value

    def _array(self, tensor: _Tensor) -> Array:
        if tensor.data_location == EXTERNAL:
            return self._external(tensor)
        try:
            return self.to_array(tensor)
        except (TypeError, ValueError, KeyError) as error:
            text = f"tensor '{tensor.name}': {first_line(error)}"
            raise self._problem(f"cannot read data of {text}") from error

    def _view(self, tensor: _Tensor, raw: slice) -> Array:
        """Return a tensor whose data is still among the bytes of the model."""
        data, shape = self.data[raw], tuple(tensor.dims)
        if tensor.data_type in AS_IN_MEMORY and tensor.data_location != EXTERNAL:
            dtype = self.dtype(tensor.data_type)
            fits = prod(shape) * dtype.itemsize == len(data) and min(shape, default=0) >= 0
            if fits and sys.byteorder == "little":
                return data.view(dtype).reshape(shape)
        tensor.raw_data = data.tobytes()
        return self._array(tensor)

    def _external(self, tensor: _Tensor) -> Array:
        """Map the data of a tensor that is in a file of its own."""
        keys: Mapping[str, str] = {each.key: each.value for each in tensor.external_data}
        try:
            dtype = self.dtype(tensor.data_type)
        except KeyError:
            text = f"tensor '{tensor.name}': unsupported ONNX type {tensor.data_type}"
            raise self._problem(text) from None
        shape = tuple(tensor.dims)
        if self.folder is None or prod(shape) == 0:
            return np.broadcast_to(np.zeros((), dtype), shape)
        try:
            offset = int(keys.get("offset", "0"))
            file = find_inside(self.folder, keys.get("location", ""))
            size = file.stat().st_size
            needed = offset + prod(shape) * dtype.itemsize
            if offset < 0 or needed > size:
                raise FileProblem(f"expected file of at least {needed} bytes, got {size}")
            return np.memmap(file, dtype, "r", offset, shape)
        except (FileProblem, ValueError) as problem:
            raise self._problem(f"tensor '{tensor.name}': {problem}") from problem


def _metadata(properties: Sequence[_Entry]) -> dict[str, JsonValue] | None:
    """Return what we say of a node; other tools' keys, such as whole stack traces, are theirs."""
    own = [each for each in properties if each.key.startswith(METADATA_PREFIX)]
    try:
        return nest(
            {each.key.removeprefix(METADATA_PREFIX): json.loads(each.value) for each in own}
        )
    except (ValueError, RecursionError):
        return None


def _opsets(entries: Sequence[_OpSet]) -> dict[str, int]:
    return {"" if each.domain == "ai.onnx" else each.domain: each.version for each in entries}
