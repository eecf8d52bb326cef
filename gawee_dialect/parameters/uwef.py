"""UWEF v1.0, read: weights as JSON text, by the nodes of a graph.

{"meta": {...}, "node_weights": {ID: {"op_type": ..., "has_weight": ..., "tensors": {...}}}}
"""

import json
import os
import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, first_line
from gawee_dialect.located_json import JsonObject, JsonValue, decode_json, value_text
from gawee_dialect.parameters.data_files import MAX_TENSOR_BYTES, require_regular
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    read_only,
)
from gawee_dialect.source import Source
from gawee_dialect.whole_file import whole_file

# The text of a UWEF file without its numbers: structure first, data on demand.
#
# A file of weights is nearly all numbers. They lie in flat lists under the key `data`; here each
# such list is passed over at the speed of a memory scan, and what remains is small enough to
# decode whole.

PIECE = 1 << 18
"""Bytes of text that are in memory at a time."""

MAX_STRUCTURE = 1 << 25
"""Bytes that everything but numbers may take: a hundred thousand nodes take a third of it."""

# A string, and whether a list is its value; an unclosed string ends with the file.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"(?P<list>\s*+:\s*+\[)?|\Z)', re.DOTALL)
_NUMBERS = b"0123456789+-.eE, \t\r\n"
_NO_NUMBER = re.compile(rb"[^0-9+\-.eE, \t\r\n]")
_NUMBER_START = re.compile(rb"[0-9+\-.eE]*+\Z")
_WORD = re.compile(rb"[^,\[\]{}\s]{1,20}|.", re.DOTALL)


@dataclass(frozen=True)
class DataList:
    """Where the numbers of a list lie in the file, without brackets, and how many they are."""

    start: int
    end: int
    count: int


class UwefText:
    """A file's structure as JSON, in which a list of numbers is an index in `lists`.

    The file is read in blocks, never mapped: pages of a mapping count as memory of the process, and
    the text is three times as large as its arrays. Raises GaweeError, located, for text that is not
    JSON and for data that are not flat lists of numbers; OSError for a file that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._file = _opened(path)
        self._size = os.fstat(self._file.fileno()).st_size
        self.lists: list[DataList] = []
        mark = len(BOM_UTF8) if self._read(0, len(BOM_UTF8)) == BOM_UTF8 else 0
        self._origins: list[tuple[int, int]] = [(0, mark)]
        self._places = _OriginSource(self.name, self._structure(mark), file=self)
        if not self._places.is_text:
            raise GaweeError(f"cannot read '{self.name}': its text is not UTF-8")
        self.root: JsonValue = decode_json(self._places)

    def place(self, offset: int) -> str:
        """Return `name:line:column` of an offset in the structure."""
        return self._places.place(offset)

    def pieces(self, numbers: DataList) -> Iterator[bytes]:
        """Yield the text of a list in pieces of whole numbers; an empty one where one lacks."""
        start, rest = numbers.start, b""
        while start < numbers.end:
            block = rest + self._read(start, min(start + PIECE, numbers.end))
            start = min(start + PIECE, numbers.end)
            if start == numbers.end:
                yield block
                return
            whole, comma, rest = block.rpartition(b",")
            if comma:
                yield whole

    def _read(self, start: int, end: int) -> bytes:
        return os.pread(self._file.fileno(), max(min(end, self._size) - start, 0), start)

    def _structure(self, start: int) -> bytes:
        parts: list[bytes] = []
        length, kept = 0, start
        while (begin := self._next_list(start)) is not None:
            parts.append(self._read(kept, begin) + b"%d" % len(self.lists))
            length += len(parts[-1])
            numbers = self._scan(begin)
            self.lists.append(numbers)
            start = kept = numbers.end
            self._origins.append((length, kept))
            self._check_length(length)
        parts.append(self._read(kept, self._size))
        return b"".join(parts)

    def _next_list(self, start: int) -> int | None:
        """Return where the next list under the key `data` begins, behind its bracket."""
        first, size = start, PIECE >> 2
        while start < self._size:
            window = self._read(start, start + size)
            position = 0
            for match in _STRING.finditer(window):
                if match.end() == len(window) and start + match.end() < self._size:
                    position, size = match.start(), 2 * size  # it may go on behind the window
                    break
                if match["list"] is not None and match[0].startswith(b'"data"'):
                    return start + match.end()
            else:
                position = len(window)
            start += position
            self._check_length(start + size - first)
        self._check_length(self._size - first)
        return None

    def _check_length(self, length: int) -> None:
        if length > MAX_STRUCTURE:
            raise GaweeError(
                f"expected '{self.name}' to have at most {MAX_STRUCTURE} bytes beside its data, "
                "got more"
            )

    def _scan(self, start: int) -> DataList:
        """Find the end of a list of numbers, and count them."""
        commas, blank, at = 0, True, start
        while True:
            block, bracket, _ = self._read(at, at + PIECE).partition(b"]")
            if block.translate(None, _NUMBERS):
                self._refuse_word(block, at)
            commas += block.count(b",")
            blank = blank and not block.strip()
            at += len(block)
            if bracket:
                return DataList(start, at, 0 if blank else commas + 1)
            if at >= self._size:
                message = "cannot read JSON: expected ']' behind data, got the end of the file"
                raise GaweeError(Diagnostic(message, self._byte_place(start)))

    def _refuse_word(self, block: bytes, start: int) -> None:
        found = _NO_NUMBER.search(block)
        assert found is not None
        before = _NUMBER_START.search(block, max(found.start() - 20, 0), found.start())
        word = _WORD.match(block, found.start() if before is None else before.start())
        text = (word or found)[0].decode(errors="replace")
        message = f"expected data to be a flat list of finite numbers, got {text!r} in it"
        raise GaweeError(Diagnostic(message, self._byte_place(start + found.start())))

    def _byte_place(self, offset: int) -> str:
        line, column = self.line_column(offset)
        return f"{self.name}:{line}:{column}"

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset in the file, both from 1."""
        line, column = 1, 1
        for start in range(0, offset, PIECE):
            head, newline, tail = self._read(start, min(start + PIECE, offset)).rpartition(b"\n")
            line += head.count(b"\n") + len(newline)
            column = (1 if newline else column) + len(tail.decode(errors="ignore"))
        return line, column

    def origin(self, offset: int) -> int:
        """Return where a byte of the structure stands in the file."""
        index = bisect_right(self._origins, (offset, self._size)) - 1
        before, origin = self._origins[index]
        return origin + offset - before


