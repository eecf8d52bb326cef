"""Ops are taken apart as PyTorch's own `run_decompositions` takes them apart, in less time."""

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from gawee_dialect.frontends.npu_ir import trace


class Composites(nn.Module):
    """Composites in C++ and in Python, in a branch too, recurrent layers, views and copies."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 24), nn.Linear(8, 24)
        self.attention = nn.MultiheadAttention(8, 2)
        self.recurrent = nn.LSTM(8, 4)
        self.convolution = nn.Conv1d(5, 3, 3, padding="same")

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        turned = x.transpose(0, 1)
        branch = torch.cond(x.sum() > 0, self.first, self.second, (turned,))
        resized = nn.functional.interpolate(self.convolution(x), scale_factor=2.0)
        attended, _ = self.attention(turned, turned, turned)
        return branch, resized, attended, self.recurrent(turned)[0], torch.kron(x, x)


def text_of(program: Any) -> str:
    """Return a program as code, with its branches and signature, and what its nodes make."""
    parts = (
        each for each in program.graph_module.modules() if isinstance(each, torch.fx.GraphModule)
    )
    made = [(node.name, node.meta.get("val")) for node in program.graph.nodes]
    return "\n".join([*(each.code for each in parts), str(program.graph_signature), str(made)])


def exported(model: nn.Module, x: torch.Tensor) -> Any:
    return torch.export.export(model.eval(), (x,))


def test_ops_are_taken_apart_as_pytorch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    program, keep = (
        exported(Composites(), torch.randn(2, 5, 8)),
        ("aten.conv1d.padding", "aten.kron"),
    )
    made = text_of(trace.decomposed(program, keep))

    monkeypatch.setattr(trace, "DECOMPOSE_PARAMETERS", ("of another version",))
    assert made == text_of(trace.decomposed(program, keep))
    for op in ("lstm.input", "conv1d.padding", "kron.default"):
        assert f"aten.{op}" in made
    for op in ("linear", "scaled_dot", "matmul"):
        assert f"ops.aten.{op}" not in made


def test_a_composite_that_is_registered_later_is_taken_apart() -> None:
    trace.decomposed(exported(nn.Tanh(), torch.ones(3)), ())
    library = torch.library.Library("registered_later", "DEF")
    library.define("squared(Tensor x) -> Tensor")
    library.impl("squared", lambda x: x * x, "CompositeImplicitAutograd")

    class Squared(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.registered_later.squared(x)

    program = exported(Squared(), torch.ones(3))
    for keep, op in ((), "aten.mul.Tensor"), (("registered_later.squared",), "squared.default"):
        (call,) = (
            node
            for node in trace.decomposed(program, keep).graph_module.graph.nodes
            if node.op == "call_function"
        )
        assert str(call.target).endswith(op)
