"""Attention, and what goes with it."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.along_axis import SoftmaxOp
from gawee_dialect.dialect.elementary import TanhOp
from gawee_dialect.dialect.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.gather import GatherOp
from gawee_dialect.dialect.matmul import BatchMatMulOp
from gawee_dialect.dialect.shape import CatOp
from gawee_dialect.dialect.types import element_type, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import div, mul
from gawee_dialect.frontends.onnx.argument_rules import check_size
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.comparison import compared, where
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal


def _heads(emit: Emitter, value: SSAValue, count: int | None) -> SSAValue:
    """Return batch x heads x rows x size of a tensor that may have its heads in one axis."""
    shape = tensor_shape(value)
    if len(shape) == 4:
        return value
    if len(shape) != 3:
        raise Refusal(f"expected inputs of rank 3 or 4, got {shape_text(shape)}")
    if count is None:
        raise Refusal("expected q_num_heads and kv_num_heads for inputs of rank 3, got none")
    if shape[2] % count:
        raise Refusal(f"expected {shape[2]} columns to be a multiple of {count} heads")
    split = emit.reshape(value, (shape[0], shape[1], count, shape[2] // count))
    return permuted(emit, split, (0, 2, 1, 3))


def _repeated(emit: Emitter, value: SSAValue, heads: int) -> SSAValue:
    """Return a tensor with each head as often as several queries share it."""
    batch, own, rows, size = tensor_shape(value)
    if own == heads:
        return value
    wide = emit.broadcast(
        emit.reshape(value, (batch, own, 1, rows, size)), (batch, own, heads // own, rows, size)
    )
    return emit.reshape(wide, (batch, heads, rows, size))


@register_op("Attention")
def attention(
    emit: Emitter,
    q: SSAValue,
    k: SSAValue,
    v: SSAValue,
    attn_mask: SSAValue | None = None,
    past_key: SSAValue | None = None,
    past_value: SSAValue | None = None,
    nonpad_kv_seqlen: SSAValue | None = None,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Sequence[SSAValue | None]:
    """softmax(q k' * scale + mask) v for each head, with what was kept from earlier calls"""
    flat = len(tensor_shape(q)) == 3
    query, key, value = (
        _heads(emit, each, count)
        for each, count in ((q, q_num_heads), (k, kv_num_heads), (v, kv_num_heads))
    )
    if past_key is not None and past_value is not None:
        key = emit(CatOp([past_key, key], dim=2))
        value = emit(CatOp([past_value, value], dim=2))
    present = key, value
    batch, heads, rows, size = tensor_shape(query)
    columns = tensor_shape(key)[2]
    past = columns - tensor_shape(k)[-2]
    key, value = _repeated(emit, key, heads), _repeated(emit, value, heads)
    factor = 1 / sqrt(size) if scale is None else scale
    query, key = mul(emit, query, sqrt(factor)), mul(emit, key, sqrt(factor))
    scores = emit(
        BatchMatMulOp(
            emit.reshape(query, (batch * heads, rows, size)),
            emit.reshape(key, (batch * heads, columns, size)),
            transpose_b=True,
        )
    )
    scores = emit.reshape(scores, (batch, heads, rows, columns))
    stages = {0: scores}
    if softcap:
        scores = mul(emit, emit(TanhOp(div(emit, scores, softcap))), softcap)
    stages[1] = scores
    scores = _masked(emit, scores, attn_mask, past if is_causal else None)
    if nonpad_kv_seqlen is not None:
        scores = _without_padding(emit, scores, nonpad_kv_seqlen)
    stages[2] = scores
    weights = emit(SoftmaxOp(scores, axis=3))
    stages[3] = weights
    width = tensor_shape(value)[3]
    mixed = emit(
        BatchMatMulOp(
            emit.reshape(weights, (batch * heads, rows, columns)),
            emit.reshape(value, (batch * heads, columns, width)),
        )
    )
    result = emit.reshape(mixed, (batch, heads, rows, width))
    if flat:
        result = emit.reshape(permuted(emit, result, (0, 2, 1, 3)), (batch, rows, heads * width))
    return result, *present, stages[qk_matmul_output_mode]


def _masked(emit: Emitter, scores: SSAValue, mask: SSAValue | None, past: int | None) -> SSAValue:
    """Return scores with a mask added, or -inf where it is false, and of later rows."""
    element = element_type(scores)
    low = -np.inf
    rows, columns = tensor_shape(scores)[2:]
    if past is not None:
        check_size(rows * columns)
        earlier = np.tril(np.ones((rows, columns), bool), past)
        allowed = emit.array(earlier, i1)
        scores = where(emit, allowed, scores, low)
    if mask is None:
        return scores
    missing = columns - tensor_shape(mask)[-1]
    if missing > 0:
        mask = _widened(emit, mask, missing)
    if element_type(mask) == i1:
        return where(emit, mask, scores, low)
    return emit(AddOp(scores, emit.cast(mask, element)))


def _widened(emit: Emitter, mask: SSAValue, missing: int) -> SSAValue:
    shape = (*tensor_shape(mask)[:-1], missing)
    element = element_type(mask)
    rest = emit.full(shape, False if element == i1 else -np.inf, element)
    return emit(CatOp([mask, rest], dim=len(shape) - 1))


def _without_padding(emit: Emitter, scores: SSAValue, lengths: SSAValue) -> SSAValue:
    """Return scores with -inf from the length of each batch on."""
    batch, _, _, columns = tensor_shape(scores)
    check_size(columns)
    places = emit.array(np.arange(columns), i64)
    ends = emit.reshape(emit.cast(lengths, i64), (batch, 1, 1, 1))
    return where(emit, compared(emit, places, ends, "lt"), scores, -np.inf)


@register_op("RotaryEmbedding")
def rotary_embedding(
    emit: Emitter,
    x: SSAValue,
    cos_cache: SSAValue,
    sin_cache: SSAValue,
    position_ids: SSAValue | None = None,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> SSAValue:
    """Pairs of elements turned by angles of their position"""
    shape = tensor_shape(x)
    if len(shape) not in (3, 4):
        raise Refusal(f"expected an input of rank 3 or 4, got {shape_text(shape)}")
    if len(shape) == 3:
        if not num_heads or shape[2] % num_heads:
            raise Refusal(f"expected {shape[2]} columns to be a multiple of {num_heads} heads")
        parts = emit.reshape(x, (shape[0], shape[1], num_heads, shape[2] // num_heads))
    else:
        parts = permuted(emit, x, (0, 2, 1, 3))
    batch, rows, heads, size = tensor_shape(parts)
    turned = rotary_embedding_dim or size
    half = turned // 2
    tables: list[SSAValue] = []
    for cache in (cos_cache, sin_cache):
        table = cache if position_ids is None else emit(GatherOp(cache, position_ids, axis=0))
        tables.append(emit.reshape(table, (batch, rows, 1, half)))
    cos, sin = tables
    first = part(emit, parts, 3, 0, turned)
    if interleaved:
        pairs = emit.reshape(first, (batch, rows, heads, half, 2))
        a, b = (
            emit.reshape(part(emit, pairs, 4, i, 1), (batch, rows, heads, half)) for i in (0, 1)
        )
    else:
        a, b = part(emit, first, 3, 0, half), part(emit, first, 3, half, half)
    real = emit(SubOp(emit(MulOp(cos, a)), emit(MulOp(sin, b))))
    imaginary = emit(AddOp(emit(MulOp(sin, a)), emit(MulOp(cos, b))))
    if interleaved:
        joint = emit(
            CatOp(
                [emit.reshape(e, (batch, rows, heads, half, 1)) for e in (real, imaginary)], dim=4
            )
        )
        result = emit.reshape(joint, (batch, rows, heads, turned))
    else:
        result = emit(CatOp([real, imaginary], dim=3))
    if turned < size:
        rest = part(emit, parts, 3, turned, size - turned)
        result = emit(CatOp([result, rest], dim=3))
    if len(shape) == 3:
        return emit.reshape(result, shape)
    return permuted(emit, result, (0, 2, 1, 3))
