"""Data of constants as nested lists: `{"data": [[1.0, 0.0]], "dtype": "float32"}`."""

from collections.abc import Iterator

import numpy as np

from gawee_dialect.frontends.npu_ir.ir import AttributeValue, Constant
from gawee_dialect.located_json import JsonValue

# What holds each dtype in memory. Complex numbers are written as pairs in a last axis.
_HOLDERS = {
    **{name: name for name in ("float16", "float32", "float64", "bool")},
    **{name: name for name in ("int8", "int16", "int32", "int64", "uint8")},
    "bfloat16": "float32",
    "complex64": "float32",
    "complex128": "float64",
}

_NON_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class DataProblem(Exception):
    """What is wrong with the data of one constant, in one line."""


def read_constant(entry: JsonValue) -> Constant:
    """Return a constant of a file; raises DataProblem for data that is ragged or does not fit."""
    if not isinstance(entry, dict):
        raise DataProblem("expected an object of 'data' and 'dtype'")
    dtype = entry.get("dtype")
    if "data" not in entry or not isinstance(dtype, str):
        raise DataProblem("expected an object of 'data' and 'dtype'")
    dtype = dtype.removeprefix("torch.")
    if dtype not in _HOLDERS:
        raise DataProblem(f"unsupported dtype '{dtype}'; supported: {', '.join(_HOLDERS)}")
    data = entry["data"]
    holder = np.dtype(_HOLDERS[dtype])
    shape = _shape(data)
    flat = [_number(value, holder) for value in _leaves(data, shape)]
    try:
        array = np.array(flat, dtype=holder).reshape(shape)
    except OverflowError as error:
        raise DataProblem(f"expected numbers in the range of {dtype}") from error
    if dtype.startswith("complex"):
        if shape[-1:] != (2,):
            raise DataProblem(f"expected pairs of numbers for {dtype}")
        array = array.view(dtype).reshape(shape[:-1])
    return Constant(array, dtype)


def _shape(data: JsonValue) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(data, list):
        shape.append(len(data))
        data = data[0] if data else None
        if shape[-1] == 0:
            break
    return tuple(shape)


def _leaves(data: JsonValue, shape: tuple[int, ...]) -> Iterator[JsonValue]:
    """Yield the numbers of nested lists; raises DataProblem where lists differ in length."""
    if not shape:
        if isinstance(data, list):
            raise DataProblem("expected lists of one depth, got ragged data")
        yield data
        return
    if not isinstance(data, list) or len(data) != shape[0]:
        raise DataProblem("expected lists of one length, got ragged data")
    for entry in data:
        yield from _leaves(entry, shape[1:])


def _number(value: JsonValue, holder: np.dtype[np.generic]) -> bool | int | float:
    if holder.kind == "f" and isinstance(value, str) and value in _NON_FINITE:
        return _NON_FINITE[value]
    wanted = {"b": bool | int, "i": int, "u": int, "f": int | float}[holder.kind]
    if not isinstance(value, wanted) or not isinstance(value, bool | int | float):
        raise DataProblem(f"expected numbers of {holder.name}, got {value!r}")
    return value


def constant_data(constant: Constant) -> AttributeValue:
    """Return the data of a constant as it is written."""
    array = constant.data
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    data: AttributeValue = array.tolist()
    return data
