"""Boxes of arrays by offsets, sizes and strides, as tensor and memref ops spell them."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.upstream.tensor import ParallelInsertSliceOp, kept_axes

Boxed: TypeAlias = (
    tensor.ExtractSliceOp
    | tensor.InsertSliceOp
    | ParallelInsertSliceOp
    | memref.SubviewOp
    | memref.ReinterpretCastOp
)
"""The ops that say a box."""


def mixed_values(static: DenseArrayBase[IntegerType], dynamic: Iterator[Array]) -> list[int]:
    """Return static values, those that are dynamic taken from operands in order."""
    return [
        int(next(dynamic)) if value == DYNAMIC_INDEX else value for value in static.get_values()
    ]


def box_values(op: Boxed, dynamic: Sequence[Array]) -> tuple[list[int], list[int], list[int]]:
    """Return the offsets, sizes and strides of an op; `dynamic` are its operands of type index."""
    values = iter(dynamic)
    offsets = mixed_values(op.static_offsets, values)
    sizes = mixed_values(op.static_sizes, values)
    return offsets, sizes, mixed_values(op.static_strides, values)


def box(
    array: Array, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> Array:
    """View a box of an array; raises InterpretationError where it leaves the array."""
    where: list[slice] = []
    for axis, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        last = offset + (size - 1) * stride
        if size and (min(offset, last) < 0 or max(offset, last) >= array.shape[axis]):
            raise InterpretationError(
                f"offset {offset}, size {size} and stride {stride} are out of bounds for "
                f"dimension {axis} of size {array.shape[axis]}"
            )
        end = last + (1 if stride > 0 else -1)
        where.append(slice(offset, end if end >= 0 else None, stride) if size else slice(0, 0))
    return array[(*where, ...)]  # without the ellipsis, NumPy copies where there are no axes


def without_left_out(
    part: Array, sizes: DenseArrayBase[IntegerType], shape: Sequence[int]
) -> Array:
    """View a box without the axes of one element that the shape of a slice leaves out."""
    kept = kept_axes(sizes.get_values(), shape)
    return part.squeeze(tuple(axis for axis in range(len(sizes)) if axis not in kept))


def put_slice(
    array: Array,
    source: Array,
    op: tensor.InsertSliceOp | ParallelInsertSliceOp,
    dynamic: Sequence[Array],
) -> None:
    """Write a slice into an array, at the box that an op names; `dynamic` are its indices."""
    part = box(array, *box_values(op, dynamic))
    part[...] = source.reshape(part.shape)
