"""Graphs as .onnx files: ModelProto, with the weights in it; needs the package `onnx`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Protocol

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import dtype_name, shaped_bytes
from gawee_dialect.frontends.metadata import flatten
from gawee_dialect.frontends.onnx.export.exporter import export_graph
from gawee_dialect.frontends.onnx.export.open_sizes import ranges_of
from gawee_dialect.frontends.onnx.export.registry import (
    Attribute,
    ExportedBody,
    ExportedGraph,
    ExportedNode,
    ExportedValue,
    Figures,
)
from gawee_dialect.frontends.onnx.model import Array
from gawee_dialect.frontends.onnx.model_proto import METADATA_PREFIX, RANGES
from gawee_dialect.located_json import JsonValue

OPSET = 22
IR_VERSION = 10
"""Versions that runtimes of two years ago read; metadata of nodes came with this IR."""
MAX_BYTES = 2**31 - 2**20
"""What a protobuf holds, with room for all that is not weights."""


class _Model(Protocol):
    def SerializeToString(self) -> bytes: ...


class _Property(Protocol):
    key: str
    value: str


class _Properties(Protocol):
    def add(self) -> _Property: ...


class _WithMetadata(Protocol):
    metadata_props: _Properties


def export_onnx(
    module: ModuleOp, weights: Mapping[str, Array] | None, name: str = "graph"
) -> bytes:
    """Return a module at the gawee level as an ONNX model of opset 22.

    Without `weights` the parameters are inputs. Raises GaweeError that lists every op that ONNX has
    no twin of, for more than 2 GB of weights, and without the package `onnx`.
    """
    graph = export_graph(module)
    if sum(shaped_bytes(each.type) for each in graph.weights) > MAX_BYTES and weights is not None:
        raise GaweeError("cannot write an ONNX model of more than 2 GB")
    try:
        return _Writer(graph, weights, graph.name or name).model().SerializeToString()
    except ModuleNotFoundError as error:
        raise GaweeError(
            Diagnostic(
                "cannot write an ONNX model without the package 'onnx'",
                hint="pip install 'gawee-dialect[onnx]'",
            )
        ) from error


class _Writer:
    def __init__(
        self, graph: ExportedGraph, weights: Mapping[str, Array] | None, name: str
    ) -> None:
        self.graph = graph
        self.weights = weights
        self.name = name
        helper = import_module("onnx.helper")
        self.make_node: Callable[..., _WithMetadata] = getattr(helper, "make_node")
        self.make_value: Callable[[str, int, Sequence[int | str]], _WithMetadata] = getattr(
            helper, "make_tensor_value_info"
        )
        self.make_graph: Callable[..., _WithMetadata] = getattr(helper, "make_graph")
        self.make_model: Callable[..., _Model] = getattr(helper, "make_model")
        self.make_opset: Callable[[str, int], object] = getattr(helper, "make_opsetid")
        self.number: Callable[[np.dtype[np.generic]], int] = getattr(
            helper, "np_dtype_to_tensor_dtype"
        )
        self.from_array: Callable[[Array, str], object] = getattr(
            import_module("onnx.numpy_helper"), "from_array"
        )
        self.figures: dict[str, Array] = {}

    def model(self) -> _Model:
        """Return the whole model."""
        graph = self.graph
        nodes = [self._node(each) for each in graph.nodes]
        arguments = [*graph.inputs, *(graph.weights if self.weights is None else ())]
        made = self.make_graph(
            nodes,
            self.name,
            [self._value(each) for each in arguments],
            [self._value(each) for each in graph.outputs],
            [self.from_array(array, name) for name, array in self._initializers()],
            value_info=self._between(graph),
        )
        self._add_metadata(made, graph.metadata)
        if ranges := ranges_of(graph.inputs):
            entry = made.metadata_props.add()
            entry.key, entry.value = RANGES, json.dumps(ranges)
        opsets = [self.make_opset("", OPSET)]
        return self.make_model(
            made, producer_name="gawee", opset_imports=opsets, ir_version=IR_VERSION
        )

    def _between(self, graph: ExportedGraph | ExportedBody) -> list[_WithMetadata]:
        """Return what nodes make that is no output of the graph."""
        made = [each for node in graph.nodes for each in node.outputs]
        return [self._value(each) for each in made if each not in graph.outputs]

    def _attribute(self, name: str, value: Attribute) -> object:
        """Return what an attribute is made of: a graph for a body."""
        if not isinstance(value, ExportedBody):
            return value
        return self.make_graph(
            [self._node(each) for each in value.nodes],
            name,
            [self._value(each) for each in value.inputs],
            [self._value(each) for each in value.outputs],
            value_info=self._between(value),
        )

    def _initializers(self) -> Iterator[tuple[str, Array]]:
        for each in self.graph.weights if self.weights is not None else ():
            assert self.weights is not None
            yield each.name, np.asarray(self.weights[each.name])
        yield from self.graph.constants.items()
        yield from self.figures.items()

    def _value(self, value: ExportedValue) -> _WithMetadata:
        dtype = np.dtype(dtype_name(value.type.element_type))
        shape = [str(e) if isinstance(e, OpenSize) else e for e in value.type.get_shape()]
        made = self.make_value(value.name, self.number(dtype), shape)
        self._add_metadata(made, self.graph.tensor_metadata.get(value.name))
        return made

    def _node(self, node: ExportedNode) -> _WithMetadata:
        inputs = [self._input(node, each) for each in node.inputs]
        outputs = [each.name for each in node.outputs]
        attributes = {key: self._attribute(key, each) for key, each in node.attributes.items()}
        made = self.make_node(node.op_type, inputs, outputs, name=node.name, **attributes)
        self._add_metadata(made, node.metadata)
        return made

    def _input(self, node: ExportedNode, operand: ExportedValue | Figures | None) -> str:
        if operand is None:
            return ""
        if isinstance(operand, ExportedValue):
            return operand.name
        name, count = f"{node.name}.{operand.name}", 0
        taken = self.figures.keys() | self.graph.constants.keys()
        while name in taken or any(each.name == name for each in self.graph.weights):
            count += 1
            name = f"{node.name}.{operand.name}_{count}"
        self.figures[name] = operand.array
        return name

    def _add_metadata(self, made: _WithMetadata, metadata: Mapping[str, JsonValue] | None) -> None:
        for key, value in flatten(metadata or {}).items():
            entry = made.metadata_props.add()
            entry.key, entry.value = f"{METADATA_PREFIX}{key}", json.dumps(value)
