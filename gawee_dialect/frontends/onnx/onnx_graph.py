"""An ONNX model as every format's graph is asked."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.frontends.graph import Graph, ReadOptions
from gawee_dialect.frontends.onnx.coverage import onnx_coverage
from gawee_dialect.frontends.onnx.importer import OnnxImporter
from gawee_dialect.frontends.onnx.model_proto import read_model
from gawee_dialect.frontends.onnx.raw_data import LEAST
from gawee_dialect.inspection.graph_view import GraphView
from gawee_dialect.inspection.module_view import module_view
from gawee_dialect.parameters.file_arrays import FileArrays, OpenFile, places_in
from gawee_dialect.parameters.joined import joined
from gawee_dialect.parameters.raw_folder import RawFolder
from gawee_dialect.parameters.store import Array, MemoryStore, ParameterStore
from gawee_dialect.source import Source


class OnnxModelGraph(Graph):
    """A model with its weights; raises GaweeError for bytes that are none.

    `looked_up` are the inputs whose elements some op had to know when the module was made.
    """

    format = "onnx"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._name = source.name
        self._options = options
        self._file = _opened(source)
        self._data = None if self._file is None else self._file.mapped()
        self._model = read_model(source, options.folder or source.folder, self._data)
        self.looked_up: Sequence[str] = ()
        self._importer = self._new_importer()

    def _new_importer(self) -> OnnxImporter:
        importer = OnnxImporter(self._model, self._name, self._options.shapes, self._options.values)
        importer.writes_numbers = not self._options.other_weights
        return importer

    def build_module(self) -> ModuleOp:
        module = self._importer.module()
        if self._importer.problems:
            raise GaweeError(self._importer.problems)
        verify_module(module)
        self.looked_up = list(dict.fromkeys(self._importer.looked_up))
        return module

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


def _opened(source: Source) -> OpenFile | None:
    """Open the file of a source once more, None where there are no weights that are worth it."""
    if source.path is None or len(source.data) < LEAST:
        return None
    try:
        file = OpenFile(source.path)
    except OSError:
        return None
    return file if file.size == len(source.data) else None
