"""Attention."""

from collections.abc import Sequence
from functools import reduce
from math import inf, nan, sqrt

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.elementwise import MulOp, ReluOp, broadcast_shape
from gawee_dialect.dialect.graph.logic import LogicalNotOp, WhereOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.reduction import ReduceAnyOp, ReduceMeanOp, SoftmaxOp
from gawee_dialect.dialect.types import element_type, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.activation import gelu
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add
from gawee_dialect.frontends.npu_ir.aten.contraction import linear
from gawee_dialect.frontends.npu_ir.aten.normalization import layer_norm
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import transpose
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part, to_bool
from gawee_dialect.frontends.op_mapping.registry import Refusal


@register_op("aten.scaled_dot_product_attention")
def attention(
    emit: Emitter,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    attn_mask: SSAValue | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> SSAValue:
    """Scaled dot-product attention; with enable_gqa fewer heads of keys and values serve more"""
    if dropout_p > 0:
        raise Refusal(
            f"unsupported dropout_p {dropout_p}; supported: 0",
            hint="model.eval() before the model is extracted",
        )
    own = 3 if enable_gqa else 2  # axes that belong to the matrices, or to them and the heads
    tensors = (query, key, value)
    leads = [tensor_shape(each)[:-own] for each in tensors]
    lead = reduce(broadcast_shape, leads)
    q, k, v = (emit.broadcast(each, (*lead, *tensor_shape(each)[-own:])) for each in tensors)
    return emit(AttentionOp(q, k, v, attn_mask, scale=scale, causal=is_causal))


@register_op("aten._scaled_dot_product_flash_attention_for_cpu")
def flash_attention(
    emit: Emitter,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    attn_mask: SSAValue | None = None,
    scale: float | None = None,
) -> Sequence[SSAValue | None]:
    """Scaled dot-product attention; the logarithms of its sums are not made"""
    # Heads of keys and values are repeated, or fewer of them serve more, as their numbers say.
    enable_gqa = tensor_shape(query)[1] != tensor_shape(key)[1]
    result = attention(emit, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return result, None


@register_op("aten._scaled_dot_product_attention_math")
def attention_math(
    emit: Emitter,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    attn_mask: SSAValue | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: SSAValue | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Sequence[SSAValue | None]:
    """Scaled dot-product attention; its weights are not made"""
    result = attention(emit, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return result, None


def hidden_keys(
    emit: Emitter, mask: SSAValue, mask_type: int | None, scores: Sequence[int]
) -> SSAValue:
    """Return which keys a mask hides, so that it broadcasts to (batch, heads, queries, keys).

    By its type it is of queries and keys (0), of the batch and keys (1), or of all (2).
    """
    batch, heads, queries, keys = scores
    kept = tensor_shape(mask)
    shapes = {0: (queries, keys), 1: (batch, keys), 2: (batch, heads, queries, keys)}
    if mask_type not in shapes:
        raise Refusal(f"unsupported mask_type {mask_type}; supported: 0, 1, 2")
    if kept not in (shapes[mask_type], shapes[2]):
        raise Refusal(
            f"expected a mask of {shape_text(shapes[mask_type])} for mask_type {mask_type}, "
            f"got {shape_text(kept)}"
        )
    by_batch = mask_type == 1 and len(kept) == 2
    return to_bool(emit, emit.reshape(mask, (batch, 1, 1, keys)) if by_batch else mask)


@register_op("aten._native_multi_head_attention")
def multi_head_attention(
    emit: Emitter,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    embed_dim: int,
    num_head: int,
    qkv_weight: SSAValue,
    qkv_bias: SSAValue,
    proj_weight: SSAValue,
    proj_bias: SSAValue,
    mask: SSAValue | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> Sequence[SSAValue | None]:
    """Attention of several heads with its linear layers; its weights where something reads them

    Where the mask hides all keys from a query, the result is NaN, as in PyTorch.
    """
    whole = linear(emit, query, qkv_weight, qkv_bias) if query is key is value else None
    batch, length, _ = tensor_shape(query)

    def heads_of(index: int, value: SSAValue) -> SSAValue:
        start = index * embed_dim
        if whole is None:
            weight, bias = (part(emit, w, 0, start, embed_dim) for w in (qkv_weight, qkv_bias))
            projected = linear(emit, value, weight, bias)
        else:
            projected = part(emit, whole, 2, start, embed_dim)
        apart = (batch, length, num_head, embed_dim // num_head)
        return transpose(emit, emit.reshape(projected, apart), 1, 2)

    q, k, v = heads_of(0, query), heads_of(1, key), heads_of(2, value)
    scores = (batch, num_head, length, length)
    hidden = None if mask is None else hidden_keys(emit, mask, mask_type, scores)
    weights = None
    if need_weights and emit.is_used(1):
        weights = _attention_weights(emit, q, k, hidden)
        mixed = emit(BatchMatMulOp(weights, v))
        if average_attn_weights:
            weights = emit(ReduceMeanOp(weights, axes=[1], keep_dims=False))
    else:
        mixed = _attention_to_seen(emit, q, k, v, hidden)
    joined = emit.reshape(transpose(emit, mixed, 1, 2), (batch, length, embed_dim))
    return linear(emit, joined, proj_weight, proj_bias), weights


def _attention_to_seen(
    emit: Emitter, query: SSAValue, key: SSAValue, value: SSAValue, hidden: SSAValue | None
) -> SSAValue:
    """Return attention to the keys that are not hidden, NaN for a query that sees none."""
    if hidden is None:
        return emit(AttentionOp(query, key, value))
    seen = emit(LogicalNotOp(hidden))
    mixed = emit(AttentionOp(query, key, value, seen))
    any_seen = emit(ReduceAnyOp(seen, axes=[-1], keep_dims=True))
    return emit(WhereOp(any_seen, mixed, emit.number(nan, element_type(mixed))))


def _attention_weights(
    emit: Emitter, query: SSAValue, key: SSAValue, hidden: SSAValue | None
) -> SSAValue:
    element = element_type(query)
    scale = emit.number(1 / sqrt(tensor_shape(query)[-1]), element)
    scores = emit(BatchMatMulOp(emit(MulOp(query, scale)), key, transpose_b=True))
    if hidden is not None:
        scores = emit(WhereOp(hidden, emit.number(-inf, element), scores))
    return emit(SoftmaxOp(scores, axis=-1))


@register_op("aten._transformer_encoder_layer_fwd")
def transformer_encoder_layer(
    emit: Emitter,
    src: SSAValue,
    embed_dim: int,
    num_heads: int,
    qkv_weight: SSAValue,
    qkv_bias: SSAValue,
    proj_weight: SSAValue,
    proj_bias: SSAValue,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: SSAValue,
    norm_bias_1: SSAValue,
    norm_weight_2: SSAValue,
    norm_bias_2: SSAValue,
    ffn_weight_1: SSAValue,
    ffn_bias_1: SSAValue,
    ffn_weight_2: SSAValue,
    ffn_bias_2: SSAValue,
    mask: SSAValue | None = None,
    mask_type: int | None = None,
) -> SSAValue:
    """Attention and two linear layers, each added to its input, normalized before or after"""

    def attended(value: SSAValue) -> SSAValue:
        weights = qkv_weight, qkv_bias, proj_weight, proj_bias
        options = mask, False, True, mask_type
        results = multi_head_attention(
            emit, value, value, value, embed_dim, num_heads, *weights, *options
        )
        assert results[0] is not None
        return results[0]

    def fed_forward(value: SSAValue) -> SSAValue:
        wide = linear(emit, value, ffn_weight_1, ffn_bias_1)
        active = gelu(emit, wide) if use_gelu else emit(ReluOp(wide))
        return linear(emit, active, ffn_weight_2, ffn_bias_2)

    value = src
    for block, weight, bias in (
        (attended, norm_weight_1, norm_bias_1),
        (fed_forward, norm_weight_2, norm_bias_2),
    ):
        if norm_first:
            value = add(emit, value, block(layer_norm(emit, value, [embed_dim], weight, bias, eps)))
        else:
            value = layer_norm(emit, add(emit, value, block(value)), [embed_dim], weight, bias, eps)
    return value
