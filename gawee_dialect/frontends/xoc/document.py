"""What an XOC file says: tensors, nodes that name them by index, and metadata of all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gawee_dialect.located_json import JsonValue
from gawee_dialect.source import Source

Metadata = Mapping[str, JsonValue]
"""Whatever else is known of a thing, nested; never what a format's own fields say."""

DTYPES = ("float32", "float16", "int32", "int64", "uint8", "bool", "string")


class Role(StrEnum):
    """What a tensor is to the graph: the `name` of a tensor."""

    INPUT = "input"
    OUTPUT = "output"
    WEIGHT = "weight"
    ACTIVATION = "activation"


@dataclass(frozen=True)
class XocTensor:
    """One tensor; `offset` is where it stands in the text."""

    id: str
    role: Role
    shape: tuple[int, ...]
    dtype: str
    metadata: Metadata | None = None
    offset: int = 0


@dataclass(frozen=True)
class XocNode:
    """One operation, by ONNX's name; inputs and outputs are indices of tensors."""

    id: str
    name: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    attributes: Metadata = field(default_factory=dict[str, JsonValue])
    metadata: Metadata | None = None
    offset: int = 0


@dataclass(frozen=True)
class XocDocument:
    """A graph as it is written."""

    id: str
    name: str
    tensors: Sequence[XocTensor]
    nodes: Sequence[XocNode]
    inputs: Sequence[int]
    outputs: Sequence[int]
    metadata: Metadata | None = None
    source: Source | None = None
    """The text that it was read from, for places in messages."""

    def producers(self) -> dict[int, int]:
        """Return from the index of a tensor to that of the node that makes it."""
        return {tensor: index for index, node in enumerate(self.nodes) for tensor in node.outputs}


def edges(document: XocDocument) -> Iterator[tuple[str, str]]:
    """Yield the edges that follow from the nodes, between ids, once for each operand.

    From a tensor that no node makes to its reader, unless it is an activation; from a node to the
    reader of what it makes; from a node to the output that it makes.
    """
    made_by = document.producers()
    for node in document.nodes:
        for index in node.inputs:
            tensor = document.tensors[index]
            if index in made_by:
                yield document.nodes[made_by[index]].id, node.id
            elif tensor.role is not Role.ACTIVATION:
                yield tensor.id, node.id
    for index in document.outputs:
        if index in made_by:
            yield document.nodes[made_by[index]].id, document.tensors[index].id
