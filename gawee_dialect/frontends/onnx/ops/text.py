"""Texts as counts of what stands in them."""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.bitwise import BitwiseAndOp
from gawee_dialect.dialect.graph.comparison import CompareOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.graph.gather import GatherOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.graph.shape import CatOp
from gawee_dialect.dialect.types import element_type, shape_text, tensor_shape
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, compared, part
from gawee_dialect.frontends.op_mapping.registry import Floats, Ints, Refusal

MAX_SKIPS = 256
"""Words that an n-gram may skip: each count of them is looked for by ops of its own."""


def _counts(emit: Emitter, rows: SSAValue, grams: Sequence[Sequence[int]], skips: int) -> SSAValue:
    """Return how often each of some n-grams of one length stands in each row, as floats."""
    batch, width = tensor_shape(rows)
    size = len(grams[0])
    total = emit.full((batch, len(grams)), 0, f32)
    for step in range(1, (skips if size > 1 else 0) + 2):
        places = width - (size - 1) * step
        if places < 1:
            break
        hits: list[SSAValue] = []
        for position in range(size):
            now = emit.reshape(part(emit, rows, 1, position * step, places), (batch, places, 1))
            wanted = emit.array(np.array([gram[position] for gram in grams]), element_type(rows))
            hits.append(emit(CompareOp(now, wanted, predicate="eq")))
        found = emit.cast(reduce(lambda a, b: emit(BitwiseAndOp(a, b)), hits), f32)
        total = emit(AddOp(total, emit(ReduceSumOp(found, axes=[1]))))
    return total


def _check_pool(counts: Sequence[int], indexes: Sequence[int], pool: Sequence[int]) -> None:
    """Raise Refusal unless a pool is cut into n-grams, for each of which there is an index."""
    grams = 0
    for size, (start, end) in enumerate(pairwise([*counts, len(pool)]), 1):
        if start > end or (end - start) % size:
            raise Refusal(f"expected ngram_counts to cut {len(pool)} words, got {list(counts)}")
        grams += (end - start) // size
    if grams != len(indexes) or not grams:
        raise Refusal(f"expected an index of each of {grams} n-grams, got {len(indexes)}")


@register_op("TfIdfVectorizer", limits=("the pool is of integers",))
def tf_idf_vectorizer(
    emit: Emitter,
    x: SSAValue,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: Ints,
    ngram_indexes: Ints,
    pool_int64s: Ints = (),
    weights: Floats | None = None,
) -> SSAValue:
    """How often n-grams of a pool stand in each row, weighted"""
    if mode not in ("TF", "IDF", "TFIDF"):
        raise Refusal(f"unsupported mode '{mode}'; supported: TF, IDF, TFIDF")
    shape = tensor_shape(x)
    rows = emit.reshape(x, (1, *shape)) if len(shape) == 1 else x
    if not 1 <= len(shape) <= 2:
        raise Refusal(f"expected rows of words, got {shape_text(shape)}")
    _check_pool(ngram_counts, ngram_indexes, pool_int64s)
    if max_skip_count > MAX_SKIPS:
        raise Refusal(f"expected a max_skip_count of at most {MAX_SKIPS}, got {max_skip_count}")
    columns = max(ngram_indexes) + 1
    parts = [emit.full((tensor_shape(rows)[0], 1), 0, f32)]
    at = [0] * columns
    scale = [1.0] * columns
    seen, gram = 1, 0
    for size, start in enumerate(ngram_counts, 1):
        end = ngram_counts[size] if size < len(ngram_counts) else len(pool_int64s)
        grams = [pool_int64s[i : i + size] for i in range(start, end, size)]
        if grams and min_gram_length <= size <= max_gram_length:
            parts.append(_counts(emit, rows, grams, max_skip_count))
            for offset in range(len(grams)):
                at[ngram_indexes[gram + offset]] = seen + offset
            seen += len(grams)
        for offset in range(len(grams)):
            scale[ngram_indexes[gram + offset]] = weights[gram + offset] if weights else 1.0
        gram += len(grams)
    counts = parts[0] if len(parts) == 1 else emit(CatOp(parts, dim=1))
    result = emit(GatherOp(counts, emit.array(np.array(at), i64), axis=1))
    if mode == "IDF":
        result = emit.cast(compared(emit, result, 0, "gt"), f32)
    if mode != "TF":
        result = emit(MulOp(result, emit.array(np.array(scale), f32)))
    return emit.reshape(result, (columns,)) if len(shape) == 1 else result
