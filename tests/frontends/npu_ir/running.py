"""A graph run by PyTorch's own ops, one node after another: what it computes, without our ops."""

from collections.abc import Mapping, Sequence

import torch

from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.frontends.npu_ir.weights import bind_weights
from gawee_dialect.pytorch.aten_engine import call_aten


def run_with_pytorch(
    ir: NPU_IR, weights: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    arrays = bind_weights(ir, {name: each.detach().numpy() for name, each in weights.items()})
    values = {meta.name: each for meta, each in zip(ir.graph_inputs, inputs, strict=True)}
    for placeholder, weight in ir.placeholders():
        values[placeholder] = torch.from_numpy(arrays[weight.name].copy())
    for node in ir.nodes:
        made = call_aten(node, lambda each: values[each.name], "cpu")
        for meta, each in zip(node.outputs, made, strict=True):
            assert isinstance(each, torch.Tensor)
            assert tuple(each.shape) == meta.shape
            values[meta.name] = each
    return [values[meta.name] for meta in ir.graph_outputs]
