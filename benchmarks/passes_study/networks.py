"""The networks of the study, made by code with seeded weights: small ones, of all kinds."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from examples.graph_writer import GraphWriter
from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model, load

ROOT = Path(__file__).resolve().parent.parent.parent


def digits() -> Model:
    """Return the trained network of examples/digits, on images of 8 x 8."""
    return load(ROOT / "examples" / "digits" / "graph.json")


def resnet18() -> Model:
    """Return a ResNet-18 of half the width, on images of 64 x 64."""
    return _written(lambda folder: write_resnet18(folder, size=64, width=32))


def unet() -> Model:
    """Return a U-Net of a quarter of the width, on images of 64 x 64."""
    return _written(lambda folder: write_unet(folder, size=64, width=16))


def perceptron() -> Model:
    """Return three layers of 512 on 64 rows, each followed by a ReLU."""

    def write(folder: Path) -> Path:
        graph = GraphWriter(0)
        x = graph.input("x", (64, 512))
        for index in range(3):
            x = graph.relu(f"relu{index}", graph.linear(f"layer{index}", x, 512))
        return graph.write(folder, [graph.linear("head", x, 10)])

    return _written(write)


ATTENTION = """
func.func @main(%x: tensor<128x256xf32> {{gawee.input = "x"}},
                {weights},
                %scale: tensor<1xf32> {{gawee.parameter = "scale"}},
                %g: tensor<256xf32> {{gawee.parameter = "g"}})
    -> (tensor<128x256xf32> {{gawee.output = "y"}}) {{
  %n = gawee.layer_norm %x scale %g : tensor<256xf32> normalized_rank 1 eps 1.0e-05 : tensor<128x256xf32>
  %q = gawee.matmul %n, %wq : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  %k = gawee.matmul %n, %wk : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  %v = gawee.matmul %n, %wv : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  %s = gawee.batch_matmul %q, %k transpose_b : (tensor<128x256xf32>, tensor<128x256xf32>) -> tensor<128x128xf32>
  %t = gawee.mul %s, %scale : (tensor<128x128xf32>, tensor<1xf32>) -> tensor<128x128xf32>
  %p = gawee.softmax %t axis 1 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %o = gawee.batch_matmul %p, %v : (tensor<128x128xf32>, tensor<128x256xf32>) -> tensor<128x256xf32>
  %h = gawee.gelu %o approximate "none" : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %z = gawee.matmul %h, %wo : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  %y = gawee.add %z, %x : (tensor<128x256xf32>, tensor<128x256xf32>) -> tensor<128x256xf32>
  func.return %y : tensor<128x256xf32>
}}
"""


def attention() -> Model:
    """Return a layer of attention with one head on 128 words of width 256, GELU behind it."""
    names = ("wq", "wk", "wv", "wo")
    arguments = (f'%{name}: tensor<256x256xf32> {{gawee.parameter = "{name}"}}' for name in names)
    module = module_of_text(ATTENTION.format(weights=", ".join(arguments)))
    random = np.random.default_rng(0)
    arrays = {name: random.standard_normal((256, 256), np.float32) / 16 for name in names}
    arrays |= {"scale": np.full(1, 1 / 16, np.float32), "g": np.ones(256, np.float32)}
    return Model(module, arrays, "attention")


def _written(write: Callable[[Path], Path]) -> Model:
    """Return a network from the folder that it is written to, its weights in memory."""
    with tempfile.TemporaryDirectory() as name:
        model = load(write(Path(name)))
        model.parameters = {key: np.array(array) for key, array in model.bound.items()}
        return model
