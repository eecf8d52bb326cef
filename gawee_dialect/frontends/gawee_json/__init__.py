"""Gawee graph JSON, read and written.

Reading is three steps, each with its own errors: decode (located_json.py), check (schema.py,
graph.py), build (build.py with the op table of ops.py). Writing is two: say the module as a graph
(export.py with the op table of export_ops.py), then put the files in place (write.py).
"""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import verify_module
from gawee_dialect.frontends.gawee_json.build import GraphBuilder
from gawee_dialect.frontends.gawee_json.export import export_graph
from gawee_dialect.frontends.gawee_json.graph import (
    check_live_shapes,
    check_names,
    check_ops,
    read_graph,
)
from gawee_dialect.frontends.gawee_json.schema import check_structure
from gawee_dialect.frontends.gawee_json.write import module_to_gawee_json
from gawee_dialect.frontends.report import Report
from gawee_dialect.located_json import decode_json

__all__ = ["export_graph", "module_to_gawee_json", "parse_gawee_json"]


def parse_gawee_json(text: str, *, name: str, folder: Path | None) -> ModuleOp:
    """Read a Gawee graph; every op's location is its node's place in the text and its name.

    `folder` is where the paths of weights and constants start; their files are checked for
    existence and size, and small constants are read. With None nothing is read: all constants
    become arguments.

    Raises GaweeError with every problem of the first step that fails.
    """
    root, source = decode_json(text, name)
    report = Report(source)
    check_structure(root, report)
    report.raise_if_any()
    graph = read_graph(root, source)
    check_ops(graph, report)
    check_names(graph, report)
    check_live_shapes(graph, report)
    report.raise_if_any()
    module = GraphBuilder(graph, folder, report).build()
    verify_module(module)
    return module
