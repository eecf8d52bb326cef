"""MobileNetV2 (Sandler et al., 2018) in plain PyTorch; its weights are named as in torchvision."""

from torch import Tensor, nn

STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, blocks, and the stride of the first block."""


def normalized_conv(
    inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Make a convolution with its normalisation and clipping."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
<<<<<<< HEAD
    """Widen, filter each channel on its own, narrow; around it a shortcut where shapes agree."""
=======
    """Widen, filter each channel on its own, and narrow; a shortcut where shapes agree."""
>>>>>>> zoo

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        widen = [normalized_conv(inputs, hidden, 1)] if expansion != 1 else []
        self.conv = nn.Sequential(
            *widen,
            normalized_conv(hidden, hidden, 3, stride, groups=hidden),
            nn.Conv2d(hidden, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.has_shortcut = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.has_shortcut else self.conv(x)


class MobileNetV2(nn.Module):
    """Images (n, 3, 224, 224) to scores (n, 1000)."""

    def __init__(self) -> None:
        super().__init__()
        blocks: list[nn.Module] = [normalized_conv(3, 32, 3, stride=2)]
        channels = 32
        for expansion, outputs, count, stride in STAGES:
            for index in range(count):
                step = stride if index == 0 else 1
                blocks.append(InvertedResidual(channels, outputs, expansion, step))
                channels = outputs
        blocks.append(normalized_conv(channels, 1280, 1))
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean(dim=(2, 3)))
