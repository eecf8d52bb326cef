"""Gawee JSON as every format's graph is asked."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import verify_module
from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.frontends.gawee_json.build import GraphBuilder
from gawee_dialect.frontends.gawee_json.coverage import gawee_json_coverage
from gawee_dialect.frontends.gawee_json.graph import (
    check_live_shapes,
    check_names,
    check_ops,
    read_graph,
)
from gawee_dialect.frontends.gawee_json.schema import check_structure
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.report import Report
from gawee_dialect.inspection.graph_view import GraphView
from gawee_dialect.inspection.module_view import module_view
from gawee_dialect.located_json import decode_json
from gawee_dialect.source import Source


class GaweeJsonGraph(Graph):
    """A graph whose structure has been checked; raises GaweeError for a text that has none.

    `folder` is where the paths of weights and constants start; their files are checked for
    existence and size, and small constants are read. With None nothing is read: all constants
    become arguments.
    """

    format = "gawee-json"

    def __init__(self, source: Source, folder: Path | None) -> None:
        root = decode_json(source)
        report = Report(source)
        check_structure(root, report)
        report.raise_if_any()
        self._graph = read_graph(root, source)
        self._folder = folder

    def build_module(self) -> ModuleOp:
        report = Report(self._graph.source)
        check_ops(self._graph, report)
        check_names(self._graph, report)
        check_live_shapes(self._graph, report)
        report.raise_if_any()
        module = GraphBuilder(self._graph, self._folder, report).build()
        verify_module(module)
        return module

    def view(self) -> GraphView:
        return module_view(self.module(), Path(self._graph.source.name).stem)

    def coverage(self) -> CoverageReport:
        return gawee_json_coverage(self._graph)
