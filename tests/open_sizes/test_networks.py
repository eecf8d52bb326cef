"""Networks from PyTorch, by ONNX, as one native code for all sizes, against PyTorch."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from gawee_dialect import load
from gawee_dialect.backend.open_model import OpenModel
from gawee_dialect.code_options import CodeOptions
from tests.closeness import assert_allclose

pytest.importorskip("torch")

import torch

pytest.importorskip("onnx")


def rows(batch: int) -> "torch.Tensor":
    return torch.randn(batch, 20)


def images(batch: int) -> "torch.Tensor":
    return torch.randn(batch, 3, 13, 11)


def sequences(batch: int, length: int) -> "torch.Tensor":
    return torch.randn(batch, length, 24)


def tokens(batch: int, length: int) -> "torch.Tensor":
    return torch.randint(0, 1000, (batch, length))


def mlp() -> "torch.nn.Module":
    nn = torch.nn
    return nn.Sequential(nn.Linear(20, 33), nn.GELU(), nn.LayerNorm(33), nn.Linear(33, 7))


def conv_net() -> "torch.nn.Module":
    nn = torch.nn
    return nn.Sequential(
        *(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 6, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        nn.Linear(6, 5),
    )


def attention() -> "torch.nn.Module":
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.projection = torch.nn.Linear(24, 72)
            self.out = torch.nn.Linear(24, 24)

        def forward(self, x: "torch.Tensor") -> "torch.Tensor":
            batch, length = x.shape[:2]
            parts = self.projection(x).reshape(batch, length, 3, 4, 6).permute(2, 0, 3, 1, 4)
            scores = (parts[0] @ parts[1].transpose(2, 3) / 6**0.5).softmax(-1)
            mixed = (scores @ parts[2]).transpose(1, 2).reshape(batch, length, 24)
            return x + self.out(mixed)

    return Block()


def convolution_along_length() -> "torch.nn.Module":
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv1d(24, 24, 5, padding=2, groups=8)

        def forward(self, x: "torch.Tensor") -> "torch.Tensor":
            return x + self.conv(x.transpose(1, 2)).relu().transpose(1, 2)

    return Block()


def bert() -> "torch.nn.Module":
    from benchmarks.models import Bert

    return Bert()


BATCH, BOTH = {"batch": (1, 9)}, {"batch": (1, 3), "length": (1, 24)}
BATCHES = [(1,), (9,), (4,), (7,), (2,)]
LENGTHS = [(1, 1), (3, 24), (2, 7), (1, 19), (3, 2)]

NETWORKS = {
    "mlp": (mlp, rows, BATCH, BATCHES),
    "conv_net": (conv_net, images, BATCH, BATCHES),
    "attention": (attention, sequences, BOTH, LENGTHS),
    "convolution_along_length": (convolution_along_length, sequences, BOTH, LENGTHS),
    "bert-small": (bert, tokens, BOTH, LENGTHS),
}


@pytest.mark.parametrize("algorithms", ["plain", "fast"])
@pytest.mark.parametrize("name", NETWORKS)
def test_one_code_computes_what_pytorch_does_at_all_sizes(
    tmp_path: Path, name: str, algorithms: str
) -> None:
    make, inputs, ranges, sizes = NETWORKS[name]
    torch.manual_seed(0)
    net = make().eval()
    path = exported(net, inputs(*(2 for _ in ranges)), list(ranges), tmp_path)
    model = load(path, ranges=ranges)
    assert set(model.sizes) == set(ranges)

    options = CodeOptions(algorithms=algorithms)
    compiled = model.compile(options, sizes=ranges, cache=False)

    assert isinstance(compiled, OpenModel)
    for each in sizes:
        x = inputs(*each)
        with torch.no_grad():
            expected = net(x).numpy()
        (result,) = compiled.run({"x": x.numpy()}).values()
        # Sums of some hundred products in float32, in another order, through up to 4 layers.
        assert_allclose(result, expected, rtol=2e-3, atol=2e-4)


def exported(net: "torch.nn.Module", x: "torch.Tensor", axes: Sequence[str], folder: Path) -> Path:
    """Write a network as ONNX, whose first axes have names."""
    path = folder / "net.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            net,
            (x,),
            str(path),
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": dict(enumerate(axes))},
            dynamo=False,
        )
    return path
