"""ResNet-18 and the U-Net of the examples as plain PyTorch modules: an oracle for whole networks.

Nothing here knows of Gawee graphs; weights are loaded by their names.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn


class BasicBlock(nn.Module):
    def __init__(self, channels: int, features: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, features, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(features)
        self.conv2 = nn.Conv2d(features, features, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(features)
        self.downsample = nn.Identity()
        if stride != 1:
            projection = nn.Conv2d(channels, features, 1, stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(features))

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.downsample(x))


class Stages(nn.Module):
    """A residual network without its head; returns the feature map of every resolution."""

    def __init__(self, width: int, blocks: Sequence[int]) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        channels = width
        for index, count in enumerate(blocks):
            features = width << index
            stride = 1 if index == 0 else 2
            layer = [BasicBlock(channels, features, stride)]
            layer += [BasicBlock(features, features, 1) for _ in range(count - 1)]
            self.add_module(f"layer{index + 1}", nn.Sequential(*layer))
            channels = features

    def maps(self, x: Tensor) -> list[Tensor]:
        """Return the input and what each stage makes."""
        maps = [x, F.relu(self.bn1(self.conv1(x)))]
        out = F.max_pool2d(maps[-1], 3, 2, 1)
        for index in range(4):
            out = self.get_submodule(f"layer{index + 1}")(out)
            maps.append(out)
        return maps


class Encoder(Stages):
    def forward(self, x: Tensor) -> list[Tensor]:
        return self.maps(x)


class ResNet18(Stages):
    def __init__(self, width: int) -> None:
        super().__init__(width, (2, 2, 2, 2))
        self.fc = nn.Linear(width * 8, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.maps(x)[-1].mean(dim=(2, 3)))


def conv_bn_relu(channels: int, features: int) -> nn.Sequential:
    conv = nn.Conv2d(channels, features, 3, 1, 1, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(features), nn.ReLU())


class DecoderBlock(nn.Module):
    def __init__(self, channels: int, features: int) -> None:
        super().__init__()
        self.conv1 = conv_bn_relu(channels, features)
        self.conv2 = conv_bn_relu(features, features)

    def forward(self, x: Tensor, skip: Tensor | None, size: Sequence[int]) -> Tensor:
        out = F.interpolate(x, size=tuple(size), mode="nearest")
        if skip is not None:
            out = torch.cat([out, skip], dim=1)
        return self.conv2(self.conv1(out))


class UNet(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.encoder = Encoder(width, (3, 4, 6, 3))
        skips = [width * 4, width * 2, width, width, 0]
        blocks = nn.ModuleList()
        self.decoder = nn.ModuleDict({"blocks": blocks})
        channels = width * 8
        for index, skip in enumerate(skips):
            features = max(width * 4 >> index, 1)
            blocks.append(DecoderBlock(channels + skip, features))
            channels = features
        self.segmentation_head = nn.Sequential(nn.Conv2d(channels, 1, 3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        maps = self.encoder(x)
        out = maps.pop()
        for block in self.decoder["blocks"].children():
            like = maps.pop()
            out = block(out, like if maps else None, like.shape[2:])
        return self.segmentation_head(out)


def run_torch(
    model: nn.Module, weights: Mapping[str, NDArray[np.generic]], x: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Load weights by name, every one of them, and run in inference mode."""
    state = {name: torch.from_numpy(np.array(array)) for name, array in weights.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert unexpected == []
    assert all(name.endswith("num_batches_tracked") for name in missing)
    with torch.inference_mode():
        return model.eval()(torch.from_numpy(x)).numpy()
