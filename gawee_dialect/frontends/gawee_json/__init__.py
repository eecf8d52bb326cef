"""Gawee graph JSON, read and written.

Reading is three steps, each with its own errors: decode (located_json.py), check (schema.py,
graph.py), build (build.py with the op table of ops.py). Writing is two: say the module as a graph
(export.py with the op table of export_ops.py), then put the files in place (write.py).
"""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.frontends.gawee_json.export import export_graph
from gawee_dialect.frontends.gawee_json.gawee_json_graph import GaweeJsonGraph
from gawee_dialect.frontends.gawee_json.write import module_to_gawee_json
from gawee_dialect.source import Source

__all__ = ["GaweeJsonGraph", "export_graph", "module_to_gawee_json", "parse_gawee_json"]


def parse_gawee_json(text: str, *, name: str, folder: Path | None) -> ModuleOp:
    """Read a Gawee graph; every op's location is its node's place in the text and its name.

    `folder` is where data files are, as GaweeJsonGraph says. Raises GaweeError with every problem
    of the first step that fails.
    """
    return GaweeJsonGraph(Source.of_text(text, name), folder).module()
