"""Graphs that invoke described operators, by the interface of every format's graph."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, Verdict
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.inspection.graph_view import GraphView, module_view
from gawee_dialect.opdesc.graph_import import import_invocations
from gawee_dialect.opdesc.invocation_graph import InvocationGraph, parse_invocations
from gawee_dialect.opdesc.load import registered_operators
from gawee_dialect.source import Source


class InvocationsGraph(Graph):
    """Invocations in JSON or in their text form; raises GaweeError for text that is neither."""

    format = "invocations"

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parsed: InvocationGraph = parse_invocations(source)

    def build_module(self) -> ModuleOp:
        return import_invocations(self._parsed)

    def view(self) -> GraphView:
        return module_view(self.module(), Path(self._source.name).stem)

    def coverage(self) -> CoverageReport:
        known = registered_operators()
        verdicts = [
            NodeVerdict(
                each.invocation.optype,
                each.invocation.name,
                known[each.invocation.optype].name if each.invocation.optype in known else None,
                Verdict.SUPPORTED if each.invocation.optype in known else Verdict.UNSUPPORTED,
            )
            for each in self._parsed.invocations
        ]
        return CoverageReport(self._source.name, self.format, verdicts)
