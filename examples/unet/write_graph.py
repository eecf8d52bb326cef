"""Write a U-Net with a ResNet-34 encoder as a Gawee graph: 196 nodes, seeded weights.

python examples/unet/write_graph.py build/unet

The graph is as a tracer leaves it: twelve Identity modules that attention, the center and the head
leave unused, and 22 Python operations that compute the sizes of the five upsamplings.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # so that the script runs from anywhere

from examples.graph_writer import GraphWriter, run_writer
from examples.resnet18.write_graph import stage, stem

ENCODER_BLOCKS = (3, 4, 6, 3)


def encoder(graph: GraphWriter, x: str, width: int, blocks: Sequence[int]) -> list[str]:
    """Add a ResNet; return six feature maps, each half the size of the one before."""
    features = [x, stem(graph, "encoder.", x, width)]
    out = graph.max_pool("encoder.maxpool", features[-1])
    for index, count in enumerate(blocks):
        stride = 1 if index == 0 else 2
        out = stage(graph, f"encoder.layer{index + 1}", out, width << index, count, stride)
        features.append(out)
    return features


def conv_bn_relu(graph: GraphWriter, name: str, x: str, features: int) -> str:
    out = graph.batch_norm(f"{name}.1", graph.conv(f"{name}.0", x, features, 3))
    return graph.relu(f"{name}.2", out)


def decoder_block(
    graph: GraphWriter, name: str, x: str, features: int, target: tuple[str, str], like: str
) -> str:
    """Upsample to the size of `like`, which also joins in unless it is the graph's input."""
    out = graph.nearest(x, *target, graph.shape(like)[2:])
    if like != "x":
        out = graph.cat([out, like])
        out = graph.identity(f"{name}.attention1.attention", out)
    out = conv_bn_relu(graph, f"{name}.conv1", out, features)
    out = conv_bn_relu(graph, f"{name}.conv2", out, features)
    return graph.identity(f"{name}.attention2.attention", out)


def write_unet(
    folder: Path,
    *,
    seed: int = 0,
    size: int = 224,
    batch: int = 1,
    width: int = 64,
    blocks: Sequence[int] = ENCODER_BLOCKS,
    with_weights: bool = True,
) -> Path:
    """Write the graph of input `x` into a folder; return the path of its JSON.

    `blocks` is how many residual blocks each of the four stages of the encoder has.
    """
    graph = GraphWriter(seed, with_weights=with_weights)
    features = encoder(graph, graph.input("x", (batch, 3, size, size)), width, blocks)
    sizes = [graph.spatial_shape(feature) for feature in features]
    out = graph.identity("decoder.center", features.pop())
    for index, like in enumerate(reversed(features)):
        source = sizes[len(features) - 1 - index]
        target = (graph.item(source, 0), graph.item(source, 1))
        channels = max(width * 4 >> index, 1)
        out = decoder_block(graph, f"decoder.blocks.{index}", out, channels, target, like)
    out = graph.conv("segmentation_head.0", out, 1, 3, bias=True)
    out = graph.identity("segmentation_head.1", out)
    out = graph.identity("segmentation_head.2.activation", out)
    return graph.write(folder, [out])


if __name__ == "__main__":
    run_writer(write_unet, __doc__)
