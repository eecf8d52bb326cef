"""Measured times as metadata of nodes: `performance.time.cpu`, in milliseconds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.metadata import KeyConflict, flatten, nest
from gawee_dialect.frontends.xoc.document import XocDocument, XocNode
from gawee_dialect.frontends.xoc.export import Place, export_xoc
from gawee_dialect.frontends.xoc.xoc_graph import XocGraph

CPU_TIME = "performance.time.cpu"


def timed_document(
    graph: Graph, module: ModuleOp, seconds: Mapping[Place, float], name: str
) -> XocDocument:
    """Return a graph as XOC, whose nodes have the times that were measured of them.

    A graph of that format is as it was but for that; another one is exported, from its module, and
    is called `name`. A node that ran as a part of another one has no time of its own. Raises
    GaweeError for a graph that cannot be written, and for metadata that leaves no place.
    """
    if isinstance(graph, XocGraph):
        return with_times(graph.document, _by_id(graph.document.nodes, seconds))
    exported = export_xoc(module, name)
    times = {exported.nodes[each]: time for each, time in seconds.items() if each in exported.nodes}
    return with_times(exported.document, times)


def _by_id(nodes: Sequence[XocNode], seconds: Mapping[Place, float]) -> dict[str, float]:
    ids = {node.id for node in nodes}
    return {name: time for (name, _), time in seconds.items() if name in ids}


def with_times(document: XocDocument, seconds: Mapping[str, float]) -> XocDocument:
    """Return a document whose nodes have these times, by their ids, and no others."""
    return replace(
        document, nodes=[_with_time(each, seconds.get(each.id)) for each in document.nodes]
    )


def _with_time(node: XocNode, seconds: float | None) -> XocNode:
    flat = flatten(node.metadata or {})
    if seconds is None and CPU_TIME not in flat:
        return node
    flat.pop(CPU_TIME, None)
    if seconds is not None:
        flat[CPU_TIME] = round(seconds * 1e3, 6)
    try:
        return replace(node, metadata=nest(flat))
    except KeyConflict as conflict:
        raise GaweeError(f"cannot write the time of node '{node.id}': {conflict}") from conflict
