"""Finds the large tensors in the bytes of an ONNX model, so that nobody copies them.

A ModelProto is fields one after another, each a key and its bytes, as protocol buffers have them:
https://protobuf.dev/programming-guides/encoding, and onnx.proto for the numbers of the fields.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
"""Fields of a ModelProto, its GraphProto and its TensorProto."""

LEAST = 4096
"""Bytes of data that are worth leaving where they are."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""How the value of a field is written."""


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


def cut_raw_data(data: bytes) -> CutModel:
    """Return a model without its large data; all of it where its bytes are not as expected."""
    try:
        return _cut_model(data)
    except Damaged:
        return CutModel(data, ())


def _cut_model(data: bytes) -> CutModel:
    pieces: list[bytes] = []
    raw: list[slice | None] = []
    for field in _fields(data, 0, len(data)):
        if (field.number, field.kind) == (GRAPH, BYTES):
            pieces += _message(field, _cut_graph(data, field, raw))
        else:
            pieces.append(data[field.begin : field.end])
    return CutModel(b"".join(pieces), raw)


def _cut_graph(data: bytes, graph: Field, raw: list[slice | None]) -> Sequence[bytes]:
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


def _large_data(data: bytes, tensor: Field) -> Field | None:
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


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = 0
    for index in range(min(10, end - at)):
        byte = data[at + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, at + index + 1
    raise Damaged


def _fields(data: bytes, at: int, end: int) -> Iterator[Field]:
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
