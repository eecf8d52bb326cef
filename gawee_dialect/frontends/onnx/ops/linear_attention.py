"""Attention whose state has one size, and what else keeps a state from call to call."""

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np
from xdsl.dialects.builtin import i64
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
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.refusal import Refusal

RULES = ("linear", "gated", "delta", "gated_delta")


def _step(emit: Emitter, value: SSAValue, heads: int, time: int) -> SSAValue:
    """Return one time of batch x time x (heads * size), as (batch * heads) x 1 x size."""
    batch, _, width = tensor_shape(value)
    row = part(emit, value, 1, time, 1)
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
    batch, times, width = tensor_shape(query)
    if width % q_num_heads or q_num_heads % kv_num_heads:
        text = f"expected {width} columns to be a multiple of {q_num_heads} query heads"
        raise Refusal(f"{text}, and those of {kv_num_heads} heads")
    heads, group = kv_num_heads, q_num_heads // kv_num_heads
    size, columns = width // q_num_heads, tensor_shape(value)[2] // heads
    if past_state is None:
        state = emit.full((batch * heads, size, columns), 0, element_type(query))
    else:
        state = emit.reshape(past_state, (batch * heads, size, columns))
    factor = scale or 1 / sqrt(size)
    outputs: list[SSAValue] = []
    before = emit.count
    for time in range(times):
        emit.check_room((emit.count - before) * (times - time))
        before = emit.count
        k, v = (_step(emit, each, heads, time) for each in (key, value))
        if decay is not None:
            kept = emit(ExpOp(_step(emit, decay, heads, time)))
            gate = emit.reshape(kept, (batch * heads, tensor_shape(kept)[2], 1))
            state = emit(MulOp(state, gate))
        if beta is not None:
            rate = _rate(emit, beta, batch, heads, time)
            v = emit(MulOp(rate, emit(SubOp(v, emit(BatchMatMulOp(k, state))))))
        written = emit(MulOp(emit.reshape(k, (batch * heads, size, 1)), v))
        state = emit(AddOp(state, written))
        q = _step(emit, query, q_num_heads, time)
        read = emit(BatchMatMulOp(q, _for_queries(emit, state, batch, heads, group)))
        outputs.append(emit.reshape(read, (batch, 1, q_num_heads * columns)))
    result = outputs[0] if len(outputs) == 1 else emit(CatOp(outputs, dim=1))
    return mul(emit, result, factor), emit.reshape(state, (batch, heads, size, columns))


def _rate(emit: Emitter, beta: SSAValue, batch: int, heads: int, time: int) -> SSAValue:
    row = part(emit, beta, 1, time, 1)
    spread = emit.broadcast(row, (batch, 1, heads))
    return emit.reshape(spread, (batch * heads, 1, 1))


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
