"""UWEF v1.0, written: node after node, numbers in pieces, never a whole tensor as text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.parameters.store import Array, ArrayDescription, ParameterStore
from gawee_dialect.parameters.uwef import (
    DTYPES,
    META_KEYS,
    TENSOR_KEYS,
    import_orjson,
    shape_problems,
)
from gawee_dialect.whole_file import whole_file

PIECE = 1 << 16
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
    for start in range(0, numbers.size, PIECE):
        piece = np.ascontiguousarray(numbers[start : start + PIECE], np.float32)
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
