"""Write Gawee graphs as a tracer of PyTorch models would, with seeded weights, without PyTorch.

A writer offers one method per module; each adds a node and returns the name of its value.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Json = dict[str, object]


class GraphWriter:
    """Collects nodes, values and weights of one graph; `write` puts them into a folder."""

    def __init__(self, seed: int = 0, *, with_weights: bool = True) -> None:
        self._random = np.random.default_rng(seed)
        self._with_weights = with_weights
        self._shapes: dict[str, tuple[int, ...] | None] = {}
        self._inputs: list[str] = []
        self._nodes: list[Json] = []
        self._arrays: dict[str, NDArray[np.generic]] = {}
        self._weights = 0

    def shape(self, value: str) -> tuple[int, ...]:
        """Return the shape of a tensor value."""
        shape = self._shapes[value]
        assert shape is not None, f"{value} is a Python value"
        return shape

    def input(self, name: str, shape: Sequence[int]) -> str:
        self._inputs.append(name)
        self._shapes[name] = tuple(shape)
        return name

    def _new_value(self, stem: str, shape: Sequence[int] | None) -> str:
        name, count = stem, 0
        while name in self._shapes:
            count += 1
            name = f"{stem}_{count}"
        self._shapes[name] = None if shape is None else tuple(shape)
        return name

    def module(
        self,
        op_type: str,
        module: str,
        name: str,
        inputs: Sequence[str],
        shape: Sequence[int],
        **attrs: object,
    ) -> str:
        """Add the call of a torch module; weights in `attrs` come from `weight`."""
        value = self._new_value(name.replace(".", "_"), shape)
        bookkeeping = {"op": "call_module", "target": name, "op_type": module, "mod": f"{module}()"}
        self._add(op_type, name, inputs, value, {**bookkeeping, **attrs})
        return value

    def function(
        self,
        op_type: str,
        function: str,
        inputs: Sequence[str],
        shape: Sequence[int] | None,
        **attrs: object,
    ) -> str:
        """Add the call of a Python function, whose text is the node's name; None: no tensor."""
        value = self._new_value(op_type.lower(), shape)
        bookkeeping = {"op": "call_function", "target": function, "op_type": op_type.lower()}
        self._add(op_type, function, inputs, value, {**bookkeeping, **attrs})
        return value

    def _add(
        self, op_type: str, name: str, inputs: Sequence[str], output: str, attrs: Json
    ) -> None:
        self._nodes.append(
            {
                "op_type": op_type,
                "name": name,
                "inputs": list(inputs),
                "outputs": [output],
                "attrs": attrs,
            }
        )

    def weight(self, name: str, key: str, shape: Sequence[int], low: float, high: float) -> Json:
        """Return a weight object of float32 data, uniform between two bounds."""
        path = self._next_path(name, key)
        if self._with_weights:
            uniform = self._random.random(tuple(shape), dtype=np.float32)
            self._arrays[path] = uniform * np.float32(high - low) + np.float32(low)
        return {"shape": list(shape), "dtype": "float32", "path": path}

    def _next_path(self, name: str, key: str) -> str:
        path = f"weights/{name}_{key}_{self._weights}.bin"
        self._weights += 1
        return path

    def conv(
        self,
        name: str,
        x: str,
        features: int,
        kernel: int,
        *,
        stride: int = 1,
        bias: bool = False,
    ) -> str:
        """Add a convolution padded by half its kernel; He's bound keeps the activations' scale."""
        batch, channels, height, width = self.shape(x)
        bound = sqrt(6 / (channels * kernel * kernel))
        weight_shape = (features, channels, kernel, kernel)
        attrs: Json = {
            "out_channels": features,
            "kernel_size": [kernel, kernel],
            "stride": [stride, stride],
            "padding": [kernel // 2, kernel // 2],
            "dilation": [1, 1],
            "groups": 1,
            "weight": self.weight(name, "weight", weight_shape, -bound, bound),
        }
        if bias:
            attrs["bias"] = self.weight(name, "bias", (features,), -0.1, 0.1)
        rows, columns = -(-height // stride), -(-width // stride)
        return self.module("Conv", "Conv2d", name, [x], (batch, features, rows, columns), **attrs)

    def batch_norm(self, name: str, x: str, *, scale: float = 1.0) -> str:
        """Add a batch normalization; statistics are neither zero nor one."""
        channels = self.shape(x)[1]
        per_channel = (channels,)
        attrs = {
            "num_features": channels,
            "eps": 1e-05,
            "momentum": 0.1,
            "affine": True,
            "track_running_stats": True,
            "weight": self.weight(name, "weight", per_channel, 0.7 * scale, 1.3 * scale),
            "bias": self.weight(name, "bias", per_channel, -0.2, 0.2),
            "running_mean": self.weight(name, "running_mean", per_channel, -0.3, 0.3),
            "running_var": self.weight(name, "running_var", per_channel, 0.6, 1.8),
        }
        path = self._next_path(name, "num_batches_tracked")
        attrs["num_batches_tracked"] = {"shape": [], "dtype": "int64", "path": path}
        if self._with_weights:
            self._arrays[path] = np.array(1000, np.int64)
        return self.module("BatchNormalization", "BatchNorm2d", name, [x], self.shape(x), **attrs)

    def relu(self, name: str, x: str) -> str:
        return self.module("Relu", "ReLU", name, [x], self.shape(x), inplace=True)

    def identity(self, name: str, x: str) -> str:
        return self.module("Identity", "Identity", name, [x], self.shape(x))

    def max_pool(self, name: str, x: str) -> str:
        """Add a 3x3 max pooling of stride 2, padded by 1."""
        batch, channels, height, width = self.shape(x)
        shape = (batch, channels, -(-height // 2), -(-width // 2))
        window = {"kernel_size": 3, "stride": 2, "padding": 1, "dilation": 1, "ceil_mode": False}
        return self.module("MaxPool", "MaxPool2d", name, [x], shape, **window)

    def global_average(self, name: str, x: str) -> str:
        batch, channels, *_ = self.shape(x)
        shape = (batch, channels, 1, 1)
        return self.module("AdAvgPool", "AdaptiveAvgPool2d", name, [x], shape, output_size=[1, 1])

    def flatten(self, x: str) -> str:
        batch, *rest = self.shape(x)
        function = "<built-in method flatten of type object>"
        shape = (batch, int(np.prod(rest)))
        return self.function("flatten", function, [x], shape, start_dim=1, end_dim=-1)

    def linear(self, name: str, x: str, features: int) -> str:
        batch, width = self.shape(x)
        bound = sqrt(3 / width)
        return self.module(
            "MatMul",
            "Linear",
            name,
            [x],
            (batch, features),
            in_features=width,
            out_features=features,
            weight=self.weight(name, "weight", (features, width), -bound, bound),
            bias=self.weight(name, "bias", (features,), -0.1, 0.1),
        )

    def add(self, x: str, y: str) -> str:
        return self.function("Add", "<built-in function add>", [x, y], self.shape(x))

    def cat(self, values: Sequence[str]) -> str:
        batch, _, *spatial = self.shape(values[0])
        channels = sum(self.shape(value)[1] for value in values)
        function = "<built-in method cat of type object>"
        return self.function("cat", function, values, (batch, channels, *spatial), dim=1)

    def spatial_shape(self, x: str) -> str:
        """Add `x.shape[2:]` as a tracer leaves it: two Python values."""
        shape = self.function("getattr", "<built-in function getattr>", [x], None, name="shape")
        return self.item(shape, "slice(2, None, None)")

    def item(self, x: str, index: int | str) -> str:
        return self.function("getitem", "<built-in function getitem>", [x], None, index=index)

    def nearest(self, x: str, height: str, width: str, size: Sequence[int]) -> str:
        """Add a nearest-neighbour resize to a size that Python values name."""
        shape = (*self.shape(x)[:2], *size)
        function = "<function interpolate>"
        return self.function("interpolate", function, [x, height, width], shape, mode="nearest")

    def write(self, folder: Path, outputs: Sequence[str]) -> Path:
        """Write the weights, then `graph.json`; return the latter's path."""
        (folder / "weights").mkdir(parents=True, exist_ok=True)
        for path, array in self._arrays.items():
            array.tofile(folder / path)
        values = {
            name: {
                "id": name,
                "shape": None if shape is None else list(shape),
                "dtype": None if shape is None else "torch.float32",
            }
            for name, shape in self._shapes.items()
        }
        graph = {
            "inputs": self._inputs,
            "outputs": list(outputs),
            "values": values,
            "nodes": self._nodes,
        }
        path = folder / "graph.json"
        path.write_text(json.dumps(graph, indent=1) + "\n")
        return path


def run_writer(write: Callable[..., Path], description: str | None) -> None:
    """Write the graph that the command line asks for; every graph-writing script is this."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path, help="where graph.json and weights/ go")
    parser.add_argument("--seed", type=int, default=0, help="of the weights (default: 0)")
    parser.add_argument("--size", type=int, default=224, help="height and width of the input")
    parser.add_argument("--batch", type=int, default=1, help="images in a batch")
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage")
    parser.add_argument("--no-weights", action="store_true", help="write graph.json alone")
    arguments = parser.parse_args()
    path = write(
        arguments.folder,
        seed=arguments.seed,
        size=arguments.size,
        batch=arguments.batch,
        width=arguments.width,
        with_weights=not arguments.no_weights,
    )
    print(path)
