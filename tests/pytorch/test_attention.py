"""Attention that PyTorch's core ops take apart, compiled, against PyTorch."""

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional as F

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.pytorch import compile_torch


class Attention(nn.Module):
    """Heads of one projection, attended as in an encoder."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.heads, self.parts = heads, nn.Linear(width, 3 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        split = (*x.shape[:2], self.heads, x.shape[2] // self.heads)
        parts = (part.reshape(split).transpose(1, 2) for part in self.parts(x).chunk(3, -1))
        return F.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(x.shape)


@pytest.mark.parametrize(
    ("batch", "length", "heads", "head", "threads"),
    [(1, 37, 3, 7, 2), (3, 66, 2, 16, 1), (3, 66, 2, 16, 2), (5, 17, 3, 33, 1)],
)
def test_attention_is_that_of_pytorch(
    batch: int, length: int, heads: int, head: int, threads: int
) -> None:
    torch.manual_seed(batch)
    model = Attention(heads, heads * head).eval().requires_grad_(False)
    x = torch.randn(batch, length, heads * head)
    compiled = compile_torch(model, (x,), CodeOptions(num_threads=threads))
    # Sums of some hundred products in float32, in another order, and exponentials within 2 ulp.
    torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)
