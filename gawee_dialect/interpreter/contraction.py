"""Sums of products over loops, as matrix products (BLAS)."""

from collections.abc import Sequence
from math import prod

import numpy as np

from gawee_dialect.analysis.long_sums import LONG_SUM
from gawee_dialect.dialect.sums import sum_along
from gawee_dialect.interpreter.arrays import Array, is_half
from gawee_dialect.interpreter.loop_views import in_loop_order


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


def contract(lhs: Array, rhs: Array, summed: Sequence[int]) -> Array:
    """Multiply two arrays that broadcast and sum over the axes `summed`, which are kept, size 1.

    Loops are sorted by who depends on them: batch (both, not summed), depth (both, summed) and
    those of one operand alone. The operand that the last axis belongs to stands on the right, so
    the product comes out in the order of the result; loops of its own that come before those of the
    left one count as batch. float16 and bfloat16 are summed in float32.
    """
    dtype = lhs.dtype
    if is_half(dtype):
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
    left_matrix = _matrix(lhs, batch, left, depth)
    right_matrix = _matrix(rhs, batch, depth, right)
    product = matrix_product(left_matrix, right_matrix)
    order = [*batch, *left, *right, *depth]
    sizes = [1 if axis in summed else max(lhs.shape[axis], rhs.shape[axis]) for axis in order]
    result = product.reshape(sizes).transpose([order.index(axis) for axis in axes])
    return result.astype(dtype, copy=False)


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
    matrix = ordered.reshape(
        *batch_shape,
        prod(array.shape[axis] for axis in rows),
        prod(array.shape[axis] for axis in columns),
    )
    return in_loop_order(matrix)  # BLAS sums a transposed matrix in an order of its own
