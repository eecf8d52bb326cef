"""ONNX models behind the interface of `onnx.backend.base`: prepared once, run on NumPy arrays.

    from gawee_dialect import onnx_backend
    outputs = onnx_backend.prepare(onnx.load("model.onnx")).run([x])

Sizes that a model leaves open, and elements that say a shape, axes, pads or a count, are those of
the inputs of a run: code is made for them, and kept. Arrays are NumPy's, with the types of
`ml_dtypes` where NumPy has none; strings are arrays of objects, sequences lists, and an optional
value that is absent is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.onnx.model_proto import read_model
from gawee_dialect.levels import Level
from gawee_dialect.onnx_backend.graph_runner import GraphRunner, Session
from gawee_dialect.onnx_backend.values import Value
from gawee_dialect.source import Source


class ModelProto(Protocol):
    """A model of the package `onnx`."""

    def SerializeToString(self) -> bytes: ...


class PreparedModel:
    """A model that runs on inputs of any sizes that it allows."""

    def __init__(self, model: ModelProto, level: Level = Level.LLVM) -> None:
        source = Source("<model>", model.SerializeToString())
        read = read_model(source, None)
        self.session = Session(source.name, level, read.functions)
        self.graph = read.graph
        self._runner = GraphRunner(read.graph, read.opsets, self.session, {})

    def run(self, inputs: Sequence[Value] | Mapping[str, Value] | Value) -> tuple[Value, ...]:
        """Return the outputs; inputs are in the graph's order, those that have no
        default first, or by name, or one alone.

        Raises GaweeError.
        """
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            several = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
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
        return tuple(self._runner.run(given))


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
    model: ModelProto, inputs: Sequence[Value], device: str = "CPU", *, level: Level | str = "llvm"
) -> tuple[Value, ...]:
    """Prepare a model and run it once."""
    return prepare(model, device, level=level).run(inputs)


def supports_device(device: str) -> bool:
    """Whether models run on a device, named as `CPU` or `CUDA:1`."""
    return device.partition(":")[0] == "CPU"
