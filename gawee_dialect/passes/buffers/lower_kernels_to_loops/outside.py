"""What a kernel leaves around its points: halos and the rest of last blocks."""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import memref, vector
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.affine_range import value_range
from gawee_dialect.dialect.kernels.kernel import Number
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of
from gawee_dialect.dialect.open_size import OpenSize, greatest
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    Counters,
    IndexBuilder,
    LinearIndex,
    counters_of,
    size_index,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.lanes import broadcast
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_tiles import loops
from gawee_dialect.passes.buffers.lower_linalg_to_loops.loop_order import strides_of
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant

Box = tuple[tuple[int, int], ...]
"""The first index and the end along each axis."""

ROW_LANES = (16, 8, 4, 2)
"""Lanes of the vectors that fill a row: the most that it has room for."""


def image(map: AffineMap, sizes: Sequence[int]) -> Box | None:
    """Return the box of elements that points are about, None where they are no box."""
    box = [value_range(expr, sizes) for expr in map.results]
    if prod(high - low + 1 for low, high in box) != prod(sizes):
        return None
    return tuple((low, high + 1) for low, high in box)


def borders(shape: Sequence[int], inner: Box) -> Iterator[Box]:
    """Cut what is around a box into boxes: along each axis, what is before it and behind it."""
    for axis, (start, end) in enumerate(inner):
        for low, high in ((0, start), (end, shape[axis])):
            if low < high:
                rest = ((0, size) for size in shape[axis + 1 :])
                yield (*inner[:axis], (low, high), *rest)


def fill_outside(builder: Builder, op: StructuredKernel, outside: Number | None = None) -> None:
    """Fill the elements of the output that no point is about, with zero for None."""
    sizes = (*op.sizes[: op.num_parallel], *(1 for _ in op.sizes[op.num_parallel :]))
    buffer, map = op.target, op.maps[-1]
    shape = op.target_shape
    inner = image(map, sizes)
    boxes = [tuple((0, size) for size in shape)] if inner is None else list(borders(shape, inner))
    if not boxes:
        return
    number = 0 if outside is None else outside.value.data
    value = constant(builder, number, element_of(buffer))
    counters = counters_of(op)
    for box in boxes:
        _fill(builder, counters, buffer, box, value)


def _start(builder: Builder, counters: Counters, low: int) -> LinearIndex:
    if not isinstance(low, OpenSize):
        return LinearIndex(low)
    value = size_index(builder, counters, low)
    counters.trip_counts[value] = greatest(low) + 1
    return LinearIndex(terms={value: 1})


def _fill(
    builder: Builder, counters: Counters, buffer: SSAValue, box: Box, value: SSAValue
) -> None:
    """Store a value in every element of a box: loops over rows, and vectors along a row.

    Where vectors do not divide a row, the last one covers elements of the one before again.
    """
    sizes = [high - low for low, high in box]
    row = sizes[-1]
    fitting = (lanes for lanes in ROW_LANES if not isinstance(row, OpenSize) and lanes <= row)
    lanes = next(fitting, 1) if strides_of(buffer)[-1] == 1 else 1
    stored = broadcast(builder, value, lanes)
    starts = [_start(builder, counters, low) for low, _ in box]

    def store(inner: Builder, indices: Sequence[LinearIndex]) -> None:
        at = IndexBuilder(inner, counters)
        places = [at.value(index + start) for index, start in zip(indices, starts, strict=True)]
        if lanes == 1:
            inner.insert(memref.StoreOp.get(value, buffer, places))
        else:
            inner.insert(vector.StoreOp(stored, buffer, places))

    def fill_row(inner: Builder, rows: Sequence[LinearIndex]) -> None:
        def store_part(along: Builder, part: Sequence[LinearIndex]) -> None:
            store(along, [*rows, *(index.scaled(lanes) for index in part)])

        loops(inner, counters, [row // lanes], [f"i{len(rows)}"], store_part, unroll=False)
        if lanes > 1 and row % lanes:
            store(inner, [*rows, LinearIndex(row - lanes)])

    names = [f"i{axis}" for axis in range(len(sizes) - 1)]
    loops(builder, counters, sizes[:-1], names, fill_row, unroll=False)
