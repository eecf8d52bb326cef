"""Where an op comes from: a file position, and the name of the graph node it was made from.

A location is `"file":line:column`, or `"node name"("file":line:column)` for ops made from a graph.
"""

import re
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from gawee_dialect.hints import isa
from gawee_dialect.upstream.walk import all_ops


def line_starts(text: str) -> Sequence[int]:
    """Return the offset at which each line of a text begins."""
    return [0, *(found.end() for found in re.finditer("\n", text))]


def file_location(file: str, line: int, column: int, node: str | None = None) -> LocationAttr:
    """Make the location of a place in a text, both numbers from 1, with the node's name if any."""
    location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
    return location if node is None else NameLoc(StringAttr(node), location)


def _children(location: Attribute) -> Iterable[Attribute]:
    match location:
        case NameLoc():
            return (location.location,)
        case FusedLoc():
            assert isa(location.locations, ArrayAttr[Attribute])
            return location.locations
        case _:
            return ()


def place(location: Attribute) -> str | None:
    """Return `file:line:column` of a location, None where it is unknown."""
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}:{location.column.data}"
    places = (place(child) for child in _children(location))
    return next((found for found in places if found is not None), None)


def node_name(location: Attribute) -> str | None:
    """Return the graph node that a location names, None where there is none."""
    if isinstance(location, NameLoc):
        return location.desc.data
    names = (node_name(child) for child in _children(location))
    return next((found for found in names if found is not None), None)


def origins(location: Attribute) -> list[tuple[str | None, str | None]]:
    """Return the node and the place of each thing that a location says an op was made from."""
    if isinstance(location, FusedLoc):
        return [origin for child in _children(location) for origin in origins(child)]
    origin = node_name(location), place(location)
    return [] if origin == (None, None) else [origin]


def hand_on_location(source: Operation, op: Operation) -> None:
    """Give an op, and all ops inside it, the source's location wherever they have none."""
    location = source.location
    # By identity of classes: `isinstance` of an abstract one takes longer than all the rest.
    if type(location) is UnknownLoc:
        return
    for inner in all_ops(op) if op.regions else (op,):
        if type(inner.location) is UnknownLoc:
            inner.location = location
