"""What every op means by views, sums and products of arrays, NumPy's and those of other numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.ir import Operation

from gawee_dialect.dialect.types import LONG_SUM

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


class OtherNumbers:
    """The base of arrays that are not NumPy's, but speak its protocols of array functions.

    They may say themselves what a scalar op computes that is no function of NumPy.
    """

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along every axis."""
        raise NotImplementedError

    def strided(self, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """View the elements as NumPy's `as_strided` does."""
        raise NotImplementedError

    def evaluate(
        self,
        evaluate: Callable[[Operation, Sequence[Array]], Array],
        op: Operation,
        operands: Sequence[Array],
    ) -> Array:
        """Compute an op's only result of operands of which one is such an array."""
        return evaluate(op, operands)


def elements(array: Array) -> Array:
    """Return an array in the place of a scalar."""
    return array if isinstance(array, OtherNumbers) else np.asarray(array)


def in_loop_order(array: Array) -> Array:
    """Return an array in C order, so that NumPy sums it in one order whatever its layout was."""
    return array if isinstance(array, OtherNumbers) else np.asarray(array, order="C")


def strided(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """View the elements of an array from its first on, so many bytes apart along each axis."""
    if isinstance(array, OtherNumbers):
        return array.strided(shape, strides)
    return as_strided(array, shape, strides)


# Sums.


def total_dtype(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """Return what sums of a dtype are taken in: float64 for float32, its own for any other."""
    return np.dtype(np.float64) if dtype == np.float32 else dtype


def sum_along(array: Array, axes: int | Sequence[int], *, keep_dims: bool = True) -> Array:
    """Add up the elements along axes; integers wrap around, float32 is rounded once, at the end."""
    along = axes if isinstance(axes, int) else tuple(axes)
    total = np.add.reduce(array, axis=along, dtype=total_dtype(array.dtype), keepdims=keep_dims)
    return total.astype(array.dtype, copy=False)


# Sums of products, as matrix products (BLAS).

PIECE_ELEMENTS = 1 << 23
"""The most elements that are brought in the form of a matrix at once (32 MB of float32)."""


def matrix_product(lhs: Array, rhs: Array) -> Array:
    """Multiply the matrices (..., m, k) and (..., k, n) of arrays that broadcast before them.

    Long sums of float32 are taken in float64, in blocks, so that little is copied at a time.
    """
    depth = lhs.shape[-1]
    if lhs.dtype != np.float32 or depth <= LONG_SUM:
        return np.matmul(lhs, rhs)
    total: Array = np.zeros((), np.float64)
    for start in range(0, depth, LONG_SUM):
        block = slice(start, start + LONG_SUM)
        total = np.add(total, np.matmul(lhs[..., block], rhs[..., block, :], dtype=np.float64))
    return total.astype(lhs.dtype)


def contract(
    lhs: Array, rhs: Array, summed: Sequence[int], matrix: Callable[[Array], Array] = in_loop_order
) -> Array:
    """Multiply two arrays that broadcast and sum over the axes `summed`, which are kept, size 1.

    Loops are sorted by the operands that depend on them: batch (both, not summed), depth (both, summed) and
    those of one operand alone. The operand that the last axis belongs to stands on the right, so
    the product comes out in the order of the result; loops of its own that come before those of the
    left one count as batch. float16 and bfloat16 are summed in float32. Large operands are taken a
    piece of the first axis at a time. BLAS sums a transposed matrix in an order of its own: `matrix`
    says whether it is copied.
    """
    largest = max(lhs, rhs, key=lambda array: array.size)
    cut = [axis for axis in range(lhs.ndim) if largest.shape[axis] > 1 and axis not in summed]
    if largest.size > PIECE_ELEMENTS and cut:
        middle = largest.shape[cut[0]] // 2
        halves = (slice(0, middle), slice(middle, None))
        pieces = (
            contract(_part(lhs, cut[0], half), _part(rhs, cut[0], half), summed, matrix)
            for half in halves
        )
        return np.concatenate(list(pieces), cut[0])
    dtype = lhs.dtype
    if dtype.name in ("float16", "bfloat16"):
        lhs, rhs = lhs.astype(np.float32), rhs.astype(np.float32)
    lhs, rhs = _sum_alone(lhs, rhs, summed), _sum_alone(rhs, lhs, summed)
    if _last_axis(lhs, summed) > _last_axis(rhs, summed):
        lhs, rhs = rhs, lhs
    axes = range(lhs.ndim)
    free = [axis for axis in axes if axis not in summed]
    left = [axis for axis in free if lhs.shape[axis] > 1 and rhs.shape[axis] == 1]
    first_left = left[0] if left else -1
    right = [axis for axis in free if axis not in left and rhs.shape[axis] > 1]
    right = [axis for axis in right if lhs.shape[axis] == 1 and axis > first_left]
    batch = [axis for axis in free if axis not in left and axis not in right]
    depth = list(summed)
    left_matrix = matrix(_matrix(lhs, batch, left, depth))
    right_matrix = matrix(_matrix(rhs, batch, depth, right))
    product = matrix_product(left_matrix, right_matrix)
    order = [*batch, *left, *right, *depth]
    sizes = [1 if axis in summed else max(lhs.shape[axis], rhs.shape[axis]) for axis in order]
    result = product.reshape(sizes).transpose([order.index(axis) for axis in axes])
    return result.astype(dtype, copy=False)


def _part(array: Array, axis: int, where: slice) -> Array:
    return array[(*[slice(None)] * axis, where)] if array.shape[axis] > 1 else array


def _sum_alone(array: Array, other: Array, summed: Sequence[int]) -> Array:
    alone = tuple(axis for axis in summed if array.shape[axis] > 1 and other.shape[axis] == 1)
    return sum_along(in_loop_order(array), alone) if alone else array


def _last_axis(array: Array, summed: Sequence[int]) -> int:
    own = [axis for axis in range(array.ndim) if array.shape[axis] > 1 and axis not in summed]
    return own[-1] if own else -1


def _matrix(
    array: Array, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> Array:
    named = [*batch, *rows, *columns]
    others = [axis for axis in range(array.ndim) if axis not in named]  # of size 1
    ordered = array.transpose([*named, *others])
    batch_shape = ordered.shape[: len(batch)]
    return ordered.reshape(
        *batch_shape,
        prod(array.shape[axis] for axis in rows),
        prod(array.shape[axis] for axis in columns),
    )
