"""Attention, and what goes with it."""

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np
from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import SiluOp
from gawee_dialect.dialect.graph.arithmetic import ExpOp, TanhOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherOp, ScatterElementsOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import SoftmaxOp
from gawee_dialect.dialect.graph.slicing import PadOp
from gawee_dialect.dialect.types import element_type, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import div, mul, remainder
from gawee_dialect.frontends.onnx.registry import check_size, register_op
from gawee_dialect.frontends.op_mapping.control_flow import recurrence
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    axis_of,
    compared,
    part,
    permuted,
    where,
)
from gawee_dialect.frontends.op_mapping.registry import Refusal


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
    by_row = bool(is_causal) and nonpad_kv_seqlen is None
    scores = _masked(emit, scores, attn_mask, past if by_row else None)
    kept: SSAValue | None = None
    if nonpad_kv_seqlen is not None:
        kept = _not_padding(emit, (batch, rows, columns), nonpad_kv_seqlen, bool(is_causal))
        scores = where(emit, kept, scores, -np.inf)
    stages[2] = scores
    weights = emit(SoftmaxOp(scores, axis=3))
    if kept is not None:  # a row that sees nothing is of zeros
        weights = where(emit, kept, weights, 0.0)
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


def _not_padding(
    emit: Emitter, sizes: tuple[int, int, int], lengths: SSAValue, causal: bool
) -> SSAValue:
    """Return which keys are before the length of their batch: batch x 1 x rows or 1 x columns.

    The last row of a causal one sees all of these, each row before it one key less.
    """
    batch, rows, columns = sizes
    check_size(rows * columns)
    places = emit.array(np.arange(columns), i64)
    ends = emit.reshape(emit.cast(lengths, i64), (batch, 1, 1, 1))
    if causal:
        fewer = emit.array(np.arange(rows).reshape(1, 1, rows, 1) - (rows - 1), i64)
        ends = emit(AddOp(ends, fewer))
    return compared(emit, places, ends, "lt")


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


# Attention whose state has one size, and what else keeps a state from call to call.

RULES = ("linear", "gated", "delta", "gated_delta")


