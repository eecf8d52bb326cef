"""Small PyTorch modules of our own, one for each of the ways in which torch-mlir writes linalg."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A module, and the shapes of its inputs."""

    make: Callable[[], nn.Module]
    inputs: tuple[Shape, ...]


class Apply(nn.Module):
    """A module without weights."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


class Residual(nn.Module):
    """Two convolutions with normalization, and what came in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x + self.second(F.relu(self.norm(self.first(x)))))


class Attention(nn.Module):
    """Heads of attention, written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        scores = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        return self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))


class Cell(nn.Module):
    """One step of a gated recurrence."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.own = nn.Linear(width, 3 * width)
        self.new = nn.Linear(inputs, 3 * width)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        r, z, n = self.new(x).chunk(3, 1)
        r_own, z_own, n_own = self.own(h).chunk(3, 1)
        update = torch.sigmoid(z + z_own)
        return (1 - update) * torch.tanh(n + torch.sigmoid(r + r_own) * n_own) + update * h


class Tied(nn.Module):
    """An embedding that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.table(x) @ self.table.weight.T


def _net(*parts: nn.Module) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(*parts)


def _apply(function: Callable[..., torch.Tensor], *inputs: Shape) -> Case:
    return Case(lambda: Apply(function), inputs)


IMAGE: Shape = (2, 3, 9, 7)

CASES: Mapping[str, Case] = {
    "perceptron": Case(_net(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3)), ((2, 7),)),
    "gelu": Case(_net(nn.Linear(6, 4), nn.GELU()), ((3, 6),)),
    "tanh_gelu": Case(_net(nn.Linear(6, 4), nn.GELU(approximate="tanh")), ((3, 6),)),
    "silu": Case(_net(nn.Linear(6, 4), nn.SiLU()), ((3, 6),)),
    "hard_swish": Case(_net(nn.Linear(6, 4), nn.Hardswish()), ((3, 6),)),
    "elu": Case(_net(nn.Linear(6, 4), nn.ELU()), ((3, 6),)),
    "conv1d": Case(_net(nn.Conv1d(3, 5, 3, stride=2)), ((2, 3, 11),)),
    "conv2d": Case(_net(nn.Conv2d(3, 4, 3, padding=1)), (IMAGE,)),
    "conv2d_strided": Case(_net(nn.Conv2d(3, 4, 3, stride=2, dilation=2)), (IMAGE,)),
    "conv2d_grouped": Case(_net(nn.Conv2d(4, 6, 3, groups=2)), ((1, 4, 7, 6),)),
    "conv2d_depthwise": Case(_net(nn.Conv2d(4, 4, 3, groups=4), nn.ReLU6()), ((1, 4, 7, 6),)),
    "conv3d": Case(_net(nn.Conv3d(2, 3, 2)), ((1, 2, 4, 5, 6),)),
    "conv_transpose2d": Case(_net(nn.ConvTranspose2d(3, 2, 3, stride=2)), ((1, 3, 4, 5),)),
    "batch_norm": Case(_net(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), (IMAGE,)),
    "layer_norm": Case(_net(nn.LayerNorm(6)), ((2, 5, 6),)),
    "group_norm": Case(_net(nn.GroupNorm(2, 4)), ((2, 4, 5, 3),)),
    "max_pool": Case(_net(nn.MaxPool2d(3, stride=2, padding=1)), (IMAGE,)),
    "average_pool": Case(_net(nn.AvgPool2d(2)), (IMAGE,)),
    "adaptive_pool": Case(_net(nn.AdaptiveAvgPool2d(1), nn.Flatten()), (IMAGE,)),
    "residual": Case(lambda: Residual(4), ((1, 4, 6, 5),)),
    "small_cnn": Case(
        _net(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)),
        ((2, 1, 8, 8),),
    ),
    "attention": Case(lambda: Attention(8, 2), ((1, 5, 8),)),
    "encoder": Case(
        _net(nn.LayerNorm(8), Attention(8, 2), nn.LayerNorm(8), nn.Linear(8, 6), nn.GELU()),
        ((2, 5, 8),),
    ),
    "gated_cell": Case(lambda: Cell(5, 4), ((3, 5), (3, 4))),
    "softmax": _apply(lambda x: torch.softmax(x, 1), (3, 5)),
    "log_softmax": _apply(lambda x: torch.log_softmax(x, -1), (3, 5)),
    "mean_and_deviation": _apply(
        lambda x: (x - x.mean(1, True)) / (x.std(1, keepdim=True) + 1), (3, 5)
    ),
    "batched_product": _apply(torch.bmm, (2, 3, 4), (2, 4, 5)),
    "einsum": _apply(lambda x, y: torch.einsum("bij,bkj->bik", x, y), (2, 3, 4), (2, 5, 4)),
    "concatenation": _apply(lambda x, y: torch.cat([x, y], 1), (2, 3), (2, 4)),
    "slices": _apply(lambda x: x[:, 1:6:2] * x[:, :3], (3, 7)),
    "broadcast": _apply(lambda x, y: torch.sigmoid(x + y[:, None]), (4, 3, 5), (4, 5)),
    "where": _apply(lambda x, y: torch.where(x > y, x, -y), (3, 5), (3, 5)),
    "upsampled": _apply(lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest"), (1, 2, 3, 4)),
    "norm_of_rows": _apply(lambda x: x * torch.rsqrt((x * x).mean(-1, True) + 1e-6), (3, 6)),
}
