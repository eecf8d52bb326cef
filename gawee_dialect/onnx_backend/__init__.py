"""ONNX models behind the interface of `onnx.backend.base`: prepared once, run on NumPy arrays.

    from gawee_dialect import onnx_backend
    outputs = onnx_backend.prepare(onnx.load("model.onnx")).run([x])

Sizes that a model leaves open, and elements that say a shape, axes, pads or a count, are those of
the inputs of a run: code is made for them, and kept. Arrays are NumPy's, with the types of
`ml_dtypes` where NumPy has none; strings are arrays of objects, sequences lists, and an optional
value that is absent is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Protocol, TypeAlias

import numpy as np

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.onnx.model_proto import read_model
from gawee_dialect.frontends.onnx.registry import LATEST_OPSET
from gawee_dialect.levels import Level
from gawee_dialect.onnx_backend.graph_runner import GraphRunner, Session
from gawee_dialect.onnx_backend.values import Array, Value, as_value
from gawee_dialect.source import Source

Inputs: TypeAlias = Sequence[object] | Mapping[str, object] | Array
"""Values in order or by name, or one array; numbers, text, lists and maps as Python has them."""


class ModelProto(Protocol):
    """A model of the package `onnx`."""

    def SerializeToString(self) -> bytes: ...


class NodeProto(Protocol):
    """A node of the package `onnx`."""

    domain: str
    input: Sequence[str]
    output: Sequence[str]


class PreparedModel:
    """A model that runs on inputs of any sizes that it allows."""

    def __init__(self, model: ModelProto, level: Level = Level.LLVM) -> None:
        source = Source("<model>", model.SerializeToString())
        read = read_model(source, None)
        self.session = Session(source.name, level, read.functions)
        self.graph = read.graph
        self._runner = GraphRunner(read.graph, read.opsets, self.session, {})

    def run(self, inputs: Inputs) -> tuple[Value, ...]:
        """Return the outputs; inputs are in the graph's order, those that have no
        default first, or by name, or one array alone.

        Raises GaweeError.
        """
        if isinstance(inputs, Mapping):
            given: dict[str, object] = dict(inputs)
        else:
            several: list[object] = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
            weights = self.graph.initializers
            ordered = sorted(self.graph.inputs, key=lambda each: each.name in weights)
            names = [each.name for each in ordered]
            if len(several) > len(names):
                raise GaweeError(f"expected at most {len(names)} inputs, got {len(several)}")
            given = dict(zip(names, several, strict=False))
        missing = [
            each.name
            for each in self.graph.inputs
            if each.name not in given and each.name not in self.graph.initializers
        ]
        if missing:
            raise GaweeError(f"expected input '{missing[0]}', got none")
        return tuple(self._runner.run({name: as_value(each) for name, each in given.items()}))


def prepare(
    model: ModelProto, device: str = "CPU", *, level: Level | str = Level.LLVM
) -> PreparedModel:
    """Read a model; it is compiled when it first runs. Raises GaweeError.

    level: `llvm` for machine code, `gawee` for the interpreter.
    """
    if not supports_device(device):
        raise GaweeError(f"unsupported device '{device}'; supported: CPU")
    return PreparedModel(model, Level(level))


def run_model(
    model: ModelProto, inputs: Inputs, device: str = "CPU", *, level: Level | str = "llvm"
) -> tuple[Value, ...]:
    """Prepare a model and run it once."""
    return prepare(model, device, level=level).run(inputs)


def run_node(
    node: NodeProto,
    inputs: Inputs,
    device: str = "CPU",
    outputs_info: object = None,
    *,
    opset_version: int | None = None,
    level: Level | str = Level.LLVM,
) -> tuple[Value, ...]:
    """Run one node, by default in the newest opset; inputs are those that it does not leave out.

    `outputs_info` is not needed. Raises GaweeError.
    """
    helper = import_module("onnx.helper")
    make_graph: Callable[..., object] = getattr(helper, "make_graph")
    make_model: Callable[..., ModelProto] = getattr(helper, "make_model")
    make_opset: Callable[[str, int], object] = getattr(helper, "make_opsetid")
    new_value: Callable[..., object] = getattr(import_module("onnx"), "ValueInfoProto")
    named = [new_value(name=name) for name in dict.fromkeys(filter(None, node.input))]
    made = [new_value(name=name) for name in node.output if name]
    opsets = [make_opset("", opset_version or LATEST_OPSET)]
    if node.domain not in ("", "ai.onnx"):
        opsets.append(make_opset(node.domain, opset_version or 1))
    model = make_model(make_graph([node], "node", named, made), opset_imports=opsets)
    return run_model(model, inputs, device, level=level)


def supports_device(device: str) -> bool:
    """Whether models run on a device, named as `CPU` or `CUDA:1`."""
    return device.partition(":")[0] == "CPU"
