"""Models whose extraction is tested: each has something that is easily got wrong."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class SimpleMLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class SelfAttention(nn.Module):
    def __init__(self, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        batch, length, width = x.shape

        def split(y: Tensor) -> Tensor:
            return y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        scores = F.softmax(
            torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(width // self.heads), -1
        )
        y = torch.matmul(scores, v).transpose(1, 2).contiguous().view(batch, length, -1)
        return self.out(y), scores


class Norms(nn.Module):
    """Normalizations without scale: the tensors after it must not take its place."""

    def __init__(self) -> None:
        super().__init__()
        self.batch = nn.BatchNorm2d(3, affine=False)
        self.bias = nn.Parameter(torch.arange(5.0))

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(self.batch(x), (5,), None, self.bias)


class Pieces(nn.Module):
    """Lists of tensors in and out, results that are indices, a scale of an addition."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        a, b, c = x.split([1, 2, 4], 1)
        values, indices = x.max(1)
        chunks = x.chunk(3, 1)
        stacked = torch.stack([values, values], 1)
        return (
            torch.cat([c, b, a], 1),
            indices,
            stacked,
            torch.add(values, values, alpha=3),
            chunks[2],
        )


class Lifted(nn.Module):
    """Constants: made in forward, an attribute, a buffer; a list of indices with None in it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0, 0.0]))
        self.fc = nn.Linear(4, 4)
        self.unused = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.fc(self.fc(x)) * self.mask + torch.tensor([0.5, -0.5, 1.5, 2.5])
        picked = y[:, torch.tensor([2, 0])][:, 1:].to(torch.float64)
        return y.masked_fill(y > 0, -math.inf), picked


class Modes(nn.Module):
    """Blocks that only set a mode, one inside another."""

    def forward(self, x: Tensor) -> Tensor:
        with torch.enable_grad():
            y = x * 2
            with torch.autocast("cpu", enabled=False):
                y = y @ y.transpose(0, 1)
        with torch.enable_grad():
            y, _ = torch.sort(y)
        return y + 1


class Tied(nn.Module):
    """One weight under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.embed(ids))


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:  # the line that the error names
            return x
        return -x


class Dynamic(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.nonzero()


class Reads(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * x.sum().item()


class Counts(nn.Module):
    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1)
        return x + self.count


class Attribute(nn.Module):
    """A tensor that is neither parameter nor buffer: on the meta device it has no data."""

    frequencies: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.ones(4)
        self.register_buffer("frequencies", torch.ones(4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.table + self.frequencies


class ViewedAttention(nn.Module):
    """Attention in a batch whose heads are merged by a view: of memory in the order of the query."""

    def forward(self, x: Tensor) -> Tensor:
        heads = x.reshape(2, 5, 3, 4).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(heads, heads, heads)
        return mixed.transpose(1, 2).contiguous().view(10, 12)
