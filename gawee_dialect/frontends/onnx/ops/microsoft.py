"""Ops of com.microsoft that ONNX Runtime's optimizer makes of several others.

https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i1, i32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import GeluOp, SigmoidOp
from gawee_dialect.dialect.graph.arithmetic import FloorDivOp, TanhOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.types import element_type, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import scaled
from gawee_dialect.frontends.onnx.held_types import HELD, dtype_of
from gawee_dialect.frontends.onnx.ops.attention import attention, rotary_embedding
from gawee_dialect.frontends.onnx.ops.contraction import gemm, matmul
from gawee_dialect.frontends.onnx.ops.elementwise import between, hard_sigmoid, leaky_relu
from gawee_dialect.frontends.onnx.ops.reduction import layer_normalization, normalized
from gawee_dialect.frontends.onnx.ops.windows import ConvAttributes, conv
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    compared,
    part,
    permuted,
    stacked,
    where,
)
from gawee_dialect.frontends.op_mapping.registry import Floats, Ints, Refusal

MICROSOFT = "com.microsoft"


@register_op("SimplifiedLayerNormalization")
def simplified_layer_normalization(
    emit: Emitter,
    x: SSAValue,
    scale: SSAValue,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Sequence[SSAValue | None]:
    """The last axes moved to a mean square of 1, and one over the root of what it was"""
    rank = len(tensor_shape(x))
    value, _, inverse = normalized(
        emit, emit.cast(x, f32), list(range(axis % rank, rank)), epsilon, centre=False
    )
    return emit(MulOp(emit.cast(value, element_type(x)), scale)), inverse


def _joined(emit: Emitter, *values: SSAValue | None) -> SSAValue:
    total: SSAValue | None = None
    for each in values:
        if each is not None:
            total = each if total is None else emit(AddOp(total, each))
    assert total is not None
    return total


@register_op(f"{MICROSOFT}.SkipLayerNormalization")
def skip_layer_normalization(
    emit: Emitter,
    input: SSAValue,
    skip: SSAValue,
    gamma: SSAValue,
    beta: SSAValue | None = None,
    bias: SSAValue | None = None,
    epsilon: float = 1e-12,
) -> Sequence[SSAValue | None]:
    """Layer normalization of a sum, and the sum"""
    total = _joined(emit, input, skip, bias)
    made = layer_normalization(emit, total, gamma, beta, -1, epsilon)
    return (*(*made, None, None)[:3], total)


@register_op(f"{MICROSOFT}.SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(
    emit: Emitter,
    input: SSAValue,
    skip: SSAValue,
    gamma: SSAValue,
    bias: SSAValue | None = None,
    epsilon: float = 1e-12,
) -> Sequence[SSAValue | None]:
    """RMS normalization of a sum, and the sum"""
    total = _joined(emit, input, skip, bias)
    result, inverse = simplified_layer_normalization(emit, total, gamma, -1, epsilon)
    return result, None, inverse, total


@register_op(f"{MICROSOFT}.EmbedLayerNormalization")
def embed_layer_normalization(
    emit: Emitter,
    input_ids: SSAValue,
    segment_ids: SSAValue | None,
    word_embedding: SSAValue,
    position_embedding: SSAValue,
    segment_embedding: SSAValue | None,
    gamma: SSAValue,
    beta: SSAValue,
    mask: SSAValue | None = None,
    position_ids: SSAValue | None = None,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> Sequence[SSAValue | None]:
    """Layer normalization of the sum of what words, places and segments have in tables"""
    batch, length = tensor_shape(input_ids)
    words = emit(GatherOp(word_embedding, input_ids))
    if position_ids is None:
        places = part(emit, position_embedding, 0, 0, length)
    else:
        places = emit(GatherOp(position_embedding, position_ids))
    segments = None
    if segment_ids is not None and segment_embedding is not None:
        segments = emit(GatherOp(segment_embedding, segment_ids))
    total = _joined(emit, words, places, segments)
    result = layer_normalization(emit, total, gamma, beta, -1, epsilon)[0]
    if mask is None:
        lengths = emit.full((batch,), 0, i32)
    else:
        lengths = emit(ReduceSumOp(emit.cast(mask, i32), axes=[1], keep_dims=False))
    return result, lengths, total


@register_op(f"{MICROSOFT}.BiasGelu")
def bias_gelu(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """gelu of a sum"""
    return emit(GeluOp(emit(AddOp(a, b))))


@register_op(f"{MICROSOFT}.FastGelu")
def fast_gelu(emit: Emitter, x: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """gelu of a sum, by tanh"""
    return emit(GeluOp(_joined(emit, x, bias), approximate="tanh"))


@register_op(f"{MICROSOFT}.Gelu")
def gelu(emit: Emitter, x: SSAValue) -> SSAValue:
    """x times the normal distribution's integral"""
    return emit(GeluOp(x))


