"""What is exported: nodes of ONNX and the tensors between them, as no file format has it yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.frontends.onnx.model import Array
from gawee_dialect.located_json import JsonValue


@dataclass(frozen=True)
class ExportedValue:
    """A tensor by its name in the graph."""

    name: str
    type: AnyTensor


@dataclass(frozen=True)
class Figures:
    """An input with known elements, named as the attribute of its early versions."""

    name: str
    array: Array


@dataclass(frozen=True)
class OpenFigures:
    """An input with known elements but for sizes that are open: a run computes it."""

    name: str
    sizes: Sequence[int]


Operand = ExportedValue | Figures | None
"""What a node reads; None for an input that is left out."""


@dataclass(frozen=True)
class ExportedBody:
    """A graph inside of a node: it reads what is around it, and its names differ from those."""

    inputs: Sequence[ExportedValue]
    outputs: Sequence[ExportedValue]
    nodes: Sequence["ExportedNode"]


Attribute = int | float | str | Sequence[int] | Sequence[float] | Sequence[str] | ExportedBody


@dataclass
class ExportedNode:
    """One node, of the op that it was made for; its name is given when all of them are known."""

    op_type: str
    inputs: Sequence[Operand]
    outputs: Sequence[ExportedValue]
    attributes: Mapping[str, Attribute]
    op: Operation | None
    name: str = ""
    is_own: bool = False
    """Whether it is what the op is called after, of several nodes that an op may become."""
    metadata: Mapping[str, JsonValue] | None = None


@dataclass
class ExportedGraph:
    """A graph, whose weights are named and whose constants are arrays."""

    id: str | None
    name: str | None
    inputs: Sequence[ExportedValue]
    outputs: Sequence[ExportedValue]
    weights: Sequence[ExportedValue]
    constants: Mapping[str, Array]
    nodes: Sequence[ExportedNode]
    metadata: Mapping[str, JsonValue] | None = None
    tensor_metadata: Mapping[str, Mapping[str, JsonValue]] = field(
        default_factory=dict[str, Mapping[str, JsonValue]]
    )
    """Metadata of tensors by their names."""
