"""Evaluation of the Python code that a tracer left behind, on static shapes."""

import re
from typing import TypeAlias

from xdsl.ir import SSAValue

from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.types import tensor_shape

StaticValue: TypeAlias = int | tuple[int, ...]

_INTEGER = re.compile(r"-?\d+")
_SLICE = re.compile(r"slice\((None|-?\d+), (None|-?\d+), (None|-?\d+)\)")


def static_value(value: SSAValue) -> StaticValue | None:
    """Return what a chain of getattr and getitem gives; None where it can't be known.

    Only shapes are known: `x.shape`, its items and its slices.
    """
    indices: list[str] = []
    while isinstance(item := value.owner, GetItemOp):
        indices.append(item.index.data)
        value = item.input
    if not isinstance(item, GetAttrOp) or item.attribute.data != "shape":
        return None
    current: StaticValue | None = tensor_shape(item.input)
    for index in reversed(indices):
        if not isinstance(current, tuple):
            return None
        current = item_of(current, index)
    return current


def item_of(values: tuple[int, ...], index: str) -> StaticValue | None:
    """Return `values[index]` for an index as Python spells it; None where there is no such item."""
    if _INTEGER.fullmatch(index):
        position = int(index)
        return values[position] if -len(values) <= position < len(values) else None
    match = _SLICE.fullmatch(index)
    if match is None:
        return None
    start, stop, step = (None if bound == "None" else int(bound) for bound in match.groups())
    return None if step == 0 else values[slice(start, stop, step)]