@dataclass(frozen=True, kw_only=True)
class _OriginSource(Source):
    """Tells where characters of the structure stand in the file they were taken from."""

    file: UwefText

    def line_column(self, offset: int) -> tuple[int, int]:
        return self.file.line_column(self.file.origin(len(self.text[:offset].encode())))


def _opened(path: Path) -> BinaryIO:
    require_regular(path)
    if path.stat().st_size == 0:
        raise GaweeError(f"cannot read '{path}': the file is empty")
    return path.open("rb", buffering=0)


SUFFIX = ".json"
"""How such files are called: no other weights are JSON."""

META_KEYS = ("architecture", "format_version", "source_framework", "created_at")
TENSOR_KEYS = ("weight", "bias", "running_mean", "running_var")
DTYPES = ("float32", "float16")


@dataclass(frozen=True)
class UwefTensor:
    """One tensor of a node: what it is, and where its numbers are."""

    description: ArrayDescription
    numbers: DataList
    offset: int


@dataclass(frozen=True)
class UwefNode:
    """One entry of `node_weights`."""

    op_type: str
    tensors: dict[str, UwefTensor]
    place: str = field(default="", compare=False)
    """`name:line:column` of the entry."""


@dataclass
class _Reader:
    """Reads the structure, and collects everything that is wrong with it."""

    text: UwefText
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def report(self, where: JsonObject, message: str, hint: str | None = None) -> None:
        self.problems.append(Diagnostic(message, self.text.place(where.offset), hint=hint))

    def object_of(self, where: JsonObject, key: str) -> JsonObject | None:
        value = where.get(key)
        if isinstance(value, JsonObject):
            return value
        self.report(where, f"expected '{key}' to be an object, got {value_text(where.get(key))}")
        return None

    def text_of(self, where: JsonObject, key: str) -> str | None:
        value = where.get(key)
        if isinstance(value, str):
            return value
        self.report(where, f"expected '{key}' to be text, got {value_text(where.get(key))}")
        return None

    def meta(self, root: JsonObject) -> dict[str, str]:
        meta = self.object_of(root, "meta")
        if meta is None:
            return {}
        found = {key: text for key in META_KEYS if (text := self.text_of(meta, key)) is not None}
        version = found.get("format_version", "1.0")
        if version.split(".")[0] != "1":
            self.report(meta, f"unsupported format version '{version}'; supported: 1.0")
        return found

    def nodes(self, root: JsonObject) -> dict[str, UwefNode]:
        entries = self.object_of(root, "node_weights")
        nodes: dict[str, UwefNode] = {}
        for key in entries or ():
            assert entries is not None
            entry = self.object_of(entries, key)
            if entry is not None:
                nodes[key] = self.node(key, entry)
        return nodes

    def node(self, key: str, entry: JsonObject) -> UwefNode:
        op_type = self.text_of(entry, "op_type") or ""
        given = self.object_of(entry, "tensors")
        tensors = {name: self.tensor(key, given, name) for name in given or () if given is not None}
        has_weight = entry.get("has_weight")
        if not isinstance(has_weight, bool):
            got = value_text(entry.get("has_weight"))
            self.report(entry, f"expected 'has_weight' to be true or false, got {got}")
        elif not has_weight and tensors:
            self.report(entry, f"expected node '{key}' without weight to have no tensors, got some")
        elif has_weight and given is not None and "weight" not in given:
            self.report(entry, f"expected node '{key}' to have tensor 'weight', got none")
        found = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        if len(found) == len(tensors):
            shapes = {name: tensor.description.shape for name, tensor in found.items()}
            for problem in shape_problems(op_type, shapes):
                self.report(entry, f"node '{key}': {problem}")
        return UwefNode(op_type, found, self.text.place(entry.offset))

    def tensor(self, node: str, tensors: JsonObject, name: str) -> UwefTensor | None:
        if name not in TENSOR_KEYS:
            hint = did_you_mean(name, TENSOR_KEYS, f"supported: {', '.join(TENSOR_KEYS)}")
            self.report(tensors, f"node '{node}': unknown tensor '{name}'", hint)
            return None
        tensor = self.object_of(tensors, name)
        if tensor is None:
            return None
        what = f"tensor '{node}.{name}'"
        dtype, shape = tensor.get("dtype"), _shape(tensor.get("shape"))
        data = tensor.get("data")
        if dtype not in DTYPES:
            got = value_text(tensor.get("dtype"))
            self.report(tensor, f"{what}: expected dtype {' or '.join(DTYPES)}, got {got}")
        if shape is None:
            got = value_text(tensor.get("shape"))
            self.report(tensor, f"{what}: expected a shape of sizes from 0 on, got {got}")
        if not isinstance(data, list):
            self.report(
                tensor, f"{what}: expected data to be a list, got {value_text(tensor.get('data'))}"
            )
        if not isinstance(dtype, str) or shape is None or not isinstance(data, list):
            return None
        index = data[0]
        assert isinstance(index, int)
        numbers = self.text.lists[index]
        if numbers.count != prod(shape):
            self.report(tensor, f"{what}: expected {prod(shape)} numbers, got {numbers.count}")
        return UwefTensor(ArrayDescription(shape, dtype), numbers, tensor.offset)


