"""Arrays that users give, in the shape and dtype that is wanted."""

from collections.abc import Sequence

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.parameters.store import Array

KINDS = {"b": "bool", "i": "integer", "u": "integer", "f": "float", "c": "complex"}
"""NumPy's kinds of numbers, which no conversion may change."""


def same_kind(dtype: np.dtype[np.generic], other: np.dtype[np.generic]) -> bool:
    """Whether two dtypes are of one kind of numbers, such as float64 and float32."""
    return dtype.kind in KINDS and KINDS[dtype.kind] == KINDS.get(other.kind)


def fitted(
    what: str, array: Array, shape: Sequence[int], dtype: np.dtype[np.generic], origin: str = ""
) -> Array:
    """Return an array in a dtype: Python's float64 and int64 become what is wanted.

    `what` names it and `origin` says where it is from, in messages. Raises GaweeError for another
    shape, another kind of number, and for numbers that the dtype cannot hold.
    """
    if array.shape != tuple(shape):
        raise GaweeError(
            f"expected {what} of shape {shape_text(shape)}, got {shape_text(array.shape)}{origin}"
        )
    if array.dtype == dtype:
        return np.ascontiguousarray(array).reshape(shape)
    kind = KINDS.get(array.dtype.kind)
    if not same_kind(array.dtype, dtype):
        hint = f"array.astype('{dtype}') makes it one" if kind in ("integer", "float") else None
        raise GaweeError(
            Diagnostic(f"expected {what} of dtype {dtype}, got {array.dtype}{origin}", hint=hint)
        )
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(array, dtype).reshape(shape)
    lost = converted != array if kind == "integer" else np.isinf(converted) & ~np.isinf(array)
    if lost.any():
        value = array[lost].flat[0]
        raise GaweeError(f"expected {what} of dtype {dtype}, got {value} in it{origin}")
    return converted
