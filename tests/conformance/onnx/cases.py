"""The node cases that the wheel of ONNX carries: a model, and stored inputs and outputs each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DTYPES = {"float", "int32", "int64", "bool"}
"""Element types of the cases that are asked for, by TensorProto's names."""

QUANTIZED = {
    *("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"),
    *("QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"),
}
"""Ops on quantized tensors."""

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

    @cached_property
    def twin_of(self) -> str:
        """The name of the case that this one has the expansion of; its own where it has none."""
        return self.name.partition("_expanded")[0]

    @cached_property
    def dtypes(self) -> set[str]:
        """ONNX's names of the element types of inputs and outputs; `none` of what is no tensor."""
        names = import_module("onnx").TensorProto.DataType.Name
        graph = self.model.graph
        values = (*graph.input, *graph.output)
        tensors = [value.type.HasField("tensor_type") for value in values]
        return {
            names(value.type.tensor_type.elem_type).lower() if tensor else "none"
            for value, tensor in zip(values, tensors, strict=True)
        }

    @property
    def sizes_are_known(self) -> bool:
        """Whether all inputs and outputs are tensors of known shape."""
        graph = self.model.graph
        types = [value.type.tensor_type for value in (*graph.input, *graph.output)]
        return all(
            type.HasField("shape") and all(size.HasField("dim_value") for size in type.shape.dim)
            for type in types
        )

    @cached_property
    def skip_reason(self) -> str | None:
        """Why a static compiler of the default domain is not asked for this case."""
        nodes = self.model.graph.node
        domains = {node.domain for node in nodes} - {"", "ai.onnx"}
        if "_expanded" in self.name:
            return "the expansion of another case"
        if domains:
            return f"ops of {', '.join(sorted(domains))}"
        if any(attribute.type in GRAPHS for node in nodes for attribute in node.attribute):
            return "a graph inside of a node"
        if "none" in self.dtypes:
            return "a sequence, a map or an optional value"
        if not self.dtypes <= DTYPES:
            return f"elements of {', '.join(sorted(self.dtypes - DTYPES))}"
        return None if self.sizes_are_known else "sizes that the model does not say"


def all_cases() -> Iterator[Case]:
    """Yield every case of the installed wheel."""
    home = Path(import_module("onnx").__file__).parent / "backend/test/data/node"
    yield from (Case(folder) for folder in sorted(home.iterdir()))


def _target() -> list[Case]:
    return [case for case in all_cases() if case.skip_reason is None]


def _expanded() -> list[Case]:
    every = list(all_cases())
    asked = {case.name for case in every if case.skip_reason is None}
    return [case for case in every if case.twin_of != case.name and case.twin_of in asked]


def _quantized() -> list[Case]:
    return [case for case in all_cases() if {n.op_type for n in case.model.graph.node} & QUANTIZED]


SETS: Mapping[str, Callable[[], list[Case]]] = {
    "target": _target,
    "expanded": _expanded,
    "quantized": _quantized,
}
"""The cases that a static compiler can be asked for (931 of the wheel of ONNX 1.22), those of them
written in other ops, and those of ops that quantize."""