def _shape(value: JsonValue) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    sizes = tuple(size for size in value if isinstance(size, int) and not isinstance(size, bool))
    if len(sizes) != len(value) or any(size < 0 for size in sizes):
        return None
    return sizes if prod(sizes) * 4 <= MAX_TENSOR_BYTES else None


def shape_problems(op_type: str, shapes: dict[str, tuple[int, ...]]) -> Iterator[str]:
    """Yield what the tensors of an operation of the format's table must be and are not."""
    weight, kind = shapes.get("weight"), op_type.lower()
    if weight is None:
        return
    is_norm = kind.endswith("norm")
    ranks = {"conv": 4, "dwconv": 4, "linear": 2}
    rank = 1 if is_norm else ranks.get(kind.partition("_")[0], len(weight))
    if len(weight) != rank:
        yield f"expected weight of '{op_type}' of rank {rank}, got {len(weight)}"
        return
    if is_norm and "bias" not in shapes:
        yield f"expected '{op_type}' to have tensor 'bias', got none"
    if not weight or not (is_norm or kind.partition("_")[0] in ranks):
        return
    for name, shape in shapes.items():
        if name != "weight" and shape != weight[:1]:
            yield f"expected {name} of {weight[0]} numbers, as many as its weight, got {shape}"


class UwefFile(ParameterStore):
    """The tensors of a UWEF file, named `NODE.weight`, `NODE.bias` and so on.

    The text is scanned once; the numbers of a tensor are read on demand, so that memory
    holds no more than its array and a piece of text. Raises GaweeError that lists everything that
    is wrong with the file but single numbers; OSError where it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._text = UwefText(path)
        root = self._text.root
        if not isinstance(root, JsonObject):
            raise GaweeError(f"cannot read '{path}' as UWEF: expected an object with node_weights")
        reader = _Reader(self._text)
        self.meta: dict[str, str] = reader.meta(root)
        self.nodes: dict[str, UwefNode] = reader.nodes(root)
        if reader.problems:
            raise GaweeError(reader.problems)
        self.names = self._tensors = {
            f"{key}.{name}": tensor
            for key, node in self.nodes.items()
            for name, tensor in node.tensors.items()
        }

    def describe(self, name: str) -> ArrayDescription:
        return self._tensors[name].description

    def __getitem__(self, name: str) -> Array:
        tensor = self._tensors[name]
        try:
            return read_only(self._numbers(tensor).reshape(tensor.description.shape))
        except ValueError as error:
            place = self._text.place(tensor.offset)
            message = f"'{name}': cannot read its data: {first_line(error)}"
            raise ParameterProblem(message, place) from error

    def _numbers(self, tensor: UwefTensor) -> Array:
        """Read the numbers of a tensor; raises ValueError for what is no number of its dtype."""
        loads = import_orjson(self._text.place(tensor.offset)).loads
        dtype, count = tensor.description.dtype, tensor.numbers.count
        result = np.empty(count, dtype)
        done = 0
        for piece in self._text.pieces(tensor.numbers):
            values = np.array(loads(b"[%b]" % piece), np.float64)
            if not len(values) and count:
                raise ValueError("expected a number between commas, got none")
            with np.errstate(over="ignore"):
                result[done : done + len(values)] = values
            done += len(values)
        lost = np.flatnonzero(~np.isfinite(result))
        if len(lost):
            raise ValueError(f"expected numbers that {dtype} holds, got a larger one at {lost[0]}")
        return result


def import_orjson(place: str):
    """Import the library that reads and writes numbers fast; raises GaweeError without it."""
    try:
        return import_module("orjson")
    except ModuleNotFoundError as error:
        raise GaweeError(
            Diagnostic(
                "cannot read or write UWEF without orjson, got no such module",
                place,
                hint="pip install 'gawee-dialect[uwef]'",
            )
        ) from error


# UWEF v1.0, written: node after node, numbers in pieces, never a whole tensor as text.


WRITTEN_TOGETHER = 1 << 16
"""How many numbers are text at a time."""

UNSAYABLE = ("num_batches_tracked",)
"""What PyTorch keeps beside weights: no network needs it, and the format has no place for it."""


@dataclass(frozen=True)
class Slice:
    """A tensor of a node: rows of an array of the store, all of them by default."""

    name: str
    part: int = 0
    parts: int = 1

    def of(self, array: Array) -> Array:
        rows = len(array) // self.parts if self.parts > 1 else 0
        return array[self.part * rows : (self.part + 1) * rows] if rows else array

    def shape(self, whole: ArrayDescription) -> tuple[int, ...]:
        """Return the shape of the part."""
        if self.parts == 1:
            return whole.shape
        return whole.shape[0] // self.parts, *whole.shape[1:]


@dataclass(frozen=True)
class NodeWeights:
    """What is written of one node; without tensors it is a node without weight."""

    id: str
    op_type: str
    tensors: Mapping[str, Slice]


def write_uwef(
    path: Path,
    nodes: Sequence[NodeWeights],
    store: ParameterStore,
    meta: Mapping[str, str] | None = None,
) -> None:
    """Write the tensors of nodes; what several nodes share is written for each of them.

    `meta` are the format's own keys; what it lacks is filled in. Raises GaweeError that lists
    every tensor that the format cannot hold, and then nothing is written.
    """
    problems = [problem for node in nodes for problem in _problems(node, store)]
    if problems:
        raise GaweeError(problems)
    filled = dict.fromkeys(META_KEYS, "unknown") | {
        "architecture": path.name.partition(".")[0],
        "format_version": "1.0",
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **(meta or {}),
    }
    with whole_file(path) as draft, draft.open("wb") as file:
        file.write(b'{\n "meta": %b,\n "node_weights": {' % _json(filled))
        for index, node in enumerate(nodes):
            head = b'"op_type": %b, "has_weight": %b, "tensors": {'
            head %= _json(node.op_type), b"true" if node.tensors else b"false"
            file.write(b"%b\n  %b: {%b" % (b"," if index else b"", _json(node.id), head))
            for number, (key, part) in enumerate(node.tensors.items()):
                file.write(b"%b\n   %b: " % (b"," if number else b"", _json(key)))
                array = part.of(store[part.name])
                file.writelines(_tensor_text(array, f"{node.id}.{key}", path))
            file.write(b"}}")
        file.write(b"\n }\n}\n")


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _tensor_text(array: Array, name: str, path: Path) -> Iterable[bytes]:
    orjson = import_orjson(str(path))
    head = b'{"dtype": %b, "shape": %b, "data": ['
    yield head % (_json(array.dtype.name), _json(list(array.shape)))
    numbers = array.reshape(-1)
    for start in range(0, numbers.size, WRITTEN_TOGETHER):
        piece = np.ascontiguousarray(numbers[start : start + WRITTEN_TOGETHER], np.float32)
        if not np.isfinite(piece).all():
            raise GaweeError(f"cannot write '{name}': expected finite numbers, got others")
        text: bytes = orjson.dumps(piece, option=orjson.OPT_SERIALIZE_NUMPY)
        yield (b"," if start else b"") + text[1:-1]
    yield b"]}"


def _problems(node: NodeWeights, store: ParameterStore) -> Iterable[Diagnostic]:
    shapes: dict[str, tuple[int, ...]] = {}
    for key, part in node.tensors.items():
        found = store.describe(part.name)
        shapes[key] = part.shape(found)
        if found.dtype not in DTYPES:
            what = f"cannot write '{part.name}' as UWEF"
            yield Diagnostic(f"{what}: expected dtype {' or '.join(DTYPES)}, got {found.dtype}")
        if part.parts > 1 and found.shape[:1] != (part.parts * shapes[key][0],):
            yield Diagnostic(
                f"cannot slice '{part.name}': expected rows in {part.parts} equal parts, "
                f"got shape {found.shape}"
            )
    for problem in shape_problems(node.op_type, shapes):
        yield Diagnostic(f"cannot write node '{node.id}' as UWEF: {problem}")


def nodes_of_names(store: ParameterStore) -> list[NodeWeights]:
    """Group the arrays of a store by what their names begin with: `conv1.weight` is of `conv1`.

    Packed projections of attention, `in_proj_weight` and `in_proj_bias` of PyTorch, become a node
    each for query, key and value. Raises GaweeError that lists names the format has no place for.
    """
    nodes: dict[str, dict[str, Slice]] = {}
    problems: list[Diagnostic] = []
    for name in store:
        node, _, key = name.rpartition(".")
        if key in ("in_proj_weight", "in_proj_bias"):
            for part, letter in enumerate("qkv"):
                tensors = nodes.setdefault(f"{node}.{letter}_proj", {})
                tensors[key.removeprefix("in_proj_")] = Slice(name, part, 3)
        elif key in TENSOR_KEYS and node:
            nodes.setdefault(node, {})[key] = Slice(name)
        elif key not in UNSAYABLE:
            supported = ", ".join(TENSOR_KEYS)
            problems.append(
                Diagnostic(
                    f"cannot write '{name}' as UWEF: expected a name NODE.KEY; keys: {supported}"
                )
            )
    for node, tensors in nodes.items():
        if "weight" not in tensors:
            problems.append(Diagnostic(f"expected node '{node}' to have tensor 'weight', got none"))
    if problems:
        raise GaweeError(problems)
    return [NodeWeights(node, _op_type(tensors, store), tensors) for node, tensors in nodes.items()]


def _op_type(tensors: Mapping[str, Slice], store: ParameterStore) -> str:
    """Name an operation as the format's table does, by the shape of its weight."""
    weight = tensors["weight"]
    shape = weight.shape(store.describe(weight.name))
    if "running_mean" in tensors:
        return "BatchNorm"
    if len(shape) == 4:
        return f"Conv_{shape[2]}x{shape[3]}"
    if len(shape) == 1:
        return "LayerNorm" if "bias" in tensors else "Scale"
    return "Linear" if len(shape) == 2 else f"Weight_{len(shape)}d"
