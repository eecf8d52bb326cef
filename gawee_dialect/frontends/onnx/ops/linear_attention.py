"""Attention whose state has one size, and what else keeps a state from call to call."""

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.activation import SiluOp
from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.elementary import ExpOp
from gawee_dialect.dialect.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.matmul import BatchMatMulOp
from gawee_dialect.dialect.scatter import ScatterElementsOp
from gawee_dialect.dialect.shape import CatOp
from gawee_dialect.dialect.slicing import PadOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import mul, remainder
from gawee_dialect.frontends.onnx.argument_rules import check_size
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part, permuted
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.recurrence import recurrence
from gawee_dialect.frontends.op_mapping.refusal import Refusal

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
