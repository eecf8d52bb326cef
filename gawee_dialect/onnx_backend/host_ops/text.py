"""Ops on text, which arrays hold as objects."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from gawee_dialect.frontends.onnx.model import is_array
from gawee_dialect.hints import isa
from gawee_dialect.onnx_backend.host_ops.registry import host_op
from gawee_dialect.onnx_backend.values import Array


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
