"""What the nodes of a graph have to do, in FLOPs and bytes, and how long PyTorch takes for it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from math import prod
from operator import getitem

from gawee_dialect.frontends.npu_ir.aten.registry import base_name
from gawee_dialect.frontends.npu_ir.liveness import VIEWS
from gawee_dialect.frontends.npu_ir.pytorch import (
    Node,
    Tensor,
    is_node,
    is_sequence,
    is_tensor,
    torch,
)

CALL_SECONDS = 8e-6
"""What one more call of compiled code costs: keys, arrays and tensors of its arguments."""

OP_SECONDS = 1.5e-6
"""What PyTorch takes to call an op that has nothing to do."""

BYTES_PER_SECOND = 1e10
FLOPS_PER_SECOND = 3e10
"""About what one core does; only to separate parts that pay from those that do not."""


def is_view(node: Node) -> bool:
    """Whether a node has nothing to do: its result shares memory with what it reads."""
    return node.op == "call_function" and base_name(str(node.target)) in VIEWS


def is_getitem(node: Node) -> bool:
    """Whether a node takes one of the results of another."""
    return node.target is getitem


def tensors_of(node: Node) -> list[Tensor]:
    """Return the tensors that a node makes, as they are declared."""
    made = node.meta.get("val")
    return [each for each in (made if is_sequence(made) else [made]) if is_tensor(each)]


def bytes_of(node: Node) -> int:
    """Return the bytes of what a node makes."""
    return sum(elements_of(each) * getattr(each, "element_size")() for each in tensors_of(node))


def flops_of(node: Node) -> int:
    """Return the FLOPs of a node: of products, as PyTorch counts them; else one an element."""
    if node.op != "call_function" or is_view(node) or is_getitem(node):
        return 0
    formulas: Mapping[object, Callable[..., int]] = {
        **import_module("torch.utils.flop_counter").flop_registry,
        **_own_formulas(),
    }
    formula = formulas.get(getattr(node.target, "overloadpacket", None))
    if formula is not None:
        try:
            return int(formula(*map(_value, node.args), out_val=node.meta.get("val")))
        except Exception:
            pass  # a formula for other arguments than these
    return max(
        map(
            elements_of,
            (each for made in (node, *node.all_input_nodes) for each in tensors_of(made)),
        ),
        default=0,
    )


def eager_seconds(node: Node) -> float:
    """Return about how long PyTorch takes for a node."""
    if node.op != "call_function" or is_view(node) or is_getitem(node):
        return 0.0
    moved = bytes_of(node) + sum(map(bytes_of, node.all_input_nodes))
    return OP_SECONDS + moved / BYTES_PER_SECOND + flops_of(node) / FLOPS_PER_SECOND


def elements_of(tensor: Tensor) -> int:
    """Return how many elements a tensor has, without axes of open sizes."""
    sizes = [size for size in tensor.shape if isinstance(size, int)]
    return prod(sizes)


def _value(argument: object) -> object:
    if is_node(argument):
        return argument.meta.get("val")
    return [_value(each) for each in argument] if is_sequence(argument) else argument


def _own_formulas() -> Mapping[object, Callable[..., int]]:
    """Formulas of ops that PyTorch has none for."""
    aten = torch().ops.aten
    return {
        aten._transformer_encoder_layer_fwd: _encoder_layer,
        aten.mkldnn_rnn_layer: _recurrent_layer,
        aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    }


def _attention(query: Tensor, key: Tensor, *_: object, **__: object) -> int:
    *batch, length, width = (size for size in query.shape if isinstance(size, int))
    other = key.shape[-2]
    assert isinstance(other, int)
    return 4 * prod(batch) * length * other * width


def _encoder_layer(src: Tensor, width: int, heads: int, *more: object, **_: object) -> int:
    """Products with the weights, and attention.

    FLOPs: 2 · tokens · weights + 4 · tokens · length · width.
    """
    weights = [each for each in more if is_tensor(each) and len(each.shape) == 2]
    tokens = elements_of(src) // width
    length = src.shape[-2]
    assert isinstance(length, int)
    return 2 * tokens * sum(map(elements_of, weights)) + 4 * tokens * length * width


def _recurrent_layer(input: Tensor, *more: object, **_: object) -> int:
    """Products with the weights of each step. FLOPs: 2 · steps · batch · weights."""
    weights = [each for each in more[:2] if is_tensor(each)]
    steps, batch = (size for size in input.shape[:2] if isinstance(size, int))
    return 2 * steps * batch * sum(map(elements_of, weights))
