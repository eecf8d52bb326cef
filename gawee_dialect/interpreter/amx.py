"""What the ops of the amx dialect do: a tile is an array of its rows.

A tile is what its rows are in memory: its bytes count, not the type of the memref that they are in.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i8
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.upstream.amx import (
    TileLoadOp,
    TileMulFOp,
    TileMulIOp,
    TileStoreOp,
    TileType,
    TileZeroOp,
    tile_of,
)

PAIR = 2
"""The bf16 whose products are added to one sum."""


def rows_of(
    array: Array, indices: Sequence[Array], type: TileType, stride: Array | None = None
) -> Array:
    """Return a view of the rows of a tile in the memory of an array.

    Raises InterpretationError where they are not all in the array.
    """
    places = [int(index) for index in indices]
    for axis, (place, size) in enumerate(zip(places, array.shape, strict=True)):
        if not 0 <= place < size:
            raise InterpretationError(
                f"index {place} is out of bounds for dimension {axis} of size {size}"
            )
    (rows, _), width = type.shape, type.row_bytes // array.itemsize
    steps = [each // array.itemsize for each in array.strides]
    apart = int(stride) if stride is not None else steps[-2] if len(steps) > 1 else 1
    left = (size - 1 - place for size, place in zip(array.shape, places, strict=True))
    behind = sum(step * count for step, count in zip(steps, left, strict=True))
    last = (rows - 1) * apart + width - 1
    if steps[-1] != 1 or apart < 0 or last > behind:
        raise InterpretationError(
            f"a row of a tile is out of bounds: expected {last} elements behind the first, "
            f"got {behind}"
        )
    first = array[tuple(slice(place, None) for place in places)]
    bytes_apart = apart * array.itemsize, array.itemsize
    return np.lib.stride_tricks.as_strided(first, (rows, width), bytes_apart)


def multiplied_words(lhs: Array, rhs: Array, acc: Array) -> Array:
    """Return sums that wrap around, to which products of bytes are added."""
    rows, columns = lhs.shape[0], acc.shape[1]
    words = rhs.reshape(rhs.shape[0], columns, -1)
    factors = words.transpose(0, 2, 1).reshape(-1, columns)
    product = lhs.astype(np.int64).reshape(rows, -1) @ factors.astype(np.int64)
    return (acc.astype(np.int64) + product).astype(acc.dtype)


def multiplied_pairs(lhs: Array, rhs: Array, acc: Array) -> Array:
    """Return sums of f32 to which products of bf16 are added, in the order of the instruction.

    The first numbers of all pairs have a sum, and the second ones; each step is rounded once.
    """
    sums = [np.zeros(acc.shape, np.float32) for _ in range(PAIR)]
    for step in range(rhs.shape[0]):
        for part in range(PAIR):
            column = lhs[:, PAIR * step + part].astype(np.float64)
            row = rhs[step, part::PAIR].astype(np.float64)
            total = sums[part].astype(np.float64) + np.multiply.outer(column, row)
            sums[part] = total.astype(np.float32)
    return acc.astype(np.float32) + (sums[0] + sums[1])


def _bytes(value: SSAValue, array: Array, *, unsigned: bool) -> Array:
    assert tile_of(value).element_type == i8
    return array.view(np.uint8) if unsigned else array


@register_impls
class AmxFunctions(OpFunctions):
    """Implementations of the ops on tiles."""

    @impl(TileZeroOp)
    def zero(self, interpreter: Interpreter, op: TileZeroOp, args: PythonValues) -> PythonValues:
        type = tile_of(op.res)
        return (np.zeros(type.shape, dtype_of(type.element_type)),)

    @impl(TileLoadOp)
    def load(self, interpreter: Interpreter, op: TileLoadOp, args: PythonValues) -> PythonValues:
        type, last = tile_of(op.res), 1 + len(op.indices)
        rows = rows_of(args[0], args[1:last], type, *args[last:])
        return (rows.copy().view(dtype_of(type.element_type)),)

    @impl(TileStoreOp)
    def store(self, interpreter: Interpreter, op: TileStoreOp, args: PythonValues) -> PythonValues:
        array, last = args[0], 1 + len(op.indices)
        value, *stride = args[last:]
        rows = rows_of(array, args[1:last], tile_of(op.val), *stride)
        rows[...] = value.view(array.dtype)
        return ()

    @impl(TileMulIOp)
    def muli(self, interpreter: Interpreter, op: TileMulIOp, args: PythonValues) -> PythonValues:
        lhs, rhs, acc = args
        factors = (
            _bytes(op.lhs, lhs, unsigned=op.isZextLhs is not None),
            _bytes(op.rhs, rhs, unsigned=op.isZextRhs is not None),
        )
        return (multiplied_words(*factors, acc),)

    @impl(TileMulFOp)
    def mulf(self, interpreter: Interpreter, op: TileMulFOp, args: PythonValues) -> PythonValues:
        return (multiplied_pairs(*args),)
