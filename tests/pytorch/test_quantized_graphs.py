"""Networks as PyTorch quantizes exported graphs: ops of `quantized_decomposed` around layers."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from benchmarks.models import Bert, MobileNetV2, ResNet, basic_block
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.types import element_type, is_float
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.pytorch.compiled import compile_torch
from gawee_dialect.pytorch.compiled_torch import CompiledTorch
from tests.closeness import assert_allclose
from tests.passes.modules import transform

OPS = torch.ops.quantized_decomposed
BYTE = 0, 255, torch.uint8


class Quantized(nn.Module):
    """A layer on a quantized input, with weights of a scale for each filter."""

    def __init__(self, layer: nn.Conv2d | nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        scale = layer.weight.flatten(1).abs().amax(1) / 127
        weight = layer.weight / scale.reshape(-1, *[1] * (layer.weight.dim() - 1))
        self.weight = nn.Buffer(weight.detach().round().to(torch.int8))
        self.scale = nn.Buffer(scale.detach())
        self.zero = nn.Buffer(torch.zeros(len(scale), dtype=torch.int64))
        self.step, self.middle = 1.0, 0
        self.is_ready = False

    def quantize(self, x: Tensor) -> Tensor:
        if not self.is_ready:  # the first run finds the range
            low, high = float(x.min().clamp(max=0)), float(x.max())
            self.step, self.is_ready = (high - low) / 255, True
            self.middle = round(-low / self.step)
        return OPS.quantize_per_tensor(x, self.step, self.middle, *BYTE)

    def forward(self, x: Tensor) -> Tensor:
        x = OPS.dequantize_per_tensor(self.quantize(x), self.step, self.middle, *BYTE)
        weight = OPS.dequantize_per_channel(
            self.weight, self.scale, self.zero, 0, -127, 127, torch.int8
        )
        return self.apply_layer(x, weight, self.layer.bias)

    def apply_layer(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if isinstance(self.layer, nn.Linear):
            return nn.functional.linear(x, weight, bias)
        conv = self.layer
        assert not isinstance(conv.padding, str)
        moves = conv.stride, conv.padding, conv.dilation, conv.groups
        return nn.functional.conv2d(x, weight, bias, *moves)


class FewBlocks(ResNet):
    """One a stage; normalisations of their own statistics."""

    def __init__(self) -> None:
        super().__init__(basic_block, [1, 1, 1, 1], 1)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm2d):
                assert module.running_mean is not None
                assert module.running_var is not None
                module.running_mean.normal_(0, 0.1)
                module.running_var.uniform_(0.5, 2)


class FewResiduals(MobileNetV2):
    """Four of the seventeen."""

    ROWS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 1, 2))


NETWORKS: Mapping[str, Callable[[], nn.Module]] = {
    "resnet": FewBlocks,
    "mobilenetv2": FewResiduals,
    "bert": lambda: Bert(layers=1),
}


def quantized(name: str) -> nn.Module:
    """Return a network like those of the benchmarks, its normalisations folded, quantized."""
    torch.manual_seed(0)
    model = NETWORKS[name]().eval()
    for module in list(model.modules()):
        for (first, conv), (second, norm) in pairwise(module.named_children()):
            if isinstance(conv, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                setattr(module, first, fuse_conv_bn_eval(conv, norm))
                setattr(module, second, nn.Identity())
    for module in list(model.modules()):
        for child, layer in list(module.named_children()):
            if isinstance(layer, nn.Conv2d | nn.Linear):
                setattr(module, child, Quantized(layer))
    return model.eval().requires_grad_(False)


def products_in_float(compiled: CompiledTorch) -> int:
    module = transform(import_ir(compiled.ir), "lower-quant-ops,canonicalize,sink-dequantize")
    products = (op for op in module.walk() if isinstance(op, ConvOp | MatMulOp | BatchMatMulOp))
    return sum(is_float(element_type(op.result)) for op in products)


@pytest.mark.parametrize("groups", [1, 2])
def test_the_sum_of_a_convolution_is_exact(groups: int) -> None:
    torch.manual_seed(0)
    layer = Quantized(nn.Conv2d(16, 24, 3, 2, 1, groups=groups, bias=False)).requires_grad_(False)
    x = torch.randn(2, 16, 9, 7)
    layer(x)

    compiled = compile_torch(layer, (x,), CodeOptions(num_threads=1))
    got = compiled.native(x.numpy())

    assert products_in_float(compiled) == 0
    integers = layer.quantize(x).double() - layer.middle
    sums = layer.apply_layer(integers, layer.weight.double(), None)
    scales = np.float64(np.float32(layer.step)) * layer.scale.double().numpy()
    # Two products are rounded, by 2^-24 each; the sum is not, which is below 2^24.
    assert_allclose(got, sums.numpy() * scales[:, None, None], rtol=2**-22)


def test_the_sum_of_a_linear_layer_is_exact() -> None:
    torch.manual_seed(0)
    layer = Quantized(nn.Linear(48, 24, bias=False)).requires_grad_(False)
    x = torch.randn(2, 7, 48)
    layer(x)

    compiled = compile_torch(layer, (x,), CodeOptions(num_threads=1))
    got = compiled.native(x.numpy())

    assert products_in_float(compiled) == 0
    integers = layer.quantize(x).double() - layer.middle
    sums = layer.apply_layer(integers, layer.weight.double(), None)
    scales = np.float64(np.float32(layer.step)) * layer.scale.double().numpy()
    # As above: two products are rounded, the sum is not.
    assert_allclose(got, sums.numpy() * scales, rtol=2**-22)


def picture(random: torch.Generator) -> Tensor:
    return torch.randn(1, 3, 64, 64, generator=random)


def tokens(random: torch.Generator) -> Tensor:
    return torch.randint(0, 30522, (1, 32), generator=random)


@pytest.mark.parametrize(
    ("name", "draw", "in_float"),
    [("resnet", picture, 0), ("mobilenetv2", picture, 4), ("bert", tokens, 2)],
)
def test_networks_compute_what_pytorch_does(
    name: str, draw: Callable[[torch.Generator], Tensor], in_float: int
) -> None:
    network = quantized(name)
    x = draw(torch.Generator().manual_seed(3))
    network(x)
    wanted = network(x).numpy()

    compiled = compile_torch(network, (x,), CodeOptions(num_threads=1))
    got = compiled.native(x.numpy())

    assert products_in_float(compiled) == in_float  # depthwise ones, and those of attention
    # PyTorch's sums are of floats: where a rounding goes the other way, later layers differ by
    # some steps of 256.
    assert np.abs(got - wanted).max() <= 0.02 * np.ptp(wanted)
