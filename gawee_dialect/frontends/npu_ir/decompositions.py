"""How ops are taken apart into core ATen ops: as PyTorch does it, but for what it gets wrong."""

from collections.abc import Callable, Sequence

from gawee_dialect.frontends.npu_ir.pytorch import Tensor, torch

Attention = Callable[..., tuple[Tensor, Tensor]]

RECURRENT = ("aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
"""Ops that stay whole: PyTorch would write each of their steps out."""

_ATTENTION = "aten._scaled_dot_product_flash_attention_for_cpu.default"


def decompositions(keep: Sequence[str]) -> dict[object, object]:
    """Return a function for each op to take apart: neither recurrent layers nor those to keep."""
    kept = (*RECURRENT, *keep)
    table: dict[object, object] = torch().export.default_decompositions()
    for op in list(table):
        if str(op) == _ATTENTION:
            table[op] = _in_layout_of_query
        if _is_kept(str(op), kept):
            del table[op]
    return table


def _is_kept(op: str, keep: Sequence[str]) -> bool:
    return op in keep or op.rpartition(".")[0] in keep


def _in_layout_of_query(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention by its parts, in memory as the whole op leaves it: in the order of the query.

    PyTorch's own function always returns sequence, batch, head. A view that the model takes of
    attention in another order is then refused.
    """
    whole: Attention = torch().ops.aten._scaled_dot_product_attention_math.default
    mixed, weights = whole(
        query,
        key,
        value,
        attn_mask=attn_mask,
        dropout_p=dropout_p,
        is_causal=is_causal,
        dropout_mask=None,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    strides = query.stride()
    order = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    back = sorted(range(len(order)), key=order.__getitem__)
    return mixed.permute(order).contiguous().permute(back), weights
