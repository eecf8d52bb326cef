"""Views of arrays without copying: of structured ops' operands, one axis per loop; boxes of slices.

Boxes go by offsets, sizes and strides, as tensor and memref ops spell them.
"""

import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.arrays import elements, strided
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.upstream.tensor import ParallelInsertSliceOp, kept_axes


def loop_ranges(maps: Sequence[AffineMap], shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the trip count of every loop, from the operand sizes that a loop indexes alone.

    Raises InterpretationError where a loop indexes no operand alone, or sizes differ.
    """
    ranges: list[int | None] = [None] * maps[0].num_dims
    for affine_map, shape in zip(maps, shapes, strict=True):
        for expression, size in zip(affine_map.results, shape, strict=True):
            if not isinstance(expression, AffineDimExpr):
                continue
            known = ranges[expression.position]
            if known is not None and known != size:
                raise InterpretationError(
                    f"expected loop d{expression.position} to have one trip count, "
                    f"got {known} and {size}"
                )
            ranges[expression.position] = size
    if None in ranges:
        raise InterpretationError(f"expected an operand that loop d{ranges.index(None)} indexes")
    return tuple(size for size in ranges if size is not None)


def linear_form(expression: AffineExpr, num_dims: int) -> tuple[int, list[int]] | None:
    """Return (constant, coefficient of every loop), None where the expression is not linear."""
    match expression:
        case AffineConstantExpr():
            return expression.value, [0] * num_dims
        case AffineDimExpr():
            return 0, [int(dim == expression.position) for dim in range(num_dims)]
        case AffineBinaryOpExpr():
            lhs = linear_form(expression.lhs, num_dims)
            rhs = linear_form(expression.rhs, num_dims)
            if lhs is None or rhs is None:
                return None
            if expression.kind is AffineBinaryOpKind.Add:
                return lhs[0] + rhs[0], [a + b for a, b in zip(lhs[1], rhs[1], strict=True)]
            if expression.kind is AffineBinaryOpKind.Mul and not any(rhs[1]):
                return lhs[0] * rhs[0], [a * rhs[0] for a in lhs[1]]
            if expression.kind is AffineBinaryOpKind.Mul and not any(lhs[1]):
                return lhs[0] * rhs[0], [lhs[0] * b for b in rhs[1]]
            return None
        case _:
            return None


# An ellipsis in the subscripts below: without it, NumPy copies where there are no axes.


def loop_view(array: Array, affine_map: AffineMap, ranges: Sequence[int]) -> Array | None:
    """View an operand with one axis per loop, of size 1 where the map leaves a loop out.

    None where the map is not linear. Raises InterpretationError where it leaves the operand.
    """
    whole = elements(array)
    strides = [0] * len(ranges)
    used = [False] * len(ranges)
    origin: list[int] = []
    for axis, expression in enumerate(affine_map.results):
        form = linear_form(expression, len(ranges))
        if form is None:
            return None
        constant, coefficients = form
        ends = [c * (size - 1) for c, size in zip(coefficients, ranges, strict=True)]
        low = constant + sum(end for end in ends if end < 0)
        high = constant + sum(end for end in ends if end > 0)
        if low < 0 or high >= whole.shape[axis]:
            raise InterpretationError(
                f"index {low if low < 0 else high} is out of bounds for dimension {axis} of size "
                f"{whole.shape[axis]}, by '{affine_map}'"
            )
        origin.append(constant)
        for dim, coefficient in enumerate(coefficients):
            strides[dim] += coefficient * whole.strides[axis]
            used[dim] = used[dim] or coefficient != 0
    shape = [size if use else 1 for size, use in zip(ranges, used, strict=True)]
    start = whole[(*(slice(first, None) for first in origin), ...)]
    return strided(start, shape, strides)


def take(array: Array, indices: Sequence[Array]) -> Array:
    """Read one element per index; the indices broadcast."""
    # NumPy's stubs require index arrays to be integers by type, which only their dtype says.
    return elements(array)[tuple(np.asarray(index, dtype=np.int64) for index in indices)]


def index_grid(dim: int, ranges: Sequence[int]) -> Array:
    """Return the index of a loop at every trip, along its axis."""
    shape = [1] * len(ranges)
    shape[dim] = ranges[dim]
    return np.arange(ranges[dim], dtype=np.int64).reshape(shape)


def element_indices(
    affine_map: AffineMap, ranges: Sequence[int], shape: Sequence[int]
) -> tuple[Array, ...]:
    """Return the index along every axis of an operand, at every point of the nest.

    The arrays have one axis per loop, of size 1 where an index does not depend on it. Raises
    InterpretationError where the map leaves an operand of this shape.
    """
    grids = [index_grid(dim, ranges) for dim in range(len(ranges))]
    indices = tuple(np.asarray(_evaluate(result, grids)) for result in affine_map.results)
    for axis, (index, size) in enumerate(zip(indices, shape, strict=True)):
        if index.size and (int(index.min()) < 0 or int(index.max()) >= size):
            raise InterpretationError(
                f"an index is out of bounds for dimension {axis} of size {size}, by '{affine_map}'"
            )
    return indices


def gathered(array: Array, affine_map: AffineMap, ranges: Sequence[int]) -> Array:
    """Read an operand at every point of the nest, for maps that are not linear.

    Raises InterpretationError where the map leaves the operand.
    """
    result = take(array, element_indices(affine_map, ranges, np.shape(array)))
    return result.reshape((1,) * (len(ranges) - result.ndim) + result.shape)


def operand_view(array: Array, affine_map: AffineMap, ranges: Sequence[int]) -> Array:
    """Return an operand with one axis per loop: a view of it where the map is linear, or a copy.

    Raises InterpretationError where the map leaves the operand.
    """
    view = loop_view(array, affine_map, ranges)
    return gathered(array, affine_map, ranges) if view is None else view


def _evaluate(expression: AffineExpr, grids: Sequence[Array]) -> Array:
    match expression:
        case AffineConstantExpr():
            return np.array(expression.value)
        case AffineDimExpr():
            return grids[expression.position]
        case AffineBinaryOpExpr():
            lhs, rhs = _evaluate(expression.lhs, grids), _evaluate(expression.rhs, grids)
            match expression.kind:
                case AffineBinaryOpKind.Add:
                    return np.add(lhs, rhs)
                case AffineBinaryOpKind.Mul:
                    return np.multiply(lhs, rhs)
                case AffineBinaryOpKind.Mod:
                    return np.mod(lhs, rhs)
                case AffineBinaryOpKind.FloorDiv:
                    return np.floor_divide(lhs, rhs)
                case AffineBinaryOpKind.CeilDiv:
                    return np.negative(np.floor_divide(np.negative(lhs), rhs))
        case _:
            raise InterpretationError(f"unsupported index expression '{expression}'")


def part(view: Array, where: Sequence[slice]) -> Array:
    """Take a box of the nest from a view; axes along which it does not change are kept."""
    boxes = (box if size > 1 else slice(None) for box, size in zip(where, view.shape, strict=True))
    return view[(*boxes, ...)]


Boxed: TypeAlias = (
    tensor.ExtractSliceOp
    | tensor.InsertSliceOp
    | ParallelInsertSliceOp
    | memref.SubviewOp
    | memref.ReinterpretCastOp
)
"""The ops that say a box."""


@lru_cache(maxsize=4096)
def _numbers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 8}q", data)


def static_values(static: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """Return integers of 64 bits; loops ask for them in every iteration."""
    return _numbers(static.data.data)


def mixed_values(static: DenseArrayBase[IntegerType], dynamic: Iterator[Array]) -> list[int]:
    """Return static values, those that are dynamic taken from operands in order."""
    return [
        int(next(dynamic)) if value == DYNAMIC_INDEX else value for value in static_values(static)
    ]


def box_values(op: Boxed, dynamic: Sequence[Array]) -> tuple[list[int], list[int], list[int]]:
    """Return the offsets, sizes and strides of an op; `dynamic` are its operands of type index."""
    values = iter(dynamic)
    offsets = mixed_values(op.static_offsets, values)
    sizes = mixed_values(op.static_sizes, values)
    return offsets, sizes, mixed_values(op.static_strides, values)


def check_box(axis: int, offset: int, size: int, stride: int, bound: int) -> None:
    """Raise InterpretationError where a box leaves an axis, whose size is the bound."""
    last = offset + (size - 1) * stride
    if size and (size < 0 or min(offset, last) < 0 or max(offset, last) >= bound):
        raise InterpretationError(
            f"offset {offset}, size {size} and stride {stride} are out of bounds for "
            f"dimension {axis} of size {bound}"
        )


def box(
    array: Array, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> Array:
    """View a box of an array; raises InterpretationError where it leaves the array."""
    where: list[slice] = []
    for axis, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        check_box(axis, offset, size, stride, array.shape[axis])
        end = offset + (size - 1) * stride + (1 if stride > 0 else -1)
        where.append(slice(offset, end if end >= 0 else None, stride) if size else slice(0, 0))
    return array[(*where, ...)]  # without the ellipsis, NumPy copies where there are no axes


def without_left_out(
    part: Array, sizes: DenseArrayBase[IntegerType], shape: Sequence[int]
) -> Array:
    """View a box without the axes of one element that the shape of a slice leaves out."""
    values = static_values(sizes)
    kept = kept_axes(values, shape)
    return part.squeeze(tuple(axis for axis in range(len(values)) if axis not in kept))


def put_slice(
    array: Array,
    source: Array,
    op: tensor.InsertSliceOp | ParallelInsertSliceOp,
    dynamic: Sequence[Array],
) -> None:
    """Write a slice into an array, at the box that an op names; `dynamic` are its indices."""
    part = box(array, *box_values(op, dynamic))
    part[...] = source.reshape(part.shape)
