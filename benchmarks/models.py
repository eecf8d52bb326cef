"""The networks that engines are compared on: plain PyTorch, seeded weights, f32.

Batch normalisation has statistics of its own, so that nothing can take it for the identity.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def normalized_conv(
    inputs: int, outputs: int, size: int, *, stride: int = 1, groups: int = 1
) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
    """Make a convolution that keeps the extent but for its stride, and its normalisation."""
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return conv, nn.BatchNorm2d(outputs)


class Residual(nn.Module):
    """Convolutions beside a shortcut, which is projected where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int, shapes: list[tuple[int, int, int]]):
        """Chain convolutions given as (channels, size, stride)."""
        super().__init__()
        channels = inputs
        for index, (features, size, step) in enumerate(shapes, 1):
            conv, norm = normalized_conv(channels, features, size, stride=step)
            self.add_module(f"conv{index}", conv)
            self.add_module(f"bn{index}", norm)
            channels = features
        self.depth = len(shapes)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(*normalized_conv(inputs, outputs, 1, stride=stride))

    def forward(self, x: Tensor) -> Tensor:
        out = x
        for index in range(1, self.depth + 1):
            out = self.get_submodule(f"bn{index}")(self.get_submodule(f"conv{index}")(out))
            out = F.relu(out) if index < self.depth else out
        return F.relu(out + (x if self.downsample is None else self.downsample(x)))


def basic_block(inputs: int, width: int, stride: int) -> Residual:
    """Two 3x3 convolutions."""
    return Residual(inputs, width, stride, [(width, 3, stride), (width, 3, 1)])


def bottleneck(inputs: int, width: int, stride: int) -> Residual:
    """A 3x3 convolution between two of 1x1, the last four times as wide."""
    shapes = [(width, 1, 1), (width, 3, stride), (4 * width, 1, 1)]
    return Residual(inputs, 4 * width, stride, shapes)


