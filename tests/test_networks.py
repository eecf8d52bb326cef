"""Whole networks at every level against PyTorch on the same weights.

Tolerance: 1e-4 of the range of PyTorch's output, the accuracy the project promises. Float32
networks of this depth differ by about 1e-6 of it; the tests print the figure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import gawee_dialect
from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.dialect.entry import output_names

torch = pytest.importorskip("torch")

from tests.torch_networks import ResNet18, UNet, run_torch  # noqa: E402  (needs torch)
from tests.upstream_loops import UpstreamNative  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

TOLERANCE = 1e-4

Writer = Callable[..., Path]
NETWORKS = {"resnet18": (write_resnet18, ResNet18), "unet": (write_unet, UNet)}


@dataclass
class Network:
    """A network that is written, and what PyTorch computes on an input."""

    name: str
    graph: Path
    x: NDArray[np.float32]
    expected: NDArray[np.generic]

    def check(self, level: str) -> None:
        model = gawee_dialect.load(self.graph)

        (got,) = model.run({"x": self.x}, level).values()

        assert_close(self.name, level, got, self.expected)
        assert len(output_names(model.function)) == 1


def network(name: str, folder: Path, *, batch: int, size: int, width: int) -> Network:
    write, torch_class = NETWORKS[name]
    graph = write(folder, seed=7, batch=batch, size=size, width=width)
    x = np.random.default_rng(1).standard_normal((batch, 3, size, size)).astype(np.float32)
    expected = run_torch(torch_class(width), gawee_dialect.load(graph).bound, x)
    return Network(name, graph, x, expected)


@pytest.fixture(scope="module")
def resnet18(tmp_path_factory: pytest.TempPathFactory) -> Network:
    folder = tmp_path_factory.mktemp("resnet18")
    return network("resnet18", folder, batch=1, size=224, width=64)


@pytest.fixture(scope="module")
def unet(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return network("unet", tmp_path_factory.mktemp("unet"), batch=1, size=224, width=64)


def assert_close(
    name: str, level: str, got: NDArray[np.generic], expected: NDArray[np.generic]
) -> None:
    assert got.shape == expected.shape
    difference = np.abs(np.subtract(got, expected)).max() / np.ptp(expected)
    print(f"{name} at {level}: largest difference {difference:.2e} of the output's range")
    assert difference <= TOLERANCE


@pytest.mark.parametrize("level", ["gawee", "linalg", "llvm"])
def test_resnet18_at_full_size_agrees_with_pytorch(level: str, resnet18: Network) -> None:
    resnet18.check(level)


@pytest.mark.parametrize("level", ["gawee", "linalg", "llvm"])
def test_unet_with_resnet34_encoder_agrees_with_pytorch(level: str, unet: Network) -> None:
    unet.check(level)


@pytest.mark.parametrize("name", ["resnet18", "unet"])
def test_reduced_network_agrees_with_pytorch_at_the_loops_level(name: str, tmp_path: Path) -> None:
    network(name, tmp_path, batch=2, size=32, width=3).check("loops")


@requires_upstream
def test_llvm_dialect_through_upstream_agrees_with_pytorch(tmp_path: Path) -> None:
    # Its encoder is a ResNet.
    model = gawee_dialect.load(write_unet(tmp_path, seed=7, batch=1, size=64, width=8))
    x = np.random.default_rng(1).standard_normal((1, 3, 64, 64)).astype(np.float32)
    expected = run_torch(UNet(8), model.bound, x)

    native = UpstreamNative(model.lowered("llvm"))
    prepared = native.call("prepare", model.bound)
    (got,) = native.call("main", {**model.bound, **prepared, "x": x}).values()

    assert_close("unet", "llvm, translated by mlir-translate,", got, expected)
