"""An XOC graph, by the interface of every format's graph."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.onnx.coverage import onnx_coverage
from gawee_dialect.frontends.xoc.document import Role, XocDocument
from gawee_dialect.frontends.xoc.importer import XocImporter
from gawee_dialect.frontends.xoc.read import node_order, read_xoc
from gawee_dialect.frontends.xoc.weights import XocWeights
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView
from gawee_dialect.parameters.store import ParameterStore
from gawee_dialect.source import Source


class XocGraph(Graph):
    """A graph, in `document`; raises GaweeError for a text that is none."""

    format = "xoc"

    def __init__(self, source: Source) -> None:
        self.document = read_xoc(source)
        self._source = source
        self._importer = XocImporter(self.document, source.name)

    def build_module(self) -> ModuleOp:
        module = self._importer.module()
        if self._importer.problems:
            raise GaweeError(self._importer.problems)
        verify_module(module)
        return module

    def weights(self, store: ParameterStore) -> ParameterStore:
        self.module()
        return XocWeights(self.document, store, self._importer.tensors, self._source.path)

    def view(self) -> GraphView:
        return document_view(self.document)

    def coverage(self) -> CoverageReport:
        importer = XocImporter(self.document, self._source.name)
        return onnx_coverage(importer, self._source.name, self.format)


def document_view(document: XocDocument) -> GraphView:
    """Describe a graph as it is written; its operators need not be known."""
    tensors = [TensorView(each.id, each.shape, each.dtype) for each in document.tensors]

    def views(indices: Sequence[int]) -> list[TensorView]:
        return [tensors[index] for index in indices]

    ordered = [document.nodes[index] for index in node_order(document)]
    return GraphView(
        document.name,
        views(document.inputs),
        views(document.outputs),
        [
            view
            for view, each in zip(tensors, document.tensors, strict=True)
            if each.role is Role.WEIGHT
        ],
        [
            NodeView(
                node.id,
                node.name,
                [tensors[index].name for index in node.inputs],
                views(node.outputs),
            )
            for node in ordered
        ],
    )
