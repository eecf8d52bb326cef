"""Functions of f16 whose squares are beyond it, against PyTorch, which computes them in f32."""

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional as F

from gawee_dialect import compile_torch

FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "normalize": lambda x: F.normalize(x, dim=1),
    "norm": lambda x: torch.linalg.vector_norm(x, 2),
    "norm of order 3": lambda x: torch.linalg.vector_norm(x, 3, 1),
    "std": lambda x: x.std(1),
    "std_mean": lambda x: torch.cat(torch.std_mean(x, 0)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "native_layer_norm": lambda x: torch.cat(
        [each.flatten() for each in torch.native_layer_norm(x, (5,), None, None, 1e-5)]
    ),
}


class All(torch.nn.Module):
    """Every function of one tensor."""

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return [function(x) for function in FUNCTIONS.values()]


@pytest.mark.filterwarnings("ignore")
def test_squares_beyond_f16_do_not_overflow() -> None:
    torch.manual_seed(0)
    x = (torch.randn(3, 5) * 400).half()
    net = All()

    results = compile_torch(net, (x,))(x)
    assert isinstance(results, tuple)
    for name, got, wanted in zip(FUNCTIONS, results, net(x), strict=True):
        torch.testing.assert_close(got, wanted, rtol=5e-3, atol=1e-3, msg=name)
