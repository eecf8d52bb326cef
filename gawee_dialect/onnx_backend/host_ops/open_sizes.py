"""Ops whose results are as large as the elements of their inputs say."""

import numpy as np

from gawee_dialect.onnx_backend.host_ops.registry import host_op
from gawee_dialect.onnx_backend.values import Array


@host_op("NonZero")
def nonzero(x: Array) -> Array:
    """The indices of all elements that are not zero, a column each"""
    return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)


@host_op("Unique")
def unique(x: Array, axis: int | None = None, sorted: int = 1) -> tuple[Array, Array, Array, Array]:
    """Elements, or slices along an axis, that differ: where each is first, which one each is, and
    how often; in order, or as they come first"""
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        values = np.take(values, order, axis or 0)
        first, inverse, counts = first[order], rank[inverse], counts[order]
    return values, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


@host_op("Compress")
def compress(input: Array, condition: Array, axis: int | None = None) -> Array:
    """The slices along an axis that a condition chooses"""
    return np.compress(condition.astype(bool), input, axis)
