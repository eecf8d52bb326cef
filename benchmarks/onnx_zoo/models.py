"""Which .onnx files are in the zoo: light architectures, and what PyTorch exports of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from benchmarks.onnx_zoo import light

Array = NDArray[np.generic]

LIGHT = "onnx"
"""The library that the light architectures come with."""


@dataclass(frozen=True)
class OnnxNetwork:
    """A network; `write` makes its file and returns an input for it, by name."""

    name: str
    library: str
    write: Callable[[Path], Mapping[str, Array]]


def _write_light(name: str, path: Path) -> Mapping[str, Array]:
    model = light.light_model(name)
    onnx.save(model, path)
    return {light.image_name(model): light.random_image(1)}


def _write_exported(name: str, path: Path) -> Mapping[str, Array]:
    import torch

    from benchmarks.zoo.networks import zoo
    from benchmarks.zoo.peers import export
    from benchmarks.zoo.weights import settle

    torch.manual_seed(0)
    module, inputs = zoo()[name].build()
    module = module.float().eval()
    settle(module, inputs)
    return export(module, inputs, path)


def onnx_zoo() -> dict[str, OnnxNetwork]:
    """Return every network by its name."""
    from benchmarks.zoo.networks import zoo

    found = {
        f"light_{name}": OnnxNetwork(f"light_{name}", LIGHT, partial(_write_light, name))
        for name in light.NAMES
    }
    for name, network in zoo().items():
        found[name] = OnnxNetwork(name, network.library, partial(_write_exported, name))
    return found
