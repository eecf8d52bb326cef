"""Slots: sizes that an op has, and the pairs of them that are equal whatever the op."""

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.types import tensor_shape

Slot = tuple[SSAValue | Operation, str, int]
"""One size: an axis of a value, or an entry of a property."""

Link = tuple[Slot, Slot]

AXIS = "axis"


def axis(value: SSAValue, index: int) -> Slot:
    """Return the slot of a value's axis."""
    return (value, AXIS, index)


def same_axes(input: SSAValue, output: SSAValue, apart: int | None = None) -> Iterable[Link]:
    """Link the axes at the same position, of the same size, where there are as many."""
    shape, sizes = tensor_shape(input), tensor_shape(output)
    if len(shape) != len(sizes):
        return
    skipped = None if apart is None else apart % len(sizes)
    for index, (one, other) in enumerate(zip(shape, sizes, strict=True)):
        if one == other and index != skipped:
            yield axis(input, index), axis(output, index)


def broadcast_axes(input: SSAValue, output: SSAValue) -> Iterable[Link]:
    """Link the axes, from the last on, along which nothing is repeated."""
    shape, wide = tensor_shape(input), tensor_shape(output)
    missing = len(wide) - len(shape)
    for index, size in enumerate(shape):
        if size == wide[missing + index]:
            yield axis(input, index), axis(output, missing + index)
