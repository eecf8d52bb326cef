"""Train a small CNN on scikit-learn's digits and write it as a Gawee JSON graph.

Run once, with PyTorch and scikit-learn installed; what it writes is committed:

    python examples/digits/train.py

graph.json         the network, as a traced PyTorch module is written, its bookkeeping included
weights/*.bin      its weights, raw little-endian float32 (num_batches_tracked: int64)
digits_test.npz    held-back images (float32, from 0 to 1), their labels, and PyTorch's scores
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

HERE = Path(__file__).parent
SEED = 7
EPOCHS = 60
HELD_BACK = 360


class DigitNet(nn.Module):
    """Digits of 8x8 pixels to ten scores: a residual network in small."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.pool = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(16)
        self.conv3 = nn.Conv2d(16, 32, 3, padding=1)
        self.relu = nn.ReLU()
        self.avgpool = nn.AdaptiveAvgPool2d((2, 2))
        self.fc = nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        x = self.relu(x + self.bn2(self.conv2(x)))
        x = self.avgpool(self.relu(self.conv3(x)))
        return self.fc(torch.flatten(x, 1))


def load_images() -> tuple[torch.Tensor, torch.Tensor]:
    """Return all 1797 images, (n, 1, 8, 8) from 0 to 1, and their labels, in a seeded order."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    images = torch.tensor(digits.images[order, None] / 16, dtype=torch.float32)
    return images, torch.tensor(digits.target[order])


def train(net: DigitNet, images: torch.Tensor, labels: torch.Tensor) -> None:
    """Fit the network to images, each shifted by up to one pixel to show it more than there is."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=0.02)
    batches = len(images) // 64
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=EPOCHS * batches)
    loss_function = nn.CrossEntropyLoss(label_smoothing=0.05)
    net.train()
    for _ in range(EPOCHS):
        order = torch.randperm(len(images))
        for batch in order[: batches * 64].split(64):
            shift = tuple(int(s) for s in torch.randint(-1, 2, (2,)))
            shifted = torch.roll(images[batch], shift, dims=(2, 3))
            optimizer.zero_grad()
            loss_function(net(shifted), labels[batch]).backward()
            optimizer.step()
            schedule.step()
    net.eval()


class GraphWriter:
    """Collects the nodes of a Gawee graph and writes their weights."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.values: dict[str, dict[str, object]] = {}
        self.nodes: list[dict[str, object]] = []
        self.weights = 0

    def value(self, name: str, tensor: torch.Tensor) -> None:
        """Describe a value by an example of it."""
        self.values[name] = {
            "id": name,
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype),
        }

    def weight(self, node: str, key: str, tensor: torch.Tensor) -> dict[str, object]:
        """Write a weight's file; return the object that refers to it."""
        path = f"weights/{node}_{key}_{self.weights}.bin"
        self.weights += 1
        array = tensor.detach().numpy()
        (self.folder / path).write_bytes(array.astype(array.dtype.newbyteorder("<")).tobytes())
        return {"shape": list(array.shape), "dtype": str(array.dtype), "path": path}

    def node(
        self,
        op_type: str,
        name: str,
        inputs: list[str],
        output: str,
        attrs: dict[str, object],
    ) -> None:
        """Add a node; bookkeeping comes with its attributes."""
        self.nodes.append(
            {
                "op_type": op_type,
                "name": name,
                "inputs": inputs,
                "outputs": [output],
                "attrs": attrs,
            }
        )


ATTRIBUTES: dict[type[nn.Module], tuple[str, tuple[str, ...]]] = {
    nn.Conv2d: (
        "Conv",
        ("out_channels", "kernel_size", "stride", "padding", "dilation", "groups"),
    ),
    nn.BatchNorm2d: (
        "BatchNormalization",
        ("num_features", "eps", "momentum", "affine", "track_running_stats"),
    ),
    nn.ReLU: ("Relu", ("inplace",)),
    nn.MaxPool2d: ("MaxPool", ("kernel_size", "stride", "padding", "dilation", "ceil_mode")),
    nn.AdaptiveAvgPool2d: ("AdAvgPool", ("output_size",)),
    nn.Linear: ("MatMul", ("in_features", "out_features")),
}
"""What the graph calls a module, and which of its attributes the node carries."""

