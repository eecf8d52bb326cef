"""Calls of `torch.autograd.Function` in a graph of TorchDynamo that gradients flow through.

PyTorch makes a class for each call whenever it runs, and interprets the graphs of both directions
node by node: in a BLOOM of two small layers that takes as long as two thirds of the rest. What
is saved it holds by itself, so that a later write to it is not noticed, and it computes no
gradient of a gradient. Here each node has a class, and runs as in eager mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import new_class
from typing import Protocol

from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, Node, is_sequence, torch
from gawee_dialect.pytorch.cut_graph import forward_of

SAID = {"non_differentiable_idx", "saved_for_backward_idx"}
"""What calls say that are run here: none changes its arguments, in the words of PyTorch 2.13."""


def call_functions_directly(graph: GraphModule) -> None:
    """Have calls of `torch.autograd.Function` in a graph of TorchDynamo run by classes."""
    apply: object = getattr(torch().ops.higher_order, "autograd_function_apply", None)
    calls = [node for node in graph.graph.nodes if node.target is apply and {*node.kwargs} == SAID]
    for node in calls:
        node.target = _function()
    for name in {str(node.all_input_nodes[1].target) for node in calls}:
        _take_gradient_mode(getattr(graph, name))
    if calls:
        getattr(graph, "recompile")()


def _take_gradient_mode(graph: GraphModule) -> None:
    """Erase what turns gradients off around the whole of a graph, which runs in no call then."""
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    switch: object = torch()._C._set_grad_enabled
    ends: list[Node] = [*calls[:1], *calls[-1:]]
    if [(node.target, node.args) for node in ends] == [(switch, (False,)), (switch, (True,))]:
        for node in ends:
            getattr(graph.graph, "erase_node")(node)
        getattr(graph, "recompile")()


@dataclass
class _Call:
    """A call, and what its forward direction saves for the other one."""

    forward: Callable[..., Sequence[object]]
    backward: Callable[..., Sequence[object]]
    constant: Sequence[int]
    """The outputs that no gradient flows through."""
    kept: Sequence[int]
    """What is saved of tensors that PyTorch watches."""
    saved: Sequence[object] = ()


class _Context(Protocol):
    call: _Call
    saved_tensors: Sequence[object]

    def mark_non_differentiable(self, *tensors: object) -> None: ...
    def save_for_backward(self, *tensors: object) -> None: ...


def _forward(call: _Call, *args: object) -> object:
    output, saved = call.forward(*args)
    assert is_sequence(saved)
    call.saved = saved
    return output


def _setup_context(context: _Context, inputs: tuple[_Call, ...], output: object) -> None:
    context.call = call = inputs[0]
    outputs = output if is_sequence(output) else [output]
    if call.constant:
        context.mark_non_differentiable(*[outputs[index] for index in call.constant])
    context.save_for_backward(*[call.saved[index] for index in call.kept])
    call.saved = [None if at in call.kept else each for at, each in enumerate(call.saved)]


def _backward(context: _Context, *gradients: object) -> Sequence[object]:
    call = context.call
    saved = [*call.saved]
    for index, tensor in zip(call.kept, context.saved_tensors, strict=True):
        saved[index] = tensor
    return (None, *call.backward(*gradients, *saved))


def _function() -> Callable[..., object]:
    """Return what runs one node: PyTorch knows functions apart by their classes."""
    base: type[object] = import_module("torch.autograd").Function

    def fill(namespace: dict[str, object]) -> None:
        namespace["forward"] = staticmethod(_forward)
        namespace["setup_context"] = staticmethod(_setup_context)
        namespace["backward"] = staticmethod(_backward)

    apply = getattr(new_class("GraphFunction", (base,), exec_body=fill), "apply")

    def function(
        forward: GraphModule,
        backward: GraphModule,
        *args: object,
        non_differentiable_idx: Sequence[int],
        saved_for_backward_idx: Sequence[int],
    ) -> object:
        ways = forward_of(forward), forward_of(backward)
        return apply(_Call(*ways, non_differentiable_idx, saved_for_backward_idx), *args)

    return function
