"""Small models, each with a kind of graph of its own, and inputs for them."""

from collections.abc import Callable

import torch
from torch import nn

Model = tuple[nn.Module, tuple[torch.Tensor, ...]]


class SelfAttention(nn.Module):
    def __init__(self, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], -1, self.heads, self.head_width).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / 4.0, dim=-1)
        mixed = torch.matmul(weights, v).transpose(1, 2).contiguous()
        return self.out(mixed.view(x.shape[0], -1, self.heads * self.head_width))


class CrossAttention(nn.Module):
    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        return self.attention(x, context, context, need_weights=False)[0]


class TransformerBlock(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.attention = SelfAttention(width, 4)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.feed = nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.feed(self.norms[1](x))


class SiameseEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            *(nn.Conv2d(3, 6, 3, stride=2), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 8, 3)),
            *(nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)),
        )

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.encoder(x), self.encoder(y)


class MultiTaskHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.heads = nn.ModuleList(nn.Linear(8, size) for size in (10, 4))

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        features = self.body(x).mean(dim=(2, 3))
        return [head(features) for head in self.heads]


class RecurrentUnroll(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(5):
            x = torch.tanh(self.step(x))
        return x


class WeightTying(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.body = nn.Linear(16, 16)
        self.out = nn.Linear(16, 50, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.body(self.embedding(ids))))


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norms[0](self.convs[0](x)))
        return torch.relu(x + self.norms[1](self.convs[1](y)))


class DeepResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.blocks = nn.Sequential(*(Residual(8) for _ in range(3)))
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.stem(x)))


class DenseBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(4 + 3 * i, 3, 3, padding=1) for i in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv in self.convs:
            x = torch.cat([x, torch.relu(conv(x))], dim=1)
        return nn.functional.avg_pool2d(x, 2)


class LiftedTensors(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 4)
        self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0, 1.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chosen = x[:, torch.tensor([0, 2, 3, 5, 1, 4])]
        return self.linear(chosen) * self.mask + torch.tensor([[0.5, -1.0, 2.0, 0.0]])


class Adversarial(nn.Module):
    """What exporters get wrong: negative axes, lists, strides, broadcasts, uneven parts."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv3d(2, 4, (1, 3, 3))
        self.up = nn.ConvTranspose2d(4, 3, 3, stride=2, output_padding=1)
        self.norm = nn.InstanceNorm2d(3)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        y = self.conv(x).squeeze(-3)
        y = nn.functional.interpolate(self.norm(self.up(y)), scale_factor=1.5)
        y += y.mean(-1, keepdim=True)
        first, *rest = y.split([1, 2], dim=-3)
        parts = y.chunk(4, dim=-1)
        total = torch.einsum("nchw,nchw->nc", y, y) * 2 - 1
        return [total, first.repeat(1, 2, 1, 1), *rest, torch.where(y > 0, y, -y), parts[-1]]


MODELS: dict[str, Callable[[], Model]] = {
    "self_attention": lambda: (SelfAttention(), (torch.randn(2, 16, 64),)),
    "cross_attention": lambda: (CrossAttention(), (torch.randn(2, 16, 64), torch.randn(2, 9, 64))),
    "transformer_block": lambda: (TransformerBlock(), (torch.randn(2, 7, 32),)),
    "siamese_encoder": lambda: (SiameseEncoder(), (torch.randn(2, 3, 13, 12),) * 2),
    "multi_task_head": lambda: (MultiTaskHead(), (torch.randn(2, 3, 8, 6),)),
    "recurrent_unroll": lambda: (RecurrentUnroll(), (torch.randn(3, 32),)),
    "weight_tying": lambda: (WeightTying(), (torch.randint(0, 50, (2, 7)),)),
    "deep_resnet": lambda: (DeepResNet(), (torch.randn(2, 3, 9, 8),)),
    "dense_block": lambda: (DenseBlock(), (torch.randn(2, 4, 6, 8),)),
    "lifted_tensors": lambda: (LiftedTensors(), (torch.randn(3, 6),)),
    "adversarial": lambda: (Adversarial(), (torch.randn(2, 2, 1, 5, 6),)),
}


def make(name: str) -> Model:
    """Return a model in eval mode, with weights of its own, and inputs."""
    torch.manual_seed(7)
    model, inputs = MODELS[name]()
    return model.eval(), inputs
