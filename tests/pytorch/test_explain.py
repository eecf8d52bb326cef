"""What explain tells of models under torch.compile."""

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from gawee_dialect.pytorch import explain


class Twice(nn.Module):
    """Products, of which each needs what PyTorch makes of the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(64, 64, bias=False) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.special.bessel_j0(self.linears[0](x))
        x = torch.special.bessel_j1(self.linears[1](x))
        return self.linears[2](x)


PRODUCT = 2 * 33 * 64 * 64
ELEMENTS = 33 * 64


def test_parts_ops_and_flops_are_told() -> None:
    torch._dynamo.reset()

    told = explain(Twice(), (torch.randn(33, 64),))

    (graph,) = told.graphs
    assert [flops for _, flops in graph.parts] == [PRODUCT] * 3
    assert told.flops == 3 * PRODUCT + 2 * ELEMENTS
    assert told.share_left == pytest.approx(2 * ELEMENTS / told.flops)
    assert [(each.op, each.count, each.flops) for each in graph.left] == [
        ("aten.special_bessel_j0.default", 1, ELEMENTS),
        ("aten.special_bessel_j1.default", 1, ELEMENTS),
    ]
    for line, each in zip((21, 22), graph.left, strict=True):
        (place,) = each.places
        assert place.endswith(f"test_explain.py:{line}:1")


def test_what_each_op_would_make_possible_is_told() -> None:
    torch._dynamo.reset()

    told = explain(Twice(), (torch.randn(33, 64),))

    assert [(each.parts, each.flops_left) for each in told.unlocks] == [(2, ELEMENTS)] * 2
    assert "with aten.special_bessel_j0.default: 2 parts, 2,112 FLOPs left to PyTorch" in str(told)


def test_a_model_that_is_compiled_whole_is_said_to_be() -> None:
    torch._dynamo.reset()

    told = explain(nn.Linear(64, 64), (torch.randn(33, 64),))

    assert told.share_left == 0
    assert "graph 1: a graph is compiled as a whole" in str(told)
