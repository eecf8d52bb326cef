"""Write a graph and its data into a folder: all of it, or nothing."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.signature import Entry
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.gawee_json.data import elements
from gawee_dialect.frontends.gawee_json.export import Data, export_graph
from gawee_dialect.parameters.binding import bind_parameters
from gawee_dialect.whole_file import whole_file

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
        # What comes first takes its place last: whoever finds the graph finds its data too.
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
