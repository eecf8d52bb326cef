"""Files in the GGUF format, version 2 and 3: what a model is, and its weights as blocks.

Nothing that the file says is believed: each length and each offset is held against its size first.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from quantization import BLOCKS, part_of
from weights import OFFSETS, SCALES, STORED, VALUES

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.parameters.data_files import forget_pages
from gawee_dialect.parameters.store import Array, ArrayDescription, ParameterStore, array_dtype
from gawee_dialect.whole_file import whole_file

MAGIC = b"GGUF"
AT_A_TIME = 1 << 20
"""Bytes of blocks that are converted at a time, where a row has fewer."""
ALIGNMENT = 32
"""Of the data of tensors, unless the file says another one."""
MOST_AXES = 4
DEEPEST = 4
"""Arrays in arrays, at most."""
FLOATS: Mapping[int, str] = {0: "float32", 1: "float16", 30: "bfloat16"}
IN_BLOCKS: Mapping[int, str] = {2: "q4_0", 8: "q8_0", 12: "q4_k", 14: "q6_k"}
"""The types of tensors that are read, by the file's number."""
NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""The types of values that are numbers, as `struct` has them."""
STRING, ARRAY = 8, 9


@dataclass(frozen=True)
class TensorPlace:
    """A tensor of the file: its type by number, its shape with the last axis dense, its bytes."""

    kind: int
    shape: tuple[int, ...]
    start: int

    @property
    def dtype(self) -> str:
        """How it is stored."""
        return FLOATS.get(self.kind) or IN_BLOCKS[self.kind]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        if self.kind in FLOATS:
            return prod(self.shape) * (4 if self.kind == 0 else 2)
        numbers, size = BLOCKS[self.dtype]
        return prod(self.shape) // numbers * size


class Reader:
    """Reads values one after the other; raises GaweeError with the byte where one is wrong."""

    def __init__(self, path: Path) -> None:
        self.path, self.at = path, 0
        try:
            self.data: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        except (OSError, ValueError) as error:  # ValueError: it is empty
            raise GaweeError(f"cannot read '{path}': {error}") from error

    def problem(self, message: str, at: int | None = None) -> GaweeError:
        """Return the error at a byte, by default the one that is read next."""
        place = f"{self.path}: byte {self.at if at is None else at}"
        return GaweeError(Diagnostic(message, place, hint="the file is cut off or damaged"))

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        left = self.data.size - self.at
        if size > left:
            raise self.problem(f"expected {size} more bytes, got {left}")
        self.at += size
        return self.data[self.at - size : self.at].tobytes()

    def number(self, kind: int) -> int | float:
        """Return the next number of a type."""
        form = f"<{NUMBERS[kind]}"
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def count(self, kind: int = 10) -> int:
        """Return the next number of elements or bytes."""
        return int(self.number(kind))

    def string(self) -> str:
        """Return the next string."""
        at = self.at
        try:
            return self.take(self.count()).decode()
        except UnicodeDecodeError as error:
            raise self.problem(f"expected text in UTF-8, got {error.reason}", at) from error

    def value(self, kind: int, depth: int = 0) -> object:
        """Return the next value of a type; arrays of numbers are arrays."""
        if kind in NUMBERS:
            return self.number(kind)
        if kind == STRING:
            return self.string()
        if kind != ARRAY or depth == DEEPEST:
            raise self.problem(f"expected the type of a value, got {kind}")
        of, count = self.count(4), self.count()
        if of in NUMBERS:
            dtype = np.dtype(f"<{NUMBERS[of]}")
            return np.frombuffer(self.take(count * dtype.itemsize), dtype)
        return [self.value(of, depth + 1) for _ in range(min(count, self.data.size))]


class GgufFile(ParameterStore):
    """The weights of a .gguf file, under their names there; `metadata` is what else it says.

    A tensor of blocks is two arrays, `NAME.values` and `NAME.scales`. Raises GaweeError.
    """

    def __init__(self, path: Path) -> None:
        self._reader = reader = Reader(path)
        if reader.take(4) != MAGIC:
            raise reader.problem("expected a file that begins with GGUF", 0)
        if (version := reader.count(4)) not in (2, 3):
            raise reader.problem(f"expected version 2 or 3, got {version}", 4)
        tensors, values = reader.count(), reader.count()
        self.metadata: dict[str, object] = {}
        for _ in range(values):
            key = reader.string()
            self.metadata[key] = reader.value(reader.count(4))
        self.tensors: dict[str, TensorPlace] = {}
        places = dict[str, int]()
        for _ in range(tensors):
            at = reader.at
            name, tensor = reader.string(), self._tensor()
            if name in self.tensors:
                raise reader.problem(f"expected one tensor '{name}', got two", at)
            self.tensors[name], places[name] = tensor, at
        alignment = self.metadata.get("general.alignment", ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 8 or alignment % 8:
            raise reader.problem(f"expected an alignment that is a multiple of 8, got {alignment}")
        self._start = -(-reader.at // alignment) * alignment
        for name, tensor in self.tensors.items():
            self._check(name, tensor, places[name])

    def _tensor(self) -> TensorPlace:
        reader = self._reader
        if (axes := reader.count(4)) > MOST_AXES:
            raise reader.problem(f"expected at most {MOST_AXES} axes, got {axes}")
        shape = tuple(reader.count() for _ in range(axes))[::-1]
        if not all(0 < size <= reader.data.size for size in shape):
            raise reader.problem(f"expected sizes of 1 to {reader.data.size}, got {shape}")
        return TensorPlace(reader.count(4), shape, reader.count())

    def _check(self, name: str, tensor: TensorPlace, at: int) -> None:
        """Raise GaweeError for a tensor that is not read, or not in the file."""
        if tensor.kind not in FLOATS and tensor.kind not in IN_BLOCKS:
            known = ", ".join(
                f"{k} ({v})" for k, v in sorted((*FLOATS.items(), *IN_BLOCKS.items()))
            )
            place = f"{self._reader.path}: byte {at}"
            message = f"unsupported type {tensor.kind} of tensor '{name}'; supported: {known}"
            raise GaweeError(Diagnostic(message, place))
        if tensor.kind in IN_BLOCKS:
            block, _ = BLOCKS[tensor.dtype]
            if len(tensor.shape) != 2 or tensor.shape[-1] % block:
                message = f"expected rows of whole blocks of {block}, got shape {tensor.shape}"
                raise self._reader.problem(f"tensor '{name}': {message}", at)
        end, size = self._start + tensor.start + tensor.size, self._reader.data.size
        if end > size or tensor.start % 8:
            message = f"expected its {tensor.size} bytes in a file of {size}, got an end at {end}"
            raise self._reader.problem(f"tensor '{name}': {message}", at)

    def renamed(self, names: Mapping[str, str]) -> ParameterStore:
        """Return the weights that have other names, by their names in the file."""
        file, known = copy(self), self.tensors
        file.tensors = {names[name]: known[name] for name in known if name in names}
        return file

    def blocks(self, name: str) -> NDArray[np.uint8]:
        """Return the bytes of a tensor of blocks as they are: (rows, blocks, bytes)."""
        tensor = self.tensors[name]
        rows, columns = tensor.shape
        numbers, size = BLOCKS[tensor.dtype]
        return self._bytes(tensor).reshape(rows, columns // numbers, size)

    def _bytes(self, tensor: TensorPlace) -> NDArray[np.uint8]:
        start = self._start + tensor.start
        return self._reader.data[start : start + tensor.size]

    def _part(self, name: str) -> tuple[str, TensorPlace, str]:
        """Return the tensor of an array, and which part it is of one of blocks."""
        for part in (VALUES, SCALES, OFFSETS):
            whole = name.removesuffix(part)
            tensor = self.tensors.get(whole)
            if name.endswith(part) and tensor is not None and part in _parts(tensor):
                return whole, tensor, part
        tensor = self.tensors[name]
        if tensor.kind in IN_BLOCKS:
            raise KeyError(name)
        return name, tensor, ""

    def describe(self, name: str) -> ArrayDescription:
        _, tensor, part = self._part(name)
        if not part:
            return ArrayDescription(tensor.shape, tensor.dtype)
        stored, (rows, columns) = STORED[tensor.dtype], tensor.shape
        shape = rows, columns // stored.block
        if part == VALUES:
            return ArrayDescription((*shape, stored.count), stored.element)
        return ArrayDescription(shape, stored.scale)

    def __getitem__(self, name: str) -> Array:
        whole, tensor, part = self._part(name)
        if part:
            array = self._converted(whole, tensor.dtype, part, self.describe(name))
        else:
            array = self._bytes(tensor).view(array_dtype(tensor.dtype)).reshape(tensor.shape)
        array.flags.writeable = False
        return array

    def _converted(self, name: str, dtype: str, part: str, description: ArrayDescription) -> Array:
        """Return a part of a tensor of blocks: some rows at a time, whose pages are let go."""
        array = np.empty(description.shape, description.dtype)
        blocks = self.blocks(name)
        rows = max(1, AT_A_TIME // blocks[0].nbytes)
        for first in range(0, len(blocks), rows):
            some = blocks[first : first + rows]
            array[first : first + rows] = part_of(dtype, part, some)
            forget_pages(some)
        return array

    def __iter__(self) -> Iterator[str]:
        for name, tensor in self.tensors.items():
            yield from [name + part for part in _parts(tensor)]

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _parts(tensor: TensorPlace) -> Sequence[str]:
    """Return what the names of the arrays of a tensor end with."""
    if tensor.kind in FLOATS:
        return ("",)
    return STORED[tensor.dtype].parts


# Writing.


def write_gguf(path: Path, metadata: Mapping[str, object], weights: Mapping[str, Array]) -> None:
    """Write a file of version 3; weights of blocks are bytes, as `GgufFile.blocks` has them."""
    kinds = {BLOCKS[dtype][1]: kind for kind, dtype in IN_BLOCKS.items()}
    entries = dict[str, tuple[int, Sequence[int], Array]]()
    for name, array in weights.items():
        if array.dtype == np.uint8:
            kind = kinds[array.shape[2]]
            shape = array.shape[0], array.shape[1] * BLOCKS[IN_BLOCKS[kind]][0]
        else:
            kind = next(k for k, dtype in FLOATS.items() if dtype == array.dtype.name)
            shape = array.shape
        entries[name] = kind, shape, array
    head = MAGIC + struct.pack("<IQQ", 3, len(entries), len(metadata))
    head += b"".join(_string(key) + _value(value) for key, value in metadata.items())
    place = 0
    for name, (kind, shape, array) in entries.items():
        head += _string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        head += struct.pack("<IQ", kind, place)
        place += _aligned(array.nbytes)
    with whole_file(path) as draft, draft.open("wb") as file:
        file.write(head.ljust(_aligned(len(head)), b"\0"))
        for _, _, array in entries.values():
            file.write(array.tobytes().ljust(_aligned(array.nbytes), b"\0"))


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: object) -> bytes:
    match value:
        case str():
            return struct.pack("<I", STRING) + _string(value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case list():
            items = b"".join(map(_string, map(str, value)))
            return struct.pack("<IIQ", ARRAY, STRING, len(value)) + items
        case _:
            raise TypeError(f"cannot write {type(value).__name__}")


# Names and sizes of models.

LAYER = {
    **{"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"},
    **{f"attn_{part}": f"self_attn.{part}_proj" for part in "qkv"},
    **{"attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm"},
    "attn_k_norm": "self_attn.k_norm",
    **{f"ffn_{part}": f"mlp.{part}_proj" for part in ("gate", "up", "down")},
}
"""Names of weights in GGUF, and in transformers."""
WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
ARCHITECTURES = ("llama", "qwen2", "qwen3")
KEYS = {
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "intermediate_size": "feed_forward_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "head_dim": "attention.key_length",
    "rope_theta": "rope.freq_base",
}
"""Names of sizes in config.json, and in GGUF behind that of the architecture."""


def names_of_weights(layers: int) -> Mapping[str, str]:
    """Return the names that transformers has, by those in the file."""
    names = dict(WHOLE)
    for layer in range(layers):
        for name, new in LAYER.items():
            for part in ("weight", "bias"):
                names[f"blk.{layer}.{name}.{part}"] = f"model.layers.{layer}.{new}.{part}"
    return names


def metadata_of(options: Mapping[str, Any]) -> Mapping[str, object]:
    """Return what a file says of a model that has such a config.json."""
    kind = options["model_type"]
    width = options["hidden_size"] // options["num_attention_heads"]
    known = {"head_dim": width, "rope_theta": 1e4, **options}
    return {"general.architecture": kind, **{f"{kind}.{KEYS[name]}": known[name] for name in KEYS}}


def options_of(file: GgufFile) -> Mapping[str, object]:
    """Return what config.json says of such a model; raises GaweeError."""
    data = file.metadata
    kind = data.get("general.architecture")
    if kind not in ARCHITECTURES:
        raise GaweeError(f"expected an architecture of {', '.join(ARCHITECTURES)}, got '{kind}'")
    found = {name: data[f"{kind}.{key}"] for name, key in KEYS.items() if f"{kind}.{key}" in data}
    wrong = [KEYS[name] for name, value in found.items() if not isinstance(value, int | float)]
    if wrong:
        raise GaweeError(f"expected numbers as {', '.join(wrong)}")
    table = file.tensors.get("token_embd.weight")
    if table is None or len(table.shape) != 2:
        raise GaweeError("expected a tensor 'token_embd.weight' of rank 2, got none")
    options = {"model_type": kind, "vocab_size": table.shape[0], **found}
    factors = file.tensors.get("rope_freqs.weight")
    if factors is not None and factors.kind == 0:
        options["rope_scaling"] = {"factors": file["rope_freqs.weight"]}
    # Heads of Llama are stored so that the numbers that are rotated together are neighbours.
    return {
        **options,
        "interleaved": kind == "llama",
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "eos_token_id": data.get("tokenizer.ggml.eos_token_id"),
    }
