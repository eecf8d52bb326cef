"""ModelProto, the file format of ONNX, as plain data; needs the package `onnx`."""

import json
import mmap
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from typing import Protocol, TypeGuard

import numpy as np
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.open_size import SizeName, name_of_range
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
from gawee_dialect.frontends.onnx.registry import is_registered
from gawee_dialect.located_json import JsonValue
from gawee_dialect.parameters.data_files import FileProblem, find_inside
from gawee_dialect.source import Source

# Finds the large tensors in the bytes of an ONNX model, so that they are not copied.
#
# A ModelProto is fields one after another, each a key and its bytes, as protocol buffers have
# them: https://protobuf.dev/programming-guides/encoding, and onnx.proto for the numbers of the
# fields.

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
"""Fields of a ModelProto, its GraphProto and its TensorProto."""

LEAST = 4096
"""Bytes of data that are worth leaving where they are."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""How the value of a field is written."""


Bytes = bytes | mmap.mmap
"""Those of a file may be mapped: reading fields, slices of them are bytes."""


class Damaged(ValueError):
    """Bytes that are no message of known fields; the reader of the whole model says why."""


@dataclass(frozen=True)
class Field:
    """A field of a message: where it begins, and where its value is."""

    number: int
    kind: int
    begin: int
    start: int
    end: int


@dataclass(frozen=True)
class CutModel:
    """A model without the data of its large initializers."""

    data: bytes
    raw: Sequence[slice | None]
    """Where the data of each initializer was that has none any more."""


def cut_raw_data(data: Bytes) -> CutModel:
    """Return a model without its large data; all of it where its bytes are not as expected."""
    try:
        return _cut_model(data)
    except Damaged:
        return CutModel(bytes(data), ())


def _cut_model(data: Bytes) -> CutModel:
    pieces: list[bytes] = []
    raw: list[slice | None] = []
    for field in _fields(data, 0, len(data)):
        if (field.number, field.kind) == (GRAPH, BYTES):
            pieces += _message(field, _cut_graph(data, field, raw))
        else:
            pieces.append(data[field.begin : field.end])
    return CutModel(b"".join(pieces), raw)


def _cut_graph(data: Bytes, graph: Field, raw: list[slice | None]) -> Sequence[bytes]:
    """Return the pieces of a graph without large data, which is added to `raw`."""
    pieces: list[bytes] = []
    for field in _fields(data, graph.start, graph.end):
        cut = None
        if (field.number, field.kind) == (INITIALIZER, BYTES):
            cut = _large_data(data, field)
            raw.append(None if cut is None else slice(cut.start, cut.end))
        if cut is None:
            pieces.append(data[field.begin : field.end])
        else:
            around = (data[field.start : cut.begin], data[cut.end : field.end])
            pieces += _message(field, around)
    return pieces


def _large_data(data: Bytes, tensor: Field) -> Field | None:
    """Return the field of a tensor's data, where there is one and it is large."""
    if tensor.end - tensor.start < LEAST:
        return None
    found = [each for each in _fields(data, tensor.start, tensor.end) if each.number == RAW_DATA]
    if len(found) != 1 or found[0].kind != BYTES or found[0].end - found[0].start < LEAST:
        return None
    return found[0]


def _message(field: Field, pieces: Sequence[bytes]) -> Sequence[bytes]:
    """Return the pieces of a field whose value is other pieces."""
    key = field.number << 3 | field.kind
    return _varint_bytes(key), _varint_bytes(sum(map(len, pieces))), *pieces


