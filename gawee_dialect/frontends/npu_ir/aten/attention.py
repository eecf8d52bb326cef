"""Attention."""

from collections.abc import Sequence
from functools import reduce

from xdsl.ir import SSAValue

from gawee_dialect.dialect.attention import AttentionOp
from gawee_dialect.dialect.elementwise import broadcast_shape
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal


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
    result = attention(emit, query, key, value, attn_mask, dropout_p, is_causal, scale)
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