FUNCTIONS: dict[str, tuple[str, dict[str, object]]] = {
    "add": ("Add", {}),
    "flatten": ("flatten", {"start_dim": 1, "end_dim": -1}),
}
"""What the graph calls a function, and the attributes of its calls here."""


def own_tensors(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield a module's parameters and buffers by name."""
    yield from module.named_parameters(recurse=False)
    yield from module.named_buffers(recurse=False)


def module_attributes(writer: GraphWriter, name: str, module: nn.Module) -> dict[str, object]:
    """Return the attributes of a module's node, its weights written to files."""
    attributes: dict[str, object] = {
        "target": name,
        "op": "call_module",
        "op_type": type(module).__name__,
        "mod": repr(module),
    }
    for key in ATTRIBUTES[type(module)][1]:
        value = getattr(module, key)
        if value is not None:
            attributes[key] = list(value) if isinstance(value, tuple) else value
    for key, tensor in own_tensors(module):
        attributes[key] = writer.weight(name, key, tensor)
    return attributes


class Recorder(torch.fx.Interpreter):
    """Runs the traced network on an example, and writes a graph node for every call."""

    def __init__(self, traced: torch.fx.GraphModule, writer: GraphWriter) -> None:
        super().__init__(traced)
        self.writer = writer
        self.outputs: list[str] = []

    def run_node(self, n: torch.fx.Node) -> object:
        result = super().run_node(n)
        inputs = [node.name for node in n.all_input_nodes]
        if n.op == "output":
            self.outputs = inputs
            return result
        self.writer.value(n.name, result)
        if n.op == "call_module":
            name = str(n.target)
            module = self.fetch_attr(name)
            attributes = module_attributes(self.writer, name, module)
            self.writer.node(ATTRIBUTES[type(module)][0], name, inputs, n.name, attributes)
        elif n.op == "call_function":
            op_type, attributes = FUNCTIONS[n.target.__name__]
            name = f"<built-in function {n.target.__name__}>"
            bookkeeping = {"target": name, "op": "call_function", "op_type": n.target.__name__}
            self.writer.node(op_type, name, inputs, n.name, {**bookkeeping, **attributes})
        return result


def graph_text(graph: dict[str, object]) -> str:
    """Return JSON with a line for each value and each attribute."""
    text = json.dumps(graph, indent=1)
    # Shapes and names on one line: a list without a list or an object in it.
    return re.sub(r"\[\s+([^][{}]*?)\s+\]", _one_line, text) + "\n"


def _one_line(found: re.Match[str]) -> str:
    return "[" + re.sub(r",\s+", ", ", found[1]) + "]"


def write_graph(net: DigitNet, example: torch.Tensor) -> None:
    """Write graph.json and the weights of a trained network."""
    rmtree(HERE / "weights", ignore_errors=True)
    (HERE / "weights").mkdir()
    writer = GraphWriter(HERE)
    recorder = Recorder(torch.fx.symbolic_trace(net), writer)
    recorder.run(example)
    graph = {
        "inputs": ["x"],
        "outputs": recorder.outputs,
        "values": writer.values,
        "nodes": writer.nodes,
    }
    (HERE / "graph.json").write_text(graph_text(graph))


def main() -> None:
    """Train, report the accuracy on held-back images, write everything."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    images, labels = load_images()
    test_images, test_labels = images[:HELD_BACK], labels[:HELD_BACK]
    net = DigitNet()
    train(net, images[HELD_BACK:], labels[HELD_BACK:])
    with torch.no_grad():
        scores = net(test_images)
        accuracy = (scores.argmax(1) == test_labels).double().mean().item()
        print(f"{accuracy:.4f} of {HELD_BACK} held-back images are classified correctly")
        write_graph(net, test_images[:1])
    np.savez_compressed(
        HERE / "digits_test.npz",
        images=test_images.numpy(),
        labels=test_labels.numpy().astype(np.int64),
        scores=scores.numpy(),
    )


if __name__ == "__main__":
    main()
