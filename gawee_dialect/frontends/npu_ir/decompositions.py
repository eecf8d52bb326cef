"""How ops are taken apart into core ATen ops: as PyTorch does it, but for what it gets wrong."""

from collections.abc import Callable, Mapping, Sequence

from gawee_dialect.frontends.npu_ir.pytorch import Tensor, torch

Attention = Callable[..., tuple[Tensor, Tensor]]

RECURRENT = ("aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
"""Ops that stay whole: PyTorch would write each of their steps out."""

NORMS_AND_LINEARS = 8
"""Weights and biases of an encoder layer after its attention."""

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


def decompositions_of_calls() -> Mapping[object, object]:
    """Return a function for each op to take apart under `torch.compile`.

    What draws random numbers is not taken apart, so that it draws the same ones.
    """
    aten, seeded = torch().ops.aten, torch().Tag.nondeterministic_seeded
    known: Mapping[object, object] = torch()._decomp.decomposition_table
    core: Mapping[object, object] = torch()._decomp.core_aten_decompositions()
    of_training = aten._native_batch_norm_legit_functional.default
    return {
        **{op: function for op, function in core.items() if seeded not in getattr(op, "tags", ())},
        of_training: known[of_training],
        aten._transformer_encoder_layer_fwd.default: _encoder_layer,
    }


def _encoder_layer(
    x: Tensor,
    width: int,
    heads: int,
    in_weight: Tensor,
    in_bias: Tensor,
    out_weight: Tensor,
    out_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    *weights: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> object:
    """An encoder layer by its parts; with a mask it stays whole."""
    if mask is not None or len(weights) != NORMS_AND_LINEARS:
        return NotImplemented
    functional = torch().nn.functional
    scale, shift, scale_2, shift_2, up, up_bias, down, down_bias = weights

    def attention(x: Tensor) -> Tensor:
        mixed = functional.linear(x, in_weight, in_bias)
        query, key, value = (
            part.unflatten(-1, (heads, width // heads)).transpose(-3, -2)
            for part in mixed.chunk(3, -1)
        )
        found = functional.scaled_dot_product_attention(query, key, value)
        return functional.linear(found.transpose(-3, -2).flatten(-2), out_weight, out_bias)

    def feed(x: Tensor) -> Tensor:
        activation = functional.gelu if use_gelu else functional.relu
        return functional.linear(activation(functional.linear(x, up, up_bias)), down, down_bias)

    def norm(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        return functional.layer_norm(x, (width,), scale, shift, eps)

    if norm_first:
        x = x + attention(norm(x, scale, shift))
        return x + feed(norm(x, scale_2, shift_2))
    x = norm(x + attention(x), scale, shift)
    return norm(x + feed(x), scale_2, shift_2)


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
