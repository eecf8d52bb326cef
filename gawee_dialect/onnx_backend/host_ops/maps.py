"""Ops on maps, and on what stands for classes."""

from collections.abc import Sequence

import numpy as np

from gawee_dialect.onnx_backend.host_ops.registry import host_op
from gawee_dialect.onnx_backend.host_ops.text import texts_array
from gawee_dialect.onnx_backend.values import Array, Value, as_array


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
