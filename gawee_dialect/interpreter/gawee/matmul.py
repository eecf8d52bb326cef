"""Attention."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.arrays import matrix_product, sum_along
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.interpreter.arrays import Array, accumulator, rounded
from gawee_dialect.interpreter.functions import OpFunctions


def attention(
    q: Array, k: Array, v: Array, mask: Array | None = None, *, scale: float, causal: bool = False
) -> Array:
    """Attend (..., queries, width) to keys and values; a query that sees no key gets zeros."""
    wide = accumulator(q)
    keys, values = (repeated_heads(accumulator(array), q) for array in (k, v))
    scores = np.multiply(matrix_product(wide, keys.swapaxes(-1, -2)), wide.dtype.type(scale))
    hidden = wide.dtype.type(-np.inf)
    if mask is not None and mask.dtype == np.bool_:
        scores = np.where(mask.view(np.bool_), scores, hidden)
    elif mask is not None:
        scores = np.add(scores, accumulator(mask))
    if causal:
        queries, count = scores.shape[-2:]
        rows = np.arange(queries, dtype=np.int64).reshape(-1, 1)
        scores = np.where(np.greater_equal(rows, np.arange(count, dtype=np.int64)), scores, hidden)
    return rounded(matrix_product(softmax_or_zeros(scores), values), q.dtype)


def repeated_heads(array: Array, q: Array) -> Array:
    """Repeat the heads of keys or values so that each head of q has its own."""
    if array.ndim < 3 or array.shape[-3] == q.shape[-3]:
        return array
    return np.repeat(array, q.shape[-3] // array.shape[-3], axis=-3)


def softmax_or_zeros(scores: Array) -> Array:
    """Compute softmax along the last axis; zeros where all scores are -inf."""
    greatest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    shift = np.where(np.equal(greatest, -np.inf), scores.dtype.type(0), greatest)
    powers = np.exp(np.subtract(scores, shift))
    total = sum_along(powers, -1)
    return np.divide(powers, np.where(np.equal(total, 0), scores.dtype.type(1), total))


@register_impls
class AttentionFunctions(OpFunctions):
    """What the ops of `dialect/graph/attention.py` compute."""

    @impl(AttentionOp)
    def attention(
        self, interpreter: Interpreter, op: AttentionOp, args: PythonValues
    ) -> PythonValues:
        result = attention(*args, scale=op.scale.value.data, causal=op.causal is not None)
        return (result,)
