"""The registry of exported ops: which nodes of ONNX an op becomes, by the class of the op.

@exports(ReluOp)
def relu(nodes: Nodes, op: ReluOp) -> None:
    nodes("Relu", [op.input], op.results)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Protocol, TypeVar

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.frontends.onnx.model import Array
from gawee_dialect.located_json import JsonValue

# What is exported: nodes of ONNX and the tensors between them, as no file format has it yet.


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


FAMILIES = ("contraction", "elementwise", "quantization", "reduction", "shape", "window")
"""The files of `ops/` that register the ops."""

Given = SSAValue | ExportedValue | Figures | OpenFigures | None
"""What a node reads: a value of the module, one of another node of the same op, or figures."""

Outputs = Sequence[SSAValue | ExportedValue] | AnyTensor
"""What a node makes: values of the module, tensors between nodes, or a new one of a type."""


class Nodes(Protocol):
    """Appends the nodes of one op to a graph."""

    def __call__(
        self,
        op_type: str,
        inputs: Sequence[Given],
        outputs: Outputs,
        **attributes: Attribute,
    ) -> ExportedValue:
        """Append a node; return its first output: the op's own, or a new one of a type."""
        ...

    def new(self, op_type: str, type: AnyTensor) -> ExportedValue:
        """Return a tensor that a node with more outputs makes."""
        ...

    def constant(self, array: Array) -> ExportedValue:
        """Return a tensor whose elements the graph holds."""
        ...


OpT = TypeVar("OpT", bound=Operation)
Write = Callable[[Nodes, OpT], None]

_writers: dict[type[Operation], Callable[..., None]] = {}


def exports(*ops: type[OpT]) -> Callable[[Write[OpT]], Write[OpT]]:
    """Register a function for ops; it raises Refusal for an op that ONNX cannot say."""

    def register(function: Write[OpT]) -> Write[OpT]:
        _writers.update(dict.fromkeys(ops, function))
        return function

    return register


@cache
def writers() -> Mapping[type[Operation], Callable[..., None]]:
    """Return every registered function by the class of its ops."""
    for family in FAMILIES:
        import_module(f"gawee_dialect.frontends.onnx.export.ops.{family}")
    return _writers
