"""The registry of exported ops: which nodes of ONNX an op becomes, by the class of the op.

@exports(ReluOp)
def relu(nodes: Nodes, op: ReluOp) -> None:
    nodes("Relu", [op.input], op.results)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, TypeVar

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.frontends.onnx.export.graph import (
    Attribute,
    ExportedValue,
    Figures,
    OpenFigures,
)
from gawee_dialect.frontends.onnx.model import Array

FAMILIES = (
    "contraction",
    "elementwise",
    "reduction",
    "shape",
    "window",
)
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


def exported_ops() -> Iterator[str]:
    """Yield the names of the ops that have a twin in ONNX, in order."""
    yield from sorted(op.name for op in writers())