class ResNet(nn.Module):
    """Four stages of residual blocks behind a 7x7 stem; the names are torchvision's."""

    def __init__(self, block: Callable[[int, int, int], Residual], counts: list[int], growth: int):
        super().__init__()
        self.conv1, self.bn1 = normalized_conv(3, 64, 7, stride=2)
        channels = 64
        for stage, count in enumerate(counts):
            width, blocks = 64 << stage, list[Residual]()
            for index in range(count):
                blocks.append(block(channels, width, 2 if stage and not index else 1))
                channels = width * growth
            self.add_module(f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(channels, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for stage in range(1, 5):
            x = self.get_submodule(f"layer{stage}")(x)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class InvertedResidual(nn.Module):
    """Expand by 1x1, filter each channel by 3x3, project by 1x1."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int):
        super().__init__()
        hidden = inputs * expansion
        expand = [*normalized_conv(inputs, hidden, 1), nn.ReLU6()] if expansion > 1 else []
        depthwise = normalized_conv(hidden, hidden, 3, stride=stride, groups=hidden)
        self.body = nn.Sequential(
            *expand, *depthwise, nn.ReLU6(), *normalized_conv(hidden, outputs, 1)
        )
        self.has_shortcut = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.has_shortcut else self.body(x)


class MobileNetV2(nn.Module):
    """Seventeen inverted residuals of growing width."""

    ROWS = (
        # expansion, width, blocks, stride of the first
        *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
        *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
    )

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [*normalized_conv(3, 32, 3, stride=2), nn.ReLU6()]
        channels = 32
        for expansion, width, blocks, stride in self.ROWS:
            for index in range(blocks):
                step = stride if index == 0 else 1
                layers.append(InvertedResidual(channels, width, step, expansion))
                channels = width
        layers += [*normalized_conv(channels, 1280, 1), nn.ReLU6()]
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(1280, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = F.adaptive_avg_pool2d(self.features(x), 1)
        return self.fc(torch.flatten(x, 1))


def two_convs(inputs: int, width: int) -> nn.Sequential:
    """Two 3x3 convolutions with normalisation and ReLU."""
    first, second = normalized_conv(inputs, width, 3), normalized_conv(width, width, 3)
    return nn.Sequential(*first, nn.ReLU(), *second, nn.ReLU())


class UNet(nn.Module):
    """Four levels down by pooling, four up by transposed convolution and concatenation."""

    def __init__(self, width: int = 24, levels: int = 4):
        super().__init__()
        widths = [width << level for level in range(levels + 1)]
        self.down = nn.ModuleList(
            two_convs(inputs, outputs)
            for inputs, outputs in zip([3, *widths], widths, strict=False)
        )
        pairs = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
        self.up = nn.ModuleList(nn.ConvTranspose2d(wide, narrow, 2, 2) for wide, narrow in pairs)
        self.join = nn.ModuleList(two_convs(2 * narrow, narrow) for _, narrow in pairs)
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept: list[Tensor] = []
        for level in self.down:
            x = level(F.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        kept.pop()
        for up, join in zip(self.up, self.join, strict=True):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


class EncoderLayer(nn.Module):
    """Attention and a feed-forward part, each added to its input and then normalised."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = (batch, length, self.heads, width // self.heads)
        query, key, value = (
            part(x).view(split).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = F.scaled_dot_product_attention(query, key, value)
        joined = attended.transpose(1, 2).reshape(batch, length, width)
        x = self.norm1(x + self.output(joined))
        return self.norm2(x + self.narrow(F.gelu(self.wide(x))))


class Bert(nn.Module):
    """BERT's encoder, from token numbers; by default small: 4 layers of width 256 and 4 heads."""

    def __init__(self, layers: int = 4, width: int = 256, heads: int = 4) -> None:
        super().__init__()
        self.word, self.position = nn.Embedding(30522, width), nn.Embedding(512, width)
        self.segment = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.Sequential(*(EncoderLayer(width, heads) for _ in range(layers)))

    def forward(self, ids: Tensor) -> Tensor:
        position = torch.arange(ids.shape[1], device=ids.device)[None]
        x = self.word(ids) + self.position(position) + self.segment(torch.zeros_like(ids))
        return self.layers(self.norm(x))


CONVS = (
    # channels in and out, kernel, stride, padding, extent: the distinct ones of ResNet-18
    *((3, 64, 7, 2, 3, 224), (64, 64, 3, 1, 1, 56), (64, 128, 3, 2, 1, 56), (64, 128, 1, 2, 0, 56)),
    *((128, 128, 3, 1, 1, 28), (128, 256, 3, 2, 1, 28), (128, 256, 1, 2, 0, 28)),
    *((256, 256, 3, 1, 1, 14), (256, 512, 3, 2, 1, 14), (256, 512, 1, 2, 0, 14)),
    (512, 512, 3, 1, 1, 7),
)

Draw = Callable[[int, torch.Generator], Tensor]
"""Draws an input of so many pictures or texts."""


def _picture(size: int, channels: int = 3) -> Draw:
    return lambda batch, random: torch.randn(batch, channels, size, size, generator=random)


def _tokens(count: int, length: int) -> Draw:
    return lambda batch, random: torch.randint(0, count, (batch, length), generator=random)


@dataclass(frozen=True)
class Entry:
    """How a network and its input are made."""

    make: Callable[[], nn.Module]
    draw: Draw


def _conv_name(shape: tuple[int, ...]) -> str:
    inputs, outputs, kernel, stride, _, size = shape
    return f"conv{kernel}x{kernel}s{stride}-{inputs}-{outputs}-{size}"


def _conv_entry(shape: tuple[int, ...]) -> Entry:
    inputs, outputs, kernel, stride, padding, size = shape
    return Entry(
        lambda: nn.Conv2d(inputs, outputs, kernel, stride, padding), _picture(size, inputs)
    )


MODELS: dict[str, Entry] = {
    "resnet18": Entry(lambda: ResNet(basic_block, [2, 2, 2, 2], 1), _picture(224)),
    "resnet50": Entry(lambda: ResNet(bottleneck, [3, 4, 6, 3], 4), _picture(224)),
    "mobilenetv2": Entry(MobileNetV2, _picture(224)),
    "unet": Entry(UNet, _picture(256)),
    "bert-small": Entry(Bert, _tokens(30522, 128)),
}
"""Networks by name."""

LAYERS: dict[str, Entry] = {_conv_name(shape): _conv_entry(shape) for shape in CONVS}
"""Single convolutions by name: kernel and stride, channels in and out, extent."""


def _fan_in(module: nn.Module) -> int:
    match module:
        case nn.ConvTranspose2d():
            return module.in_channels
        case nn.Conv2d() | nn.Linear():
            return module.weight[0].numel()
        case _:
            return 0


def _draw_weights(model: nn.Module, random: torch.Generator) -> None:
    """Give every layer weights that keep the size of its values, and biases that show."""
    for module in model.modules():
        fan_in = _fan_in(module)
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
            gain = 1.0 if isinstance(module, nn.Linear) else 2.0
            module.weight.normal_(0, math.sqrt(gain / fan_in), generator=random)
        if isinstance(module, nn.BatchNorm2d):
            module.weight.uniform_(0.6, 1.1, generator=random)
            assert module.running_mean is not None
            assert module.running_var is not None
            module.running_mean.normal_(0, 0.1, generator=random)
            module.running_var.uniform_(0.8, 1.6, generator=random)
        if isinstance(module, nn.LayerNorm):
            module.weight.uniform_(0.8, 1.2, generator=random)
        bias = getattr(module, "bias", None)
        if bias is not None and isinstance(bias, Tensor):
            bias.normal_(0, 0.05, generator=random)


def _entry(name: str) -> tuple[Entry, int]:
    known, _, batch = name.partition("@")
    return {**MODELS, **LAYERS}[known], int(batch or 1)


def draw(name: str, seed: int) -> Tensor:
    """Return an input of a network."""
    entry, batch = _entry(name)
    return entry.draw(batch, torch.Generator().manual_seed(seed))


def build(name: str, seed: int = 0) -> tuple[nn.Module, Tensor]:
    """Return a network for inference, and its one input; `resnet18@8` has batch 8."""
    entry, _ = _entry(name)
    torch.manual_seed(seed)
    model = entry.make().eval().requires_grad_(False)
    with torch.no_grad():
        _draw_weights(model, torch.Generator().manual_seed(seed + 1))
    return model, draw(name, seed + 2)


def count_flops(model: nn.Module, x: Tensor) -> int:
    """Return two for each multiply-add of the convolutions and matrix products that run."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    shapes_only = copy.deepcopy(model).to("meta")
    # The fused form of attention is one op, which the counter does not know on a CPU.
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), counter:
        shapes_only(x.to("meta"))
    return counter.get_total_flops()
