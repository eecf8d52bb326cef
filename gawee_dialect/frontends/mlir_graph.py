"""MLIR text, by the interface of every format's graph: it is a module already."""

from collections.abc import Set as AbstractSet
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.open_sizes import open_functions, open_names, with_given_sizes
from gawee_dialect.analysis.tensor_shapes import with_shapes
from gawee_dialect.dialect.entry import entry_arguments, find_function
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, Verdict
from gawee_dialect.frontends.graph import Graph, ReadOptions
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.inspection.graph_view import GraphView, module_view
from gawee_dialect.locations import node_name, place
from gawee_dialect.source import Source
from gawee_dialect.universe import make_context


class MlirGraph(Graph):
    """A module at any level; raises GaweeError for text that is none."""

    format = "mlir"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._name = source.name
        parsed = parse_mlir(make_context(), source.text, source.name)
        self._size_names = {each.name for each in open_names(parsed)} | _argument_names(parsed)
        self._parsed = with_shapes(with_given_sizes(parsed, options.shapes), options.shapes)

    def build_module(self) -> ModuleOp:
        return self._parsed

    def size_names(self) -> AbstractSet[str]:
        return self._size_names

    def view(self) -> GraphView:
        return module_view(self.module(), Path(self._name).stem)

    def coverage(self) -> CoverageReport:
        verdicts = [
            NodeVerdict(
                op.name,
                node_name(op.location) or place(op.location) or "",
                op.name,
                Verdict.SUPPORTED,
            )
            for op in self.module().walk()
            if op.dialect_name() not in ("builtin", "func")
        ]
        return CoverageReport(self._name, self.format, verdicts)


def _argument_names(module: ModuleOp) -> AbstractSet[str]:
    functions = [*open_functions(module), find_function(module)]
    return {
        each.name
        for function in functions
        if function is not None
        for each in entry_arguments(function)
    }
