"""PyTorch runs a Gawee graph straight from its JSON: an oracle that shares no code with the reader.

Python values are what they were in the traced model: shapes, slices of them, integers.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

Attrs = dict[str, Any]


class TorchGraph:
    """A graph and its folder; `run` takes and gives arrays by name."""

    def __init__(self, path: Path) -> None:
        self.graph = json.loads(path.read_text())
        self.folder = path.parent

    def optional(self, attrs: Attrs, key: str) -> torch.Tensor | None:
        return self.weight(attrs, key) if attrs.get(key) is not None else None

    def weight(self, attrs: Attrs, key: str) -> torch.Tensor:
        entry = attrs[key]
        array = np.fromfile(self.folder / entry["path"], entry["dtype"])
        return torch.from_numpy(array.reshape(entry["shape"]))

    def conv(self, attrs: Attrs, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.weight(attrs, "weight"), self.optional(attrs, "bias")
        window = (attrs["stride"], attrs["padding"], attrs["dilation"], attrs["groups"])
        return F.conv2d(x, weight, bias, *window)

    def batch_norm(self, attrs: Attrs, x: torch.Tensor) -> torch.Tensor:
        mean, variance = self.weight(attrs, "running_mean"), self.weight(attrs, "running_var")
        weight, bias = self.optional(attrs, "weight"), self.optional(attrs, "bias")
        return F.batch_norm(x, mean, variance, weight, bias, eps=attrs["eps"])

    def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        ops: dict[str, Callable[..., object]] = {
            "Conv": self.conv,
            "BatchNormalization": self.batch_norm,
            "Relu": lambda a, x: x.relu(),
            "MaxPool": lambda a, x: F.max_pool2d(x, a["kernel_size"], a["stride"], a["padding"]),
            "AdAvgPool": lambda a, x: F.adaptive_avg_pool2d(x, a["output_size"]),
            "flatten": lambda a, x: x.flatten(a["start_dim"], a["end_dim"]),
            "MatMul": lambda a, x: F.linear(x, self.weight(a, "weight"), self.optional(a, "bias")),
            "Identity": lambda a, x: x,
            "Add": lambda a, x, y: x + y,
            "cat": lambda a, *xs: torch.cat(xs, a["dim"]),
            "getattr": lambda a, x: getattr(x, a["name"]),
            "getitem": lambda a, x: (
                x[slice(2, None)] if isinstance(a["index"], str) else x[a["index"]]
            ),
            "interpolate": lambda a, x, h, w: F.interpolate(x, (h, w), mode=a["mode"]),
        }
        values: dict[str, Any] = {k: torch.from_numpy(v) for k, v in inputs.items()}
        for node in self.graph["nodes"]:
            operands = [values[name] for name in node["inputs"]]
            values[node["outputs"][0]] = ops[node["op_type"]](node["attrs"], *operands)
        return {name: values[name].numpy() for name in self.graph["outputs"]}
