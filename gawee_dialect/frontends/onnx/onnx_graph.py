"""An ONNX model, by the interface of every format's graph."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.open_sizes import verify_at_numbers
from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line, verify_module
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport
from gawee_dialect.frontends.graph import Graph, ReadOptions
from gawee_dialect.frontends.onnx.importer import OnnxImporter
from gawee_dialect.frontends.onnx.model import OnnxModel
from gawee_dialect.frontends.onnx.model_proto import LEAST, read_model
from gawee_dialect.frontends.op_mapping.coverage import made_since
from gawee_dialect.inspection.graph_view import GraphView, module_view
from gawee_dialect.parameters.data_files import FileArrays, OpenFile, RawFolder, places_in
from gawee_dialect.parameters.store import Array, MemoryStore, ParameterStore, joined
from gawee_dialect.source import Source

# What of a graph in the vocabulary of ONNX can go through, node by node.


def onnx_coverage(importer: OnnxImporter, file: str, format: str) -> CoverageReport:
    """Say of every node whether it can be read; the importer is new, and used up."""
    scope = importer.start()
    around = list(importer.problems)
    verdicts: list[NodeVerdict] = []
    for node in importer.model.graph.nodes:
        importer.problems = []
        before = importer.function.block.last_op
        importer.add_node(node, scope, importer.model.opsets)
        importer.report_unsupported()
        if importer.problems:
            verdict = NodeVerdict.against(node.full_type, node.name, importer.problems)
        else:
            ops = ", ".join(made_since(importer.function.block, before))
            verdict = NodeVerdict.of(OpSupport(node.full_type, ops), node.name)
        verdicts.append(verdict)
    return CoverageReport(file, format, verdicts, around)


class OnnxModelGraph(Graph):
    """A model with its weights; raises GaweeError for bytes that are none."""

    format = "onnx"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._name = source.name
        self._options = options
        self._file = _opened(source)
        self._data = None if self._file is None else self._file.mapped()
        model = read_model(source, options.folder or source.folder, self._data)
        self._model = _with_values(model, options.values, source.name)
        self._importer = self._new_importer()

    def _new_importer(self) -> OnnxImporter:
        importer = OnnxImporter(self._model, self._name, self._options.shapes)
        importer.ranges = {**self._model.ranges, **self._options.ranges}
        importer.writes_numbers = not self._options.other_weights
        return importer

    def build_module(self) -> ModuleOp:
        module = self._importer.module()
        if self._importer.problems:
            raise GaweeError(self._importer.problems)
        verify_module(module)
        verify_at_numbers(module)
        return module

    def size_names(self) -> AbstractSet[str]:
        return self._importer.size_names()

    def weights(self, store: ParameterStore) -> ParameterStore:
        self.module()
        own = self._own_weights(self._importer.weights)
        # A folder has files for arguments with paths, and a model names none.
        return own if isinstance(store, RawFolder) else joined(store, own)

    def _own_weights(self, arrays: Mapping[str, Array]) -> ParameterStore:
        """Return the model's own weights: large ones stay in its file."""
        if self._file is None or self._data is None:
            return MemoryStore(arrays)
        places = places_in(self._data, arrays)
        small = {name: array for name, array in arrays.items() if name not in places}
        return joined(FileArrays(self._file, places), small)

    def view(self) -> GraphView:
        return module_view(self.module(), Path(self._name).stem)

    def coverage(self) -> CoverageReport:
        return onnx_coverage(self._new_importer(), self._name, self.format)


def _with_values(model: OnnxModel, values: Mapping[str, ArrayLike], name: str) -> OnnxModel:
    """Return a model of which some inputs have elements; raises GaweeError."""
    inputs = {each.name: each for each in model.graph.inputs}
    known: dict[str, Array] = {}
    for key, value in values.items():
        if key not in inputs:
            text = f"expected a value of an input, got '{key}'; inputs: {', '.join(inputs)}"
            raise GaweeError(Diagnostic(text, name))
        dtype, shape = inputs[key].dtype, inputs[key].shape
        try:
            array = np.asarray(value).astype(dtype)
            sizes = [size for size in shape or () if isinstance(size, int)]
            known[key] = array.reshape(sizes) if len(sizes) == len(shape or ()) else array
        except (TypeError, ValueError) as error:
            text = f"value of input '{key}': {first_line(error)}"
            raise GaweeError(Diagnostic(text, name)) from error
    initializers = {**model.graph.initializers, **known}
    return replace(model, graph=replace(model.graph, initializers=initializers)) if known else model


def _opened(source: Source) -> OpenFile | None:
    """Open the file of a source once more, None where there are no weights that are worth it."""
    if source.path is None or len(source.data) < LEAST:
        return None
    try:
        file = OpenFile(source.path)
    except OSError:
        return None
    return file if file.size == len(source.data) else None