@register_op(f"{MICROSOFT}.QuickGelu")
def quick_gelu(emit: Emitter, x: SSAValue, alpha: float = 1.702) -> SSAValue:
    """x * sigmoid(alpha * x)"""
    return emit(MulOp(x, emit(SigmoidOp(scaled(emit, x, alpha)))))


@register_op(f"{MICROSOFT}.FusedMatMul", f"{MICROSOFT}.TransposeMatMul")
def fused_matmul(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> SSAValue:
    """alpha * a' b', matrices or batches of them"""
    if transBatchA or transBatchB:
        raise Refusal("unsupported transBatchA and transBatchB; supported: 0")
    left = _turned(emit, a) if transA else a
    right = _turned(emit, b) if transB else b
    return scaled(emit, matmul(emit, left, right), alpha)


def _turned(emit: Emitter, value: SSAValue) -> SSAValue:
    axes = list(range(len(tensor_shape(value))))
    return permuted(emit, value, [*axes[:-2], axes[-1], axes[-2]]) if len(axes) > 1 else value


ACTIVATED: dict[str, Callable[[Emitter, SSAValue, Floats], SSAValue]] = {
    "Relu": lambda emit, x, _: emit(ReluOp(x)),
    "Sigmoid": lambda emit, x, _: emit(SigmoidOp(x)),
    "Tanh": lambda emit, x, _: emit(TanhOp(x)),
    "LeakyRelu": lambda emit, x, numbers: leaky_relu(emit, x, *numbers[:1]),
    "Clip": lambda emit, x, numbers: between(emit, x, numbers[0], numbers[1]),
    "HardSigmoid": lambda emit, x, numbers: hard_sigmoid(emit, x, *numbers[:2]),
}
"""Activations at the end of fused ops, with their parameters."""


def _activated(emit: Emitter, x: SSAValue, activation: str, numbers: Floats) -> SSAValue:
    if activation not in ACTIVATED:
        raise Refusal(f"unsupported activation '{activation}'; supported: {', '.join(ACTIVATED)}")
    return ACTIVATED[activation](emit, x, numbers)


@register_op(f"{MICROSOFT}.FusedConv")
def fused_conv(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    z: SSAValue | None = None,
    activation: str = "Relu",
    activation_params: Floats = (),
    *,
    attributes: ConvAttributes,
) -> SSAValue:
    """A convolution, a sum and an activation"""
    made = _joined(emit, conv(emit, x, w, b, attributes=attributes), z)
    return _activated(emit, made, activation, activation_params)


@register_op(f"{MICROSOFT}.FusedGemm")
def fused_gemm(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    c: SSAValue | None = None,
    activation: str = "Relu",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> SSAValue:
    """alpha * a' b' + beta * c, and an activation"""
    numbers = [n for n in (activation_alpha, activation_beta, activation_gamma) if n is not None]
    made = gemm(emit, a, b, c, alpha, beta, transA, transB)
    return _activated(emit, made, activation, numbers)


def unpacked(emit: Emitter, value: SSAValue, bits: int) -> SSAValue:
    """Return numbers of some bits that bytes hold, the lowest first, along the last axis as int32.

    Raises Refusal for bits that are not 2, 4 or 8.
    """
    if bits not in (2, 4, 8):
        raise Refusal(f"unsupported weights of {bits} bits; supported: 2, 4, 8")
    wide, shape = emit.cast(value, i32), tensor_shape(value)
    if bits == 8:
        return wide
    count = 8 // bits
    divisors = emit.array(np.array([1 << bits * index for index in range(count)]), i32)
    apart = emit(FloorDivOp(emit.reshape(wide, (*shape, 1)), divisors))
    low = emit(BitwiseAndOp(apart, emit.number((1 << bits) - 1, i32)))
    return emit.reshape(low, (*shape[:-1], shape[-1] * count))


@register_op(f"{MICROSOFT}.MatMulNBits", limits=("2, 4 and 8 bits", "weights in order (no g_idx)"))
def matmul_n_bits(
    emit: Emitter,
    a: SSAValue,
    b: SSAValue,
    scales: SSAValue,
    zero_points: SSAValue | None = None,
    g_idx: SSAValue | None = None,
    bias: SSAValue | None = None,
    K: int = 0,
    N: int = 0,
    accuracy_level: int = 0,
    bits: int = 4,
    block_size: int = 32,
    weight_prepacked: int = 0,
) -> SSAValue:
    """A product with weights of few bits, N x K; each block has a scale and a zero point"""
    if g_idx is not None or weight_prepacked:
        raise Refusal("unsupported g_idx and weight_prepacked; supported: weights in order")
    blocks, element = -(-K // block_size), element_type(a)
    numbers = emit.reshape(unpacked(emit, b, bits), (N, blocks, block_size))
    if zero_points is None:
        zero: SSAValue = emit.number(1 << bits - 1, element)
    elif element_type(zero_points) == element or dtype_of(emit, zero_points) in HELD:
        zero = emit.reshape(emit.cast(zero_points, element), (N, blocks, 1))
    else:
        rows = emit.reshape(zero_points, (N, -(-blocks * bits // 8)))
        zero = emit.cast(part(emit, unpacked(emit, rows, bits), 1, 0, blocks), element)
        zero = emit.reshape(zero, (N, blocks, 1))
    centred = emit(SubOp(emit.cast(numbers, element), zero))
    weights = emit(MulOp(centred, emit.reshape(emit.cast(scales, element), (N, blocks, 1))))
    whole = part(emit, emit.reshape(weights, (N, blocks * block_size)), 1, 0, K)
    return emit(MatMulOp(a, whole, bias))


# Attention of com.microsoft: with its projection, with masks of several forms, with few heads.
#
# https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md


def _numbers(emit: Emitter, count: int, shape: Sequence[int]) -> SSAValue:
    return emit.reshape(emit.array(np.arange(count), i64), shape)


def _padding_mask(
    emit: Emitter, mask: SSAValue, batch: int, columns: int, low: float, like: SSAValue
) -> SSAValue:
    """Return what is added to scores (batch x heads x rows x columns) for a mask of any form.

    It has a length for each of the batch, ends and then starts, or a number for each column, or
    for each row and column, which is 0 where nothing is seen.
    """
    shape, element = tensor_shape(mask), element_type(like)
    wide = emit.cast(mask, i64)
    places = _numbers(emit, columns, (1, 1, 1, columns))
    if shape == (batch,) or shape == (2 * batch,):
        ends = emit.reshape(part(emit, wide, 0, 0, batch), (batch, 1, 1, 1))
        seen = compared(emit, places, ends, "lt")
        if len(shape) == 1 and shape[0] == 2 * batch:
            starts = emit.reshape(part(emit, wide, 0, batch, batch), (batch, 1, 1, 1))
            seen = emit(BitwiseAndOp(seen, compared(emit, places, starts, "ge")))
    elif len(shape) == 2:
        seen = compared(emit, emit.reshape(wide, (shape[0], 1, 1, shape[1])), 0, "gt")
    elif len(shape) == 3:
        seen = compared(emit, emit.reshape(wide, (shape[0], 1, *shape[1:])), 0, "gt")
    else:
        wanted = f"[{batch}], [{2 * batch}], [{batch}, {columns}] or [{batch}, rows, {columns}]"
        raise Refusal(f"expected a mask of shape {wanted}, got {shape_text(shape)}")
    zero = emit.number(0.0, element)
    return where(emit, seen, zero, emit.number(low, element))


def _added(emit: Emitter, first: SSAValue | None, second: SSAValue | None) -> SSAValue | None:
    if first is None or second is None:
        return second if first is None else first
    return emit(AddOp(first, second))


@register_op(f"{MICROSOFT}.Attention", limits=("no do_rotary, no shared buffer of past states",))
def attention_with_projection(
    emit: Emitter,
    input: SSAValue,
    weights: SSAValue,
    bias: SSAValue | None = None,
    mask_index: SSAValue | None = None,
    past: SSAValue | None = None,
    attention_bias: SSAValue | None = None,
    past_sequence_length: SSAValue | None = None,
    do_rotary: int = 0,
    mask_filter_value: float = -10000.0,
    num_heads: int = 1,
    past_present_share_buffer: int = 0,
    qkv_hidden_sizes: Ints | None = None,
    rotary_embedding_dim: int = 0,
    scale: float = 0.0,
    unidirectional: int = 0,
) -> Sequence[SSAValue | None]:
    """Attention of a sequence to itself, whose queries, keys and values are one product"""
    if do_rotary or past_present_share_buffer:
        raise Refusal("unsupported do_rotary and past_present_share_buffer; supported: 0")
    projected = matmul(emit, input, weights)
    if bias is not None:
        projected = emit(AddOp(projected, bias))
    return attention_of_projected(
        emit,
        projected,
        (mask_index, past, attention_bias),
        qkv_hidden_sizes,
        num_heads,
        mask_filter_value,
        scale,
        unidirectional,
    )


def attention_of_projected(
    emit: Emitter,
    projected: SSAValue,
    others: tuple[SSAValue | None, SSAValue | None, SSAValue | None],
    sizes: Ints | None,
    heads: int,
    low: float,
    scale: float,
    unidirectional: int,
) -> Sequence[SSAValue | None]:
    """Return attention of queries, keys and values side by side, and these with past ones.

    others: a mask, past keys and values, and what is added to scores.
    """
    mask_index, past, attention_bias = others
    batch, rows, width = tensor_shape(projected)
    sizes = sizes or [width // 3] * 3
    q, k, v = (part(emit, projected, 2, sum(sizes[:i]), sizes[i]) for i in range(3))
    pasts: list[SSAValue | None] = [None, None]
    if past is not None:
        shape = tensor_shape(past)[1:]
        pasts = [emit.reshape(part(emit, past, 0, i, 1), shape) for i in range(2)]
    columns = rows + (0 if pasts[0] is None else tensor_shape(pasts[0])[2])
    mask = attention_bias
    if mask_index is not None:
        mask = _added(emit, _padding_mask(emit, mask_index, batch, columns, low, q), mask)
    made = attention(
        emit,
        *(q, k, v, mask, pasts[0], pasts[1]),
        is_causal=unidirectional,
        kv_num_heads=heads,
        q_num_heads=heads,
        scale=scale or None,
    )
    present = None
    if emit.is_used(1) and made[1] is not None and made[2] is not None:
        present = stacked(emit, [made[1], made[2]], 0)
    return made[0], present


@register_op(f"{MICROSOFT}.MultiHeadAttention", limits=("no cache_indirection",))
def multi_head_attention(
    emit: Emitter,
    query: SSAValue,
    key: SSAValue | None = None,
    value: SSAValue | None = None,
    bias: SSAValue | None = None,
    key_padding_mask: SSAValue | None = None,
    attention_bias: SSAValue | None = None,
    past_key: SSAValue | None = None,
    past_value: SSAValue | None = None,
    past_sequence_length: SSAValue | None = None,
    cache_indirection: SSAValue | None = None,
    mask_filter_value: float = -10000.0,
    num_heads: int = 1,
    scale: float = 0.0,
    unidirectional: int = 0,
) -> Sequence[SSAValue | None]:
    """Attention of queries to keys and values, which may be in one tensor"""
    if past_sequence_length is not None or cache_indirection is not None:
        raise Refusal("unsupported past_sequence_length and cache_indirection; supported: none")
    if key is None:
        query, key, value = _of_packed(emit, query)
    elif value is None:  # batch x rows x heads x 2 x size
        batch, rows, heads, _, size = tensor_shape(key)
        key, value = (
            emit.reshape(part(emit, key, 3, index, 1), (batch, rows, heads * size))
            for index in range(2)
        )
    if bias is not None:
        query, key, value = _with_bias(emit, (query, key, value), bias)
    batch = tensor_shape(query)[0]
    columns = tensor_shape(key)[-2] + (0 if past_key is None else tensor_shape(past_key)[2])
    mask = attention_bias
    if key_padding_mask is not None:
        low = mask_filter_value
        padding = _padding_mask(emit, key_padding_mask, batch, columns, low, query)
        mask = _added(emit, padding, mask)
    return attention(
        emit,
        *(query, key, value, mask, past_key, past_value),
        is_causal=unidirectional,
        kv_num_heads=num_heads,
        q_num_heads=num_heads,
        scale=scale or None,
    )[:3]


def _of_packed(emit: Emitter, packed: SSAValue) -> list[SSAValue]:
    """Return queries, keys and values of batch x rows x heads x 3 x size."""
    shape = tensor_shape(packed)
    if len(shape) != 5 or shape[3] != 3:
        raise Refusal(f"expected packed queries of rank 5, got {shape_text(shape)}")
    batch, rows, heads, _, size = shape
    return [
        emit.reshape(part(emit, packed, 3, index, 1), (batch, rows, heads * size))
        for index in range(3)
    ]


def _with_bias(
    emit: Emitter, values: tuple[SSAValue, SSAValue, SSAValue], bias: SSAValue
) -> list[SSAValue]:
    found: list[SSAValue] = []
    start = 0
    for each in values:
        if len(tensor_shape(each)) != 3:
            raise Refusal("unsupported bias of keys that are in heads; supported: rank 3")
        size = tensor_shape(each)[2]
        found.append(emit(AddOp(each, part(emit, bias, 0, start, size))))
        start += size
    return found


@register_op(f"{MICROSOFT}.RotaryEmbedding")
def rotary_embedding_by_position(
    emit: Emitter,
    input: SSAValue,
    position_ids: SSAValue,
    cos_cache: SSAValue,
    sin_cache: SSAValue,
    interleaved: int = 0,
    is_packed_batching: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> SSAValue:
    """Pairs of elements turned by angles of their position, which may be that of the first row"""
    if scale != 1:
        raise Refusal(f"unsupported scale {scale:g}; supported: 1")
    shape = tensor_shape(input)
    rows = shape[1] if len(shape) == 3 else shape[2]
    if tensor_shape(position_ids) == (1,):
        first = emit.reshape(emit.cast(position_ids, i64), (1, 1))
        places = emit(AddOp(first, _numbers(emit, rows, (1, rows))))
        position_ids = emit.broadcast(places, (shape[0], rows))
    heads = num_heads
    if not heads and len(shape) == 3:
        heads = shape[2] // (rotary_embedding_dim or 2 * tensor_shape(cos_cache)[1])
    turned = rotary_embedding_dim
    return rotary_embedding(
        emit, input, cos_cache, sin_cache, position_ids, interleaved, heads, turned
    )


@register_op(
    f"{MICROSOFT}.GroupQueryAttention",
    limits=("no quantized cache, no head_sink, no norms of queries", "new keys follow the past"),
)
def group_query_attention(
    emit: Emitter,
    query: SSAValue,
    key: SSAValue | None,
    value: SSAValue | None,
    past_key: SSAValue | None,
    past_value: SSAValue | None,
    seqlens_k: SSAValue,
    total_sequence_length: SSAValue,
    cos_cache: SSAValue | None = None,
    sin_cache: SSAValue | None = None,
    position_ids: SSAValue | None = None,
    attention_bias: SSAValue | None = None,
    head_sink: SSAValue | None = None,
    do_rotary: int = 0,
    kv_num_heads: int = 1,
    local_window_size: int = -1,
    num_heads: int = 1,
    rotary_interleaved: int = 0,
    scale: float = 0.0,
    smooth_softmax: int = -1,
    softcap: float = 0.0,
    causal: int = 1,
    qk_output: int = 0,
) -> Sequence[SSAValue | None]:
    """Attention whose keys and values several heads share, to what was before and to itself"""
    if head_sink is not None or smooth_softmax > 0 or qk_output:
        raise Refusal("unsupported head_sink, smooth_softmax and qk_output; supported: none")
    batch, rows, width = tensor_shape(query)
    if key is None or value is None:
        size = width // (num_heads + 2 * kv_num_heads)
        counts = (num_heads, kv_num_heads, kv_num_heads)
        query, key, value = (
            part(emit, query, 2, sum(counts[:i]) * size, counts[i] * size) for i in range(3)
        )
    size = tensor_shape(query)[2] // num_heads
    past = 0 if past_key is None else tensor_shape(past_key)[2]
    lengths = emit.reshape(emit(AddOp(emit.cast(seqlens_k, i64), emit.number(1, i64))), (batch, 1))
    if do_rotary:
        if cos_cache is None or sin_cache is None:
            raise Refusal("expected cos_cache and sin_cache for do_rotary, got none")
        if position_ids is None:
            here = _numbers(emit, rows, (1, rows))
            start = emit(SubOp(lengths, emit.number(rows, i64))) if past else emit.number(0, i64)
            position_ids = emit.broadcast(emit(AddOp(here, start)), (batch, rows))
        turned = 2 * tensor_shape(cos_cache)[1]
        query, key = (
            rotary_embedding(
                emit, each, cos_cache, sin_cache, position_ids, rotary_interleaved, heads, turned
            )
            for each, heads in ((query, num_heads), (key, kv_num_heads))
        )
    columns = past + rows
    ends = emit.reshape(lengths, (batch, 1, 1, 1))
    seen = compared(emit, _numbers(emit, columns, (1, 1, 1, columns)), ends, "lt")
    if local_window_size > 0:
        apart = np.arange(rows)[:, None] + past - np.arange(columns)
        near = emit.array((apart < local_window_size).reshape(1, 1, rows, columns), i1)
        seen = emit(BitwiseAndOp(seen, near))
    if attention_bias is None:
        mask = seen
    else:
        low = emit.number(-np.inf, element_type(query))
        mask = where(emit, seen, attention_bias, low)
    made = attention(
        emit,
        *(query, key, value, mask, past_key if past else None, past_value if past else None),
        is_causal=causal,
        kv_num_heads=kv_num_heads,
        q_num_heads=num_heads,
        scale=scale or None,
        softcap=softcap,
    )
    return made[:3]
