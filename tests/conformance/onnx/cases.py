"""The node cases that the wheel of ONNX carries: a model, and stored inputs and outputs each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DTYPES = {1, 6, 7, 9}
"""float32, int32, int64 and bool, of TensorProto.DataType."""

GRAPHS = {5, 10}
"""Attributes that are graphs, of AttributeProto.AttributeType."""

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Case:
    """One case of `onnx/backend/test/data/node`."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name.removeprefix("test_")

    @property
    def path(self) -> Path:
        return self.folder / "model.onnx"

    @cached_property
    def model(self):
        return import_module("onnx").load(self.path)

    @property
    def op_type(self) -> str:
        """The op that the case is about; cases have one node but for a few."""
        return self.model.graph.node[-1].op_type

    def _arrays(self, kind: str, names: list[str]) -> dict[str, Array]:
        onnx = import_module("onnx")
        found: dict[str, Array] = {}
        for index, name in enumerate(names):
            tensor = onnx.TensorProto()
            tensor.ParseFromString(
                (self.folder / f"test_data_set_0/{kind}_{index}.pb").read_bytes()
            )
            found[name] = onnx.numpy_helper.to_array(tensor)
        return found

    @cached_property
    def inputs(self) -> dict[str, Array]:
        return self._arrays("input", [each.name for each in self.model.graph.input])

    @cached_property
    def outputs(self) -> dict[str, Array]:
        return self._arrays("output", [each.name for each in self.model.graph.output])

    @property
    def is_static(self) -> bool:
        """Whether all types are tensors of known shape, and of the dtypes that are asked for."""
        graph = self.model.graph
        for value in (*graph.input, *graph.output):
            type = value.type.tensor_type
            if not value.type.HasField("tensor_type") or type.elem_type not in DTYPES:
                return False
            if not type.HasField("shape"):
                return False
            if not all(size.HasField("dim_value") for size in type.shape.dim):
                return False
        return True

    @property
    def is_plain(self) -> bool:
        """Whether all nodes are of the default domain, without graphs inside of them."""
        nodes = self.model.graph.node
        return all(
            node.domain in ("", "ai.onnx") and not any(a.type in GRAPHS for a in node.attribute)
            for node in nodes
        )


def all_cases() -> Iterator[Case]:
    """Yield every case of the installed wheel."""
    home = Path(import_module("onnx").__file__).parent / "backend/test/data/node"
    yield from (Case(folder) for folder in sorted(home.iterdir()))


def target_cases() -> list[Case]:
    """Return the cases that a static compiler can be asked for: 931 of the wheel of ONNX 1.22."""
    return [
        case
        for case in all_cases()
        if "_expanded" not in case.name and case.is_plain and case.is_static
    ]
