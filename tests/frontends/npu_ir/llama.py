"""A model of 70 billion parameters, extracted and imported; prints what that took.

A Llama of that size has four times as many layers of half the width: as many parameters, and more nodes.
"""

import json
import resource
import sys
from time import process_time

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gawee_dialect.frontends.npu_ir import extract_ir
from gawee_dialect.frontends.npu_ir.importer import import_ir

LAYERS, WIDTH, INNER, HEADS, KEY_HEADS, WORDS = 20, 16384, 57344, 128, 16, 128256


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.size = WIDTH // HEADS
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = nn.Linear(WIDTH, KEY_HEADS * self.size, bias=False)
        self.v = nn.Linear(WIDTH, KEY_HEADS * self.size, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        half = self.size // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, _ = x.shape

        def heads(y: Tensor) -> Tensor:
            return y.view(batch, length, -1, self.size).transpose(1, 2)

        q, k = (self.rotate(heads(each), cos, sin) for each in (self.q(x), self.k(x)))
        groups = HEADS // KEY_HEADS
        k, v = (each.repeat_interleave(groups, 1) for each in (k, heads(self.v(x))))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, -1))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.norm, self.inner_norm = RMSNorm(WIDTH), RMSNorm(WIDTH)
        self.gate, self.up = (nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attention(self.norm(x), cos, sin)
        y = self.inner_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    frequencies: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.register_buffer("frequencies", torch.ones(WIDTH // HEADS // 2))

    def forward(self, ids: Tensor) -> Tensor:
        angles = torch.outer(torch.arange(ids.shape[1]).float(), self.frequencies)
        angles = torch.cat((angles, angles), -1)
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, angles.cos(), angles.sin())
        return self.head(self.norm(x))


def most_bytes() -> int:
    """Return the most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(decompose: bool) -> None:
    with torch.device("meta"):
        model = Llama().eval()
        ids = torch.zeros(1, 16, dtype=torch.int64)
    ir = extract_ir(model, (ids,), decompose=decompose)
    figures = {
        "parameters": sum(each.numel() for each in model.parameters()),
        "nodes": len(ir.nodes),
        "bytes": most_bytes(),
    }
    start = process_time()
    module = import_ir(ir)
    figures |= {
        "ops": sum(1 for _ in module.walk()),
        "seconds_to_import": process_time() - start,
        "bytes_with_import": most_bytes(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(decompose="--decompose" in sys.argv)