def _varint_bytes(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def _varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = 0
    for index in range(min(10, end - at)):
        byte = data[at + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, at + index + 1
    raise Damaged


def _fields(data: Bytes, at: int, end: int) -> Iterator[Field]:
    """Yield the fields of a message; raises Damaged."""
    while at < end:
        key, start = _varint(data, at, end)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            _, stop = _varint(data, start, end)
        elif kind == BYTES:
            size, start = _varint(data, start, end)
            stop = start + size
        elif kind in (FIXED64, FIXED32):
            stop = start + (8 if kind == FIXED64 else 4)
        else:
            raise Damaged
        if stop > end or number == 0:
            raise Damaged
        yield Field(number, kind, at, start, stop)
        at = stop


# The fields of a protobuf message that have to be text.

STRING = 9
"""FieldDescriptor.TYPE_STRING: text, which the C++ parser of proto2 gives as bytes if it is not."""


class _Field(Protocol):
    name: str
    type: int


class Message(Protocol):
    """A protobuf message as far as its fields are walked over."""

    def ListFields(self) -> Iterable[tuple[_Field, object]]:
        """Return the fields that are set, and what they hold."""
        ...


def not_text(message: Message) -> str | None:
    """Return the name of a field that is no text though it has to be, None where there is none."""
    for field, value in message.ListFields():
        items = value if _is_list(value) else (value,)
        for each in items:
            found = not_text(each) if _is_message(each) else None
            if found is not None:
                return found
            if field.type == STRING and not isinstance(each, str):
                return field.name
    return None


def _is_message(value: object) -> TypeGuard[Message]:
    return hasattr(value, "ListFields")


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return hasattr(value, "append")


METADATA_PREFIX = "gawee."
"""What keys of metadata of ours begin with."""
RANGES = f"{METADATA_PREFIX}ranges"
"""The key of a graph's metadata that says which values names of sizes may have."""
EXTERNAL = 1
"""TensorProto.DataLocation of data in a file of its own."""

AS_IN_MEMORY: Mapping[int, str] = {
    **{1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32"},
    **{7: "int64", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64"},
}
"""TensorProto.DataType of the elements that raw data has as NumPy has them, little-endian."""

VALUES: Mapping[int, str] = {1: "f", 2: "i", 3: "s"}
LISTS: Mapping[int, str] = {6: "floats", 7: "ints", 8: "strings"}
"""AttributeProto.AttributeType and the field that the value is in."""


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

    def HasField(self, name: str) -> bool: ...


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
    overload: str
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
    metadata_props: Sequence[_Entry]


class _OpSet(Protocol):
    domain: str
    version: int


class _Function(Protocol):
    name: str
    domain: str
    overload: str
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


def _new_model() -> Callable[[], _Model]:
    """Return the class of a model; raises ModuleNotFoundError without the package `onnx`.

    What protobuf generated is loaded alone: the rest of the package takes four times as long. The
    class is the same one, as protobuf has one for each message.
    """
    spec = None if "onnx" in sys.modules else find_spec("onnx")
    folder = Path() if spec is None or spec.origin is None else Path(spec.origin).parent
    generated = folder / "onnx_ml_pb2.py"
    alone = spec_from_file_location(f"{__name__}.onnx_ml_pb2", generated)
    if not folder.name or not generated.is_file() or alone is None or alone.loader is None:
        return getattr(import_module("onnx"), "ModelProto")
    module = module_from_spec(alone)
    alone.loader.exec_module(module)
    return getattr(module, "ModelProto")


def read_model(source: Source, folder: Path | None, data: Array | None = None) -> OnnxModel:
    """Decode a model; arrays in files of their own are mapped from `folder`, where it is known.

    data: the bytes of the source, of which large arrays are views; those in memory unless given.

    Raises GaweeError for bytes that are no model, for a file that leaves the folder, and where the
    package `onnx` is not installed.
    """
    try:
        new_model = _new_model()
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


def _dtype(number: int) -> np.dtype[np.generic]:
    """Return the dtype of a TensorProto.DataType; raises KeyError where there is none."""
    if number in AS_IN_MEMORY:
        return np.dtype(AS_IN_MEMORY[number])
    return getattr(import_module("onnx.helper"), "tensor_dtype_to_np_dtype")(number)


def _to_array(tensor: _Tensor) -> Array:
    """Return a tensor as an array; raises TypeError, ValueError or KeyError for what is none."""
    plain = tensor.data_type in AS_IN_MEMORY and sys.byteorder == "little"
    if plain and tensor.HasField("raw_data") and not tensor.HasField("segment"):
        return np.frombuffer(tensor.raw_data, _dtype(tensor.data_type)).reshape(tensor.dims)
    return getattr(import_module("onnx.numpy_helper"), "to_array")(tensor)


class _Reader:
    def __init__(self, source: Source, folder: Path | None) -> None:
        self.source = source
        self.folder = folder
        self.data: Array = np.empty(0, np.uint8)
        self.raw: Sequence[slice | None] = ()
        """Where in `data` the elements are that each initializer of the model lacks."""

    def model(self, model: _Model) -> OnnxModel:
        """Return the whole model."""
        functions = {
            OnnxNode(
                "", each.name, (), (), domain=each.domain, overload=each.overload
            ).function_name: self.function(each)
            for each in model.functions
        }
        initializers = {
            each.name: self._array(each) if raw is None else self._view(each, raw)
            for each, raw in zip(model.graph.initializer, self.raw, strict=True)
        }
        graph = self._graph(model.graph, initializers)
        ranges = _ranges(model.graph.metadata_props)
        return OnnxModel(graph, _opsets(model.opset_import), functions, ranges)

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
                node.overload,
            )
            for index, node in enumerate(nodes)
        ]

    def _value(self, value: _ValueInfo) -> OnnxValue:
        if not value.type.HasField("tensor_type"):
            return OnnxValue(value.name, "a value that is no tensor", None)
        type = value.type.tensor_type
        try:
            dtype = _dtype(type.elem_type).name
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
        if attribute.type in VALUES:
            value: object = getattr(attribute, VALUES[attribute.type])
        elif attribute.type in LISTS:
            value = list(getattr(attribute, LISTS[attribute.type]))
        else:
            value = getattr(import_module("onnx.helper"), "get_attribute_value")(attribute)
        if isinstance(value, bytes):
            return value.decode(errors="replace")
        if isa(value, list[object]):
            return [v.decode(errors="replace") if isinstance(v, bytes) else v for v in value]
        return value

    def _array(self, tensor: _Tensor) -> Array:
        if tensor.data_location == EXTERNAL:
            return self._external(tensor)
        try:
            return _to_array(tensor)
        except (TypeError, ValueError, KeyError) as error:
            text = f"tensor '{tensor.name}': {first_line(error)}"
            raise self._problem(f"cannot read data of {text}") from error

    def _view(self, tensor: _Tensor, raw: slice) -> Array:
        """Return a tensor whose data is still among the bytes of the model."""
        data, shape = self.data[raw], tuple(tensor.dims)
        if tensor.data_type in AS_IN_MEMORY and tensor.data_location != EXTERNAL:
            dtype = _dtype(tensor.data_type)
            fits = prod(shape) * dtype.itemsize == len(data) and min(shape, default=0) >= 0
            if fits and sys.byteorder == "little":
                return data.view(dtype).reshape(shape)
        tensor.raw_data = data.tobytes()
        return self._array(tensor)

    def _external(self, tensor: _Tensor) -> Array:
        """Map the data of a tensor that is in a file of its own."""
        keys: Mapping[str, str] = {each.key: each.value for each in tensor.external_data}
        try:
            dtype = _dtype(tensor.data_type)
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


def _ranges(properties: Sequence[_Entry]) -> Mapping[str, SizeName]:
    """Return what we said of sizes with names; none where that is no such thing."""
    try:
        found = [json.loads(each.value) for each in properties if each.key == RANGES]
        return {
            name: name_of_range(name, text)
            for each in found
            if isa(each, dict[str, str])
            for name, text in each.items()
        }
    except (ValueError, RecursionError, VerifyException):
        return {}


def _opsets(entries: Sequence[_OpSet]) -> dict[str, int]:
    return {"" if each.domain == "ai.onnx" else each.domain: each.version for each in entries}
