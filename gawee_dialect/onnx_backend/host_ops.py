"""Ops of ONNX that run on the host: on text, sequences and optional values, or of open sizes.

    @host_op("StringConcat")
    def string_concat(x: Array, y: Array) -> Array: ...

A function has the op's inputs as arguments, in ONNX's order, and its attributes by name. What
NumPy computes when a graph is read (`frontends/onnx/folding.py`) runs here too, on text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from typing import TypeVar

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.frontends.onnx.folding import FUNCTIONS
from gawee_dialect.frontends.onnx.held_types import HELD, array_of_held, dtype_of_code
from gawee_dialect.frontends.onnx.model import OnnxNode, is_array
from gawee_dialect.hints import isa
from gawee_dialect.onnx_backend.values import Array, Value, as_array, as_value, is_numeric

Function = TypeVar("Function", bound=Callable[..., Value | tuple[Value, ...]])

_OPS: dict[str, Callable[..., Value | tuple[Value, ...]]] = {}


def host_op(*names: str) -> Callable[[Function], Function]:
    """Register a function for ops, by their full types."""

    def register(function: Function) -> Function:
        _OPS.update(dict.fromkeys(names, function))
        return function

    return register


def host_ops() -> Mapping[str, Callable[..., Value | tuple[Value, ...]]]:
    """Return every op that runs on the host."""
    return _OPS


def _is_text(inputs: Sequence[Value]) -> bool:
    """Whether all inputs are tensors, of which some are of text."""
    arrays = [each for each in inputs if is_array(each)]
    return len(arrays) == len(inputs) and not all(map(is_numeric, arrays))


def run_on_host(node: OnnxNode, inputs: Sequence[Value], name: str) -> Sequence[Value] | None:
    """Return the outputs of a node; None where it is not run on the host.

    Raises GaweeError for inputs and attributes that the op does not have.
    """
    function = host_ops().get(node.full_type)
    if function is None and _is_text(inputs):
        function = FUNCTIONS.get(node.full_type)  # movements of text
    if function is None:
        return None
    given = list(inputs)
    while given and given[-1] is None:
        given.pop()
    try:
        with np.errstate(all="ignore"):
            made = function(*given, **node.attributes)
    except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        text = f"cannot run '{node.full_type}': {first_line(error)}"
        raise GaweeError(Diagnostic(text, name, node.name)) from error
    if isinstance(made, tuple):
        return made
    if node.full_type == "Split" and isa(made, list[object]):
        return [as_value(each) for each in made]
    return [as_value(made)]


MODES = {"RGB": "RGB", "BGR": "RGB", "Grayscale": "L"}
"""Pillow's modes of ONNX's pixel formats."""


@host_op("ImageDecoder")
def image_decoder(encoded_stream: Array, pixel_format: str = "RGB") -> Array:
    """The pixels of an image, height x width x channels of uint8"""
    try:
        image = import_module("PIL.Image")
    except ModuleNotFoundError as error:
        hint = "pip install 'gawee-dialect[image]'"
        raise GaweeError(Diagnostic("cannot decode an image without Pillow", hint=hint)) from error
    decoded = image.open(BytesIO(encoded_stream.tobytes())).convert(MODES[pixel_format])
    pixels = np.asarray(decoded, np.uint8)
    if pixel_format == "BGR":
        return pixels[:, :, ::-1]
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def _texts(x: Array) -> list[str]:
    return [each.decode() if isinstance(each, bytes) else str(each) for each in x.ravel().tolist()]


def texts_array(texts: Sequence[object], shape: Sequence[int]) -> Array:
    """Return an array of objects, of which none is taken for a sequence."""
    found = np.empty(len(texts), object)
    found[:] = list(texts)
    return found.reshape(shape)


@host_op("StringConcat")
def string_concat(x: Array, y: Array) -> Array:
    """One text behind the other"""
    left, right = np.broadcast_arrays(x, y)
    pairs = zip(_texts(left), _texts(right), strict=True)
    return texts_array([a + b for a, b in pairs], left.shape)


@host_op("StringSplit")
def string_split(
    x: Array, delimiter: str | None = None, maxsplit: int | None = None
) -> tuple[Array, Array]:
    """The parts of each text, empty texts behind those that have fewer, and how many there are"""
    limit = -1 if maxsplit is None else maxsplit
    parts = [each.split(delimiter or None, limit) for each in _texts(x)]
    counts = np.array([len(each) for each in parts], np.int64).reshape(x.shape)
    width = int(counts.max(initial=0))
    filled = [part for row in parts for part in (*row, *[""] * (width - len(row)))]
    return texts_array(filled, (*x.shape, width)), counts


@host_op("StringNormalizer")
def string_normalizer(
    x: Array,
    case_change_action: str = "NONE",
    is_case_sensitive: int = 0,
    locale: str = "",
    stopwords: Sequence[str] = (),
) -> Array:
    """Words without stopwords, in another case; one empty word where none is left"""
    cases: dict[str, Callable[[str], str]] = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
        raise ValueError(f"expected words of shape [C] or [1, C], got {list(x.shape)}")
    fold = str if is_case_sensitive else str.lower
    stopped = {fold(each) for each in stopwords}
    words = [cases[case_change_action](each) for each in _texts(x) if fold(each) not in stopped]
    return texts_array(words or [""], (*x.shape[:-1], max(len(words), 1)))


@host_op("RegexFullMatch")
def regex_full_match(x: Array, pattern: str = "") -> Array:
    """Whether a pattern matches the whole of each text"""
    expression = re.compile(pattern)
    found = [expression.fullmatch(each) is not None for each in _texts(x)]
    return np.array(found, bool).reshape(x.shape)


@host_op("ai.onnx.ml.LabelEncoder")
def label_encoder(x: Array, **attributes: object) -> Array:
    """The value of each element as a key; the default where it is none"""
    keys = _list(next(v for k, v in attributes.items() if k.startswith("keys_")))
    kind, given = next((k, v) for k, v in attributes.items() if k.startswith("values_"))
    values = _list(given)
    defaults = {"values_floats": 0.0, "values_int64s": -1, "values_strings": "_Unused"}
    name = f"default_{kind.removeprefix('values_').removesuffix('s')}"
    default = attributes.get(name, defaults.get(kind, -1))
    if is_array(default):
        default = default.reshape(-1)[0]
    table = dict(zip(map(_key, keys), values, strict=True))
    found = [table.get(_key(each), default) for each in x.ravel().tolist()]
    if is_array(given):
        return np.array(found, given.dtype).reshape(x.shape)
    types = {"values_floats": np.float32, "values_int64s": np.int64}
    if kind in types:
        return np.array(found, types[kind]).reshape(x.shape)
    return texts_array(found, x.shape)


def _list(value: object) -> Sequence[object]:
    if is_array(value):
        return list(value.ravel().tolist())
    if not isa(value, list[object]):
        raise TypeError("expected keys and values to be lists")
    return value


def _key(value: object) -> object:
    """Return a key: NaN is equal to NaN here."""
    if isinstance(value, bytes):
        return value.decode()
    return "NaN" if isinstance(value, float) and value != value else value


@host_op("ai.onnx.ml.ZipMap")
def zip_map(
    x: Array, classlabels_int64s: Sequence[int] = (), classlabels_strings: Sequence[str] = ()
) -> list[Value]:
    """Rows as maps from the label of each column to its number"""
    labels: Sequence[int | str] = classlabels_strings or classlabels_int64s
    rows = x if x.ndim > 1 else x[None]
    return [
        {label: np.asarray(number) for label, number in zip(labels, row, strict=True)}
        for row in rows
    ]


@host_op("ai.onnx.ml.DictVectorizer")
def dict_vectorizer(
    x: dict[object, Value],
    int64_vocabulary: Sequence[int] = (),
    string_vocabulary: Sequence[str] = (),
) -> Array:
    """What a map has for each word of a vocabulary, zero where it has none: one row"""
    values = {key: as_array(value) for key, value in x.items()}
    like = next(iter(values.values()), np.zeros((), np.float32))
    words: Sequence[int | str] = string_vocabulary or int64_vocabulary
    none = np.asarray("", object) if like.dtype.kind in "OUS" else np.zeros((), like.dtype)
    return np.stack([values.get(word, none) for word in words])[None]


@host_op("ai.onnx.ml.CastMap")
def cast_map(
    x: dict[object, Value], cast_to: str = "TO_FLOAT", map_form: str = "DENSE", max_map: int = 1
) -> Array:
    """The values of a map in the order of its keys, or at the places that its keys say: one row"""
    given = {int(str(key)): as_array(value).item() for key, value in x.items()}
    values = dict(sorted(given.items()))
    if map_form == "SPARSE":
        values = {
            place: values.get(place, "" if cast_to == "TO_STRING" else 0)
            for place in range(max_map)
        }
    if cast_to == "TO_STRING":
        return texts_array(
            [each if isinstance(each, str) else f"{each:f}" for each in values.values()],
            (1, len(values)),
        )
    dtype = {"TO_FLOAT": np.float32, "TO_INT64": np.int64}[cast_to]
    return np.array([float(each) for each in values.values()], np.float64).astype(dtype)[None]


@host_op("ai.onnx.ml.CategoryMapper")
def category_mapper(
    x: Array,
    cats_int64s: Sequence[int] = (),
    cats_strings: Sequence[str] = (),
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Array:
    """The number of each text, or the text of each number"""
    if x.dtype.kind in "OUS":
        numbers = dict(zip(cats_strings, cats_int64s, strict=True))
        found = [numbers.get(str(each), default_int64) for each in x.ravel().tolist()]
        return np.array(found, np.int64).reshape(x.shape)
    names = dict(zip(cats_int64s, cats_strings, strict=True))
    return texts_array([names.get(each, default_string) for each in x.ravel().tolist()], x.shape)


@host_op("Constant")
def constant(value_string: str | None = None, value_strings: Sequence[str] = ()) -> Array:
    """Text that a node has"""
    texts = list(value_strings) if value_string is None else [value_string]
    return texts_array(texts, () if value_string is not None else (len(texts),))


@host_op("NonZero")
def nonzero(x: Array) -> Array:
    """The indices of all elements that are not zero, a column each"""
    return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)


@host_op("Unique")
def unique(x: Array, axis: int | None = None, sorted: int = 1) -> tuple[Array, Array, Array, Array]:
    """Elements, or slices along an axis, that differ: where each is first, which one each is, and
    how often; in order, or as they come first"""
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        values = np.take(values, order, axis or 0)
        first, inverse, counts = first[order], rank[inverse], counts[order]
    return values, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


@host_op("Compress")
def compress(input: Array, condition: Array, axis: int | None = None) -> Array:
    """The slices along an axis that a condition chooses"""
    return np.compress(condition.astype(bool), input, axis)


def _generator(seed: float | None) -> np.random.RandomState:
    return np.random.RandomState(None if seed is None else int(seed))


def _as(numbers: Array, code: int) -> Array:
    dtype = dtype_of_code(code)
    return array_of_held(numbers, dtype) if dtype in HELD else numbers.astype(dtype)


@host_op("RandomNormal")
def random_normal(
    shape: Sequence[int],
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Array:
    """Numbers of a normal distribution"""
    return _as(_generator(seed).normal(mean, scale, tuple(shape)), dtype)


@host_op("RandomUniform")
def random_uniform(
    shape: Sequence[int],
    dtype: int = 1,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
) -> Array:
    """Numbers between two others, all as likely"""
    return _as(_generator(seed).uniform(low, high, tuple(shape)), dtype)


@host_op("RandomNormalLike")
def random_normal_like(
    input: Array,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Array:
    """Numbers of a normal distribution, in the shape of a tensor"""
    numbers = _generator(seed).normal(mean, scale, input.shape)
    return numbers.astype(input.dtype) if dtype is None else _as(numbers, dtype)


@host_op("RandomUniformLike")
def random_uniform_like(
    input: Array,
    dtype: int | None = None,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
) -> Array:
    """Numbers between two others, in the shape of a tensor"""
    numbers = _generator(seed).uniform(low, high, input.shape)
    return numbers.astype(input.dtype) if dtype is None else _as(numbers, dtype)


@host_op("Bernoulli")
def bernoulli(input: Array, dtype: int | None = None, seed: float | None = None) -> Array:
    """One with the probability that each element is, else zero"""
    drawn: Array = np.less(_generator(seed).uniform(size=input.shape), input)
    return drawn.astype(input.dtype) if dtype is None else _as(drawn, dtype)


@host_op("Multinomial")
def multinomial(
    input: Array, dtype: int = 6, sample_size: int = 1, seed: float | None = None
) -> Array:
    """Classes drawn by logarithms of their probabilities, which need not add up to 1"""
    noise = _generator(seed).gumbel(size=(input.shape[0], sample_size, input.shape[1]))
    return _as(np.argmax(np.add(input[:, None, :], noise), axis=2), dtype)


@host_op("Dropout")
def dropout(
    data: Array,
    ratio: Array | None = None,
    training_mode: Array | None = None,
    seed: int | None = None,
) -> tuple[Array, Array]:
    """Elements that are dropped at random in training; the others are scaled by what is kept"""
    part = 0.5 if ratio is None else float(ratio.item())
    if training_mode is None or not training_mode.item() or part == 0:
        return data, np.ones(data.shape, bool)
    kept = _generator(seed).uniform(size=data.shape) >= part
    return np.multiply(data, kept / (1 - part)).astype(data.dtype), kept


def _place(position: Array, count: int) -> int:
    place = int(position.item())
    if not -count <= place <= count:
        raise IndexError(f"expected a position from {-count} to {count}, got {place}")
    return place


@host_op("SequenceConstruct")
def sequence_construct(*inputs: Value) -> list[Value]:
    """A sequence of tensors"""
    return list(inputs)


@host_op("SequenceEmpty")
def sequence_empty(dtype: int = 1) -> list[Value]:
    """A sequence without elements"""
    return []


@host_op("SequenceAt")
def sequence_at(sequence: list[Value], position: Array) -> Value:
    """The element at a position, which counts from the end where it is negative"""
    return sequence[_place(position, len(sequence))]


@host_op("SequenceInsert")
def sequence_insert(
    sequence: list[Value], tensor: Value, position: Array | None = None
) -> list[Value]:
    """A tensor before a position, or at the end"""
    place = len(sequence) if position is None else _place(position, len(sequence))
    return [*sequence[:place], tensor, *sequence[place:]]


@host_op("SequenceErase")
def sequence_erase(sequence: list[Value], position: Array | None = None) -> list[Value]:
    """All but the element at a position, or the last one"""
    left = list(sequence)
    left.pop(-1 if position is None else _place(position, len(sequence)))
    return left


@host_op("SequenceLength")
def sequence_length(sequence: list[Value]) -> Array:
    """How many elements there are"""
    return np.asarray(len(sequence), np.int64)


@host_op("SplitToSequence")
def split_to_sequence(
    input: Array, split: Array | None = None, axis: int = 0, keepdims: int = 1
) -> list[Value]:
    """Parts along an axis: of the same size, of sizes of their own, or single indices"""
    size = input.shape[axis]
    if split is None:
        rows: list[Value] = list(np.split(input, size, axis))
        return rows if keepdims else [np.take(input, index, axis) for index in range(size)]
    part = int(split.reshape(-1)[0])
    sizes = split.tolist() if split.ndim else [part] * (size // part)
    return list(np.split(input, np.cumsum(sizes), axis)[: len(sizes) + (sum(sizes) < size)])


@host_op("ConcatFromSequence")
def concat_from_sequence(sequence: list[Value], axis: int, new_axis: int = 0) -> Array:
    """The elements, one behind the other along an axis, or along a new one"""
    arrays = [each for each in sequence if is_array(each)]
    return np.stack(arrays, axis) if new_axis else np.concatenate(arrays, axis)


@host_op("Optional")
def optional(input: Value = None, type: object = None) -> Value:
    """A value that may be absent"""
    return input


@host_op("OptionalHasElement")
def optional_has_element(input: Value = None) -> Array:
    """Whether it is there"""
    return np.asarray(input is not None)


@host_op("OptionalGetElement")
def optional_get_element(input: Value) -> Value:
    """The value, which must be there"""
    if input is None:
        raise ValueError("expected an optional value that is there, got none")
    return input


@host_op("Identity")
def identity(input: Value = None) -> Value:
    """The value itself"""
    return input