def _by_head(emit: Emitter, row: SSAValue, heads: int) -> SSAValue:
    """Return batch x (heads * size) as (batch * heads) x 1 x size."""
    batch, width = tensor_shape(row)
    return emit.reshape(row, (batch * heads, 1, width // heads))


def _for_queries(emit: Emitter, state: SSAValue, batch: int, heads: int, group: int) -> SSAValue:
    if group == 1:
        return state
    _, rows, columns = tensor_shape(state)
    single = emit.reshape(state, (batch * heads, 1, rows, columns))
    many = emit.broadcast(single, (batch * heads, group, rows, columns))
    return emit.reshape(many, (batch * heads * group, rows, columns))


@register_op("LinearAttention")
def linear_attention(
    emit: Emitter,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    past_state: SSAValue | None = None,
    decay: SSAValue | None = None,
    beta: SSAValue | None = None,
    chunk_size: int = 64,
    kv_num_heads: int = 1,
    q_num_heads: int = 1,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> Sequence[SSAValue]:
    """A state of keys by values that each time decays, is corrected, written and read"""
    if update_rule not in RULES:
        raise Refusal(f"unsupported update_rule '{update_rule}'; supported: {', '.join(RULES)}")
    if ("gated" in update_rule) != (decay is not None) or ("delta" in update_rule) != (
        beta is not None
    ):
        raise Refusal(f"expected decay and beta as update_rule '{update_rule}' needs them")
    element = element_type(query)
    query, key, value = (emit.cast(each, f32) for each in (query, key, value))
    past_state, decay, beta = (
        None if each is None else emit.cast(each, f32) for each in (past_state, decay, beta)
    )
    batch, _, width = tensor_shape(query)
    if width % q_num_heads or q_num_heads % kv_num_heads:
        text = f"expected {width} columns to be a multiple of {q_num_heads} query heads"
        raise Refusal(f"{text}, and those of {kv_num_heads} heads")
    heads, group = kv_num_heads, q_num_heads // kv_num_heads
    size, columns = width // q_num_heads, tensor_shape(value)[2] // heads
    if past_state is None:
        state = emit.full((batch * heads, size, columns), 0, f32)
    else:
        state = emit.reshape(past_state, (batch * heads, size, columns))
    factor = scale or 1 / sqrt(size)

    def step(
        before: Sequence[SSAValue], now: Sequence[SSAValue]
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        (state,), rest = before, iter(now[3:])
        k, v = (_by_head(emit, each, heads) for each in now[:2])
        if decay is not None:
            kept = emit(ExpOp(_by_head(emit, next(rest), heads)))
            gate = emit.reshape(kept, (batch * heads, tensor_shape(kept)[2], 1))
            state = emit(MulOp(state, gate))
        if beta is not None:
            rate = emit.reshape(emit.broadcast(next(rest), (batch, heads)), (batch * heads, 1, 1))
            v = emit(MulOp(rate, emit(SubOp(v, emit(BatchMatMulOp(k, state))))))
        written = emit(MulOp(emit.reshape(k, (batch * heads, size, 1)), v))
        state = emit(AddOp(state, written))
        q = _by_head(emit, now[2], q_num_heads)
        read = emit(BatchMatMulOp(q, _for_queries(emit, state, batch, heads, group)))
        return [state], [emit.reshape(read, (batch, q_num_heads * columns))]

    given = [each for each in (key, value, query, decay, beta) if each is not None]
    sequences = [permuted(emit, each, (1, 0, 2)) for each in given]
    (last,), (outputs,) = recurrence(emit, step, [state], sequences)
    result = permuted(emit, outputs, (1, 0, 2))
    state = emit.reshape(last, (batch, heads, size, columns))
    return emit.cast(mul(emit, result, factor), element), emit.cast(state, element)


@register_op("CausalConvWithState")
def causal_conv_with_state(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    past_state: SSAValue | None = None,
    activation: str = "none",
) -> Sequence[SSAValue]:
    """A convolution of each channel over what was before, and what the next call needs of it"""
    if activation not in ("none", "silu", "swish"):
        raise Refusal(f"unsupported activation '{activation}'; supported: none, silu, swish")
    channels, before = tensor_shape(input)[1], tensor_shape(weight)[2] - 1
    if past_state is None:
        whole = emit(PadOp(input, low=[0, 0, before], high=[0, 0, 0]))
    else:
        whole = emit(CatOp([past_state, input], dim=2))
    result = emit(ConvOp(whole, weight, bias, groups=channels))
    if activation != "none":
        result = emit(SiluOp(result))
    last = part(emit, whole, 2, tensor_shape(whole)[2] - before, before)
    return result, last


@register_op("TensorScatter")
def tensor_scatter(
    emit: Emitter,
    past_cache: SSAValue,
    update: SSAValue,
    write_indices: SSAValue | None = None,
    mode: str = "linear",
    axis: int = -2,
) -> SSAValue:
    """Rows put into a cache, from a place of each batch on"""
    at = axis_of(past_cache, axis)
    shape = tensor_shape(update)
    check_size(prod(shape))
    times = np.arange(shape[at]).reshape([-1 if i == at else 1 for i in range(len(shape))])
    places = emit.array(np.broadcast_to(times, shape).copy(), i64)
    if write_indices is not None:
        starts = emit.cast(write_indices, i64)
        spread = emit.reshape(starts, [shape[0], *[1] * (len(shape) - 1)])
        places = emit(AddOp(places, spread))
    if mode == "circular":
        places = remainder(emit, places, tensor_shape(past_cache)[at])
    return emit(ScatterElementsOp(past_cache, places, update, axis=at))
