"""Small networks of invocations, run compiled and held against PyTorch."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.model import load
from tests.closeness import assert_allclose

pytest.importorskip("pycparser")
pytest.importorskip("torch")

import torch
from torch.nn import functional as F

Array = NDArray[np.float32]


class Net:
    """Writes a network as invocations and computes it in PyTorch at the same time."""

    def __init__(self, *shape: int) -> None:
        self.random = np.random.default_rng(7)
        self.lines: list[str] = []
        self.weights: dict[str, Array] = {}
        self.values: dict[str, torch.Tensor] = {}
        self.input = self.random.normal(size=shape).astype(np.float32)
        self.create("x", self.input, from_file=False)

    def create(self, name: str, array: Array, *, from_file: bool = True) -> str:
        file = str(from_file).lower()
        self.lines.append(
            f'create(| dst={name} | dtype="TL_FLOAT", dims={list(array.shape)}, ran=[0, 0], '
            f"data=[0], from_file={file});"
        )
        self.values[name] = torch.from_numpy(array.copy())
        return name

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        fan = max(1, int(np.prod(shape[1:])))
        array = (self.random.normal(size=shape) / np.sqrt(fan)).astype(np.float32)
        self.weights[name] = array
        return self.create(name, array)

    def op(self, text: str, inputs: Mapping[str, str], params: str, value: torch.Tensor) -> str:
        name = f"t{len(self.lines)}"
        arguments = ", ".join(f"{key}={each}" for key, each in inputs.items())
        self.lines.append(f"{text}({arguments} | dst={name} | {params});")
        self.values[name] = value
        return name

    def conv(self, x: str, out: int, size: int, stride: int = 1, group: int = 1) -> str:
        channels = self.values[x].shape[1]
        weight, bias = self.weight(out, channels // group, size, size), self.weight(out)
        pad = size // 2
        value = F.conv2d(
            self.values[x], self.values[weight], self.values[bias], stride, pad, 1, group
        )
        params = (
            f"group={group}, size=[{size}, {size}], stride=[{stride}, {stride}], "
            f'dilation=[1, 1], padding=[{pad}, {pad}, {pad}, {pad}], autopad="NOTSET"'
        )
        return self.op("conv2d", {"src": x, "weight": weight, "bias": bias}, params, value)

    def norm(self, x: str) -> str:
        channels = self.values[x].shape[1]
        names = [self.weight(channels) for _ in range(4)]
        self.weights[names[3]][:] = np.abs(self.weights[names[3]]) + 0.5
        self.values[names[3]] = torch.from_numpy(self.weights[names[3]].copy())
        scale, offset, mean, var = (self.values[name] for name in names)
        value = F.batch_norm(self.values[x], mean, var, scale, offset, eps=1e-5)
        arguments = ["src", "scale", "offset", "mean", "var"]
        inputs = dict(zip(arguments, (x, *names), strict=True))
        return self.op("batchnorm", inputs, "epsilon=0.00001", value)

    def relu(self, x: str) -> str:
        return self.op("relu", {"src": x}, "", torch.relu(self.values[x]))

    def concat(self, a: str, b: str) -> str:
        value = torch.cat((self.values[a], self.values[b]), 1)
        return self.op("concat", {"src1": a, "src2": b}, "axis=1", value)

    def pool(self, x: str, kind: str, size: int, stride: int) -> str:
        function = F.max_pool2d if kind == "maxpool2d" else F.avg_pool2d
        params = (
            f"size=[{size}, {size}], stride=[{stride}, {stride}], padding=[0, 0, 0, 0], "
            'autopad="VALID"'
        )
        return self.op(kind, {"src": x}, params, function(self.values[x], size, stride))

    def slice(self, x: str, start: int, count: int) -> str:
        value = self.values[x][:, start : start + count]
        return self.op("slice", {"src": x}, f"axis=1, start={start}, len={count}", value)

    def shuffle(self, x: str, groups: int) -> str:
        batch, channels, height, width = self.values[x].shape
        five = [batch, groups, channels // groups, height, width]
        split = self.op("reshape", {"src": x}, f"dims={five}", self.values[x].reshape(five))
        swapped = self.values[split].transpose(1, 2)
        turned = self.op("transpose", {"src": split}, "axes=[0, 2, 1, 3, 4]", swapped)
        back = [batch, channels, height, width]
        return self.op("reshape", {"src": turned}, f"dims={back}", swapped.reshape(back))


def squeeze_net() -> tuple[Net, str]:
    net = Net(2, 3, 31, 29)
    x = net.pool(net.relu(net.conv("x", 12, 3, 2)), "maxpool2d", 3, 2)
    for squeeze, expand in ((4, 10), (5, 12)):
        small = net.relu(net.conv(x, squeeze, 1))
        x = net.concat(net.relu(net.conv(small, expand, 1)), net.relu(net.conv(small, expand, 3)))
    x = net.relu(net.conv(x, 7, 1))
    x = net.pool(x, "avgpool2d", net.values[x].shape[3], 1)
    return net, net.op("softmax", {"src": x}, "axis=1", torch.softmax(net.values[x], 1))


def shuffle_net() -> tuple[Net, str]:
    net = Net(2, 3, 27, 21)
    x = net.relu(net.norm(net.conv("x", 12, 3, 2)))
    for _ in range(2):
        left, right = net.slice(x, 0, 6), net.slice(x, 6, 6)
        right = net.relu(net.norm(net.conv(right, 6, 1)))
        right = net.norm(net.conv(right, 6, 3, group=6))
        right = net.relu(net.norm(net.conv(right, 6, 1)))
        x = net.shuffle(net.concat(left, right), 2)
    wide = net.relu(net.norm(net.conv(net.norm(net.conv(x, 12, 3, 2, group=12)), 16, 1, group=2)))
    value = torch.sigmoid(net.values[wide]) * net.values[wide]
    gate = net.op("sigmoid", {"src": wide}, "", torch.sigmoid(net.values[wide]))
    return net, net.op("elew", {"src1": gate, "src2": wide}, 'elew_op="TL_MUL"', value)


@pytest.mark.parametrize("build", [squeeze_net, shuffle_net])
def test_network_of_invocations_agrees_with_pytorch_at_every_level(build, tmp_path: Path) -> None:
    net, last = build()
    path = tmp_path / "graph.il"
    path.write_text("\n".join(net.lines))
    model = load(path, net.weights)
    expected = net.values[last].numpy()

    for level in ("gawee", "linalg", "kernels", "llvm"):
        outputs = model.run({"x": net.input}, level)
        assert list(outputs) == [last]
        # Of the range of the output; sums in other orders, and Winograd's convolution at llvm.
        atol = 1e-4 * float(np.abs(expected).max())
        assert_allclose(outputs[last], expected, rtol=0, atol=atol, err_msg=level)
