"""UWEF v1.0, read: weights as JSON text, by the nodes of a graph.

{"meta": {...}, "node_weights": {ID: {"op_type": ..., "has_weight": ..., "tensors": {...}}}}
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from pathlib import Path

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, first_line
from gawee_dialect.located_json import JsonObject, JsonValue, value_text
from gawee_dialect.parameters.contained_file import MAX_TENSOR_BYTES
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    read_only,
)
from gawee_dialect.parameters.uwef_text import DataList, UwefText

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

    The text is scanned once; the numbers of a tensor are read when it is asked for, so that memory
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
        self._tensors = {
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

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


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
