"""Gawee graph JSON, read and written.

Reading is three steps, each with its own errors: decode (located_json.py), check (schema.py,
graph.py), build (build.py with the op table of ops.py). Writing is two: say the module as a graph
(export.py with the op table of export_ops.py), then put the files in place (write.py).
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.signature import Entry
from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.frontends.gawee_json.build import GraphBuilder, gawee_json_coverage
from gawee_dialect.frontends.gawee_json.data import elements
from gawee_dialect.frontends.gawee_json.export import Data, export_graph
from gawee_dialect.frontends.gawee_json.graph import (
    check_live_shapes,
    check_names,
    check_ops,
    read_graph,
)
from gawee_dialect.frontends.gawee_json.schema import check_structure
from gawee_dialect.frontends.graph import Graph, Report
from gawee_dialect.inspection.graph_view import GraphView
from gawee_dialect.inspection.module_view import module_view
from gawee_dialect.located_json import decode_json
from gawee_dialect.parameters.binding import bind_parameters
from gawee_dialect.source import Source
from gawee_dialect.whole_file import whole_file

# Write a graph and its data into a folder: all of it, or nothing.

Arrays = Mapping[str, NDArray[np.generic]]


def module_to_gawee_json(
    module: ModuleOp, arrays: Arrays | None, folder: Path, *, file_name: str = "graph.json"
) -> Path:
    """Write a module at the gawee level as a Gawee graph; return the path of its JSON.

    `arrays` are its parameters and large constants by name, a ParameterStore for example; with
    None only the JSON and the constants of the IR are written.

    Raises GaweeError, before anything is written, for ops that JSON cannot say and for arrays that
    are missing or of another shape or dtype.
    """
    graph = export_graph(module)
    bound = None if arrays is None else bind_parameters(Entry.of(module).weights, arrays)
    folder.mkdir(parents=True, exist_ok=True)
    targets = {path: _target(folder, path) for path in graph.files}
    with ExitStack() as drafts:
        # What comes first takes its place last: a reader that finds the graph finds its data.
        text = drafts.enter_context(whole_file(folder / file_name))
        text.write_text(graph.text)
        for path, data in graph.files.items():
            array = _array(data, bound)
            if array is not None:
                targets[path].parent.mkdir(parents=True, exist_ok=True)
                draft = drafts.enter_context(whole_file(targets[path]))
                np.ascontiguousarray(array, _little_endian(array)).tofile(draft)
    return folder / file_name


def _array(data: Data, bound: Arrays | None) -> NDArray[np.generic] | None:
    if not isinstance(data, str):
        return elements(data)
    return None if bound is None else bound[data]


def _little_endian(array: NDArray[np.generic]) -> np.dtype[np.generic]:
    return array.dtype.newbyteorder("<")


def _target(folder: Path, path: str) -> Path:
    target = folder / path
    if not target.parent.resolve().is_relative_to(folder.resolve()):
        raise GaweeError(f"expected path '{path}' to stay inside '{folder}'")
    return target


# Gawee JSON, by the interface of every format's graph.


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


__all__ = ["GaweeJsonGraph", "export_graph", "module_to_gawee_json", "parse_gawee_json"]


def parse_gawee_json(text: str, *, name: str, folder: Path | None) -> ModuleOp:
    """Read a Gawee graph; every op's location is its node's place in the text and its name.

    `folder` is where data files are, as GaweeJsonGraph says. Raises GaweeError with every problem
    of the first step that fails.
    """
    return GaweeJsonGraph(Source.of_text(text, name), folder).module()
