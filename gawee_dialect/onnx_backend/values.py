"""What flows between the nodes of a graph when it runs."""

from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.onnx.model import is_array
from gawee_dialect.hints import isa

Array: TypeAlias = NDArray[np.generic]

Value: TypeAlias = Array | list["Value"] | dict[object, "Value"] | None
"""A tensor, whose strings are Python's; a sequence; a map from numbers or text; None for an
optional value that is absent."""

Values: TypeAlias = dict[str, Value]


def as_value(given: object) -> Value:
    """Return what a caller gives as a value: numbers and text become tensors.

    Python's floats in a map are float32, as maps of ONNX mostly are.
    """
    if isa(given, list[object]):
        return [as_value(each) for each in given]
    if isa(given, dict[object, object]):
        return {
            key: np.asarray(value, np.float32) if type(value) is float else as_value(value)
            for key, value in given.items()
        }
    return None if given is None else np.asarray(given)


def is_numeric(value: Value) -> TypeGuard[Array]:
    """Whether a value is a tensor of numbers or booleans."""
    return isinstance(value, np.ndarray) and value.dtype.kind not in "OUS"


def same_elements(one: Array, other: Array) -> bool:
    """Whether two tensors are the same to the last bit."""
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


def as_array(value: Value) -> Array:
    """Return a value that is a tensor; raises GaweeError."""
    if not is_array(value):
        got = "a map" if isinstance(value, dict) else "none" if value is None else "a sequence"
        raise GaweeError(f"expected a tensor, got {got}")
    return value
