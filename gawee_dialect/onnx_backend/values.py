"""What flows between the nodes of a graph when it runs."""

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.generic]

Value: TypeAlias = "Array | list[Value] | None"
"""A tensor, whose strings are Python's; a sequence; None for an optional value that is absent."""

Values: TypeAlias = dict[str, Value]


def is_array(value: Value) -> TypeGuard[Array]:
    """Whether a value is a tensor."""
    return isinstance(value, np.ndarray)


def is_numeric(value: Value) -> TypeGuard[Array]:
    """Whether a value is a tensor of numbers or booleans."""
    return isinstance(value, np.ndarray) and value.dtype.kind not in "OUS"


def same_elements(one: Array, other: Array) -> bool:
    """Whether two tensors are the same to the last bit."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def arrays(values: Sequence[Value]) -> list[Array]:
    """Return values that are all tensors; raises TypeError."""
    found = [value for value in values if is_array(value)]
    if len(found) < len(values):
        raise TypeError("expected tensors")
    return found
