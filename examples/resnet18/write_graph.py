"""Write ResNet-18 with batch normalization as a Gawee graph: 69 nodes, seeded weights.

python examples/resnet18/write_graph.py build/resnet18
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # so that the script runs from anywhere

from examples.graph_writer import GraphWriter, run_writer

CLASSES = 1000


def basic_block(graph: GraphWriter, name: str, x: str, features: int, stride: int) -> str:
    """Two 3x3 convolutions beside a shortcut, which is projected where the shape changes."""
    out = graph.conv(f"{name}.conv1", x, features, 3, stride=stride)
    out = graph.relu(f"{name}.relu", graph.batch_norm(f"{name}.bn1", out))
    out = graph.conv(f"{name}.conv2", out, features, 3)
    # A smaller scale: sums over many blocks would grow otherwise.
    out = graph.batch_norm(f"{name}.bn2", out, scale=0.5)
    if stride != 1:
        x = graph.conv(f"{name}.downsample.0", x, features, 1, stride=stride)
        x = graph.batch_norm(f"{name}.downsample.1", x)
    return graph.relu(f"{name}.relu", graph.add(out, x))


def stem(graph: GraphWriter, prefix: str, x: str, width: int) -> str:
    """Add the 7x7 convolution of stride 2 that residual networks begin with."""
    out = graph.conv(f"{prefix}conv1", x, width, 7, stride=2)
    return graph.relu(f"{prefix}relu", graph.batch_norm(f"{prefix}bn1", out))


def stage(graph: GraphWriter, name: str, x: str, features: int, blocks: int, stride: int) -> str:
    """Add a row of blocks, the first of which has the stride."""
    for index in range(blocks):
        x = basic_block(graph, f"{name}.{index}", x, features, stride if index == 0 else 1)
    return x


def write_resnet18(
    folder: Path,
    *,
    seed: int = 0,
    size: int = 224,
    batch: int = 1,
    width: int = 64,
    with_weights: bool = True,
) -> Path:
    """Write the graph of input `x` and output `fc` into a folder; return the path of its JSON."""
    graph = GraphWriter(seed, with_weights=with_weights)
    out = stem(graph, "", graph.input("x", (batch, 3, size, size)), width)
    out = graph.max_pool("maxpool", out)
    for index in range(4):
        stride = 1 if index == 0 else 2
        out = stage(graph, f"layer{index + 1}", out, width << index, 2, stride)
    out = graph.flatten(graph.global_average("avgpool", out))
    return graph.write(folder, [graph.linear("fc", out, CLASSES)])


if __name__ == "__main__":
    run_writer(write_resnet18, __doc__)
