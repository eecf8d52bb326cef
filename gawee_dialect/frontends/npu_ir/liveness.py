"""Which values of a graph anything reads, and how long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from gawee_dialect.frontends.npu_ir.aten.registry import is_in_place
from gawee_dialect.frontends.npu_ir.ir import GETITEM, NPU_IR, OpNode, TensorMeta, selected_input


def read_inputs(node: OpNode) -> Sequence[TensorMeta]:
    """Return the inputs that a node reads: of a getitem the one that it selects."""
    if node.op_type != GETITEM:
        return node.inputs
    selected = selected_input(node)
    return [] if selected is None else [selected]


@dataclass
class Liveness:
    """The nodes that graph outputs need, and the last reader of every value.

    A node that writes its argument counts as needed, and so does one without outputs.
    """

    ir: NPU_IR
    live: set[int] = field(default_factory=set[int])
    """Positions of the nodes that are needed."""
    last_read: dict[str, float] = field(default_factory=dict[str, float])
    """The position of the last needed node that reads a value; infinity for graph outputs."""

    def __post_init__(self) -> None:
        self.last_read = {output.name: inf for output in self.ir.graph_outputs}
        for index in range(len(self.ir.nodes) - 1, -1, -1):
            self._visit(index, self.ir.nodes[index])

    def _visit(self, index: int, node: OpNode) -> None:
        read = any(output.name in self.last_read for output in node.outputs)
        if not read and node.outputs and not is_in_place(node.op_type):
            return
        self.live.add(index)
        for each in read_inputs(node):
            self.last_read.setdefault(each.name, index)

    def is_read(self, name: str) -> bool:
        """Whether a value is read at all."""
        return name in self.last_read

    def read_after(self, name: str, index: int) -> bool:
        """Whether a value is read after a node."""
        return self.last_read.get(name, -1) > index


VIEWS = frozenset(
    "aten." + name
    for name in (
        *("alias", "as_strided", "broadcast_to", "chunk", "contiguous", "detach", "dropout"),
        *("expand", "expand_as", "flatten", "lift_fresh", "movedim", "narrow", "permute"),
        *("reshape", "reshape_as", "select", "slice", "split", "split_with_sizes", "squeeze"),
        *("swapaxes", "swapdims", "t", "to", "transpose", "type_as", "unbind", "unflatten"),
        *("unfold", "unsqueeze", "view", "view_as", "numpy_T", "mT", "feature_dropout"),
        *("tensor_split", "diagonal", "broadcast_tensors", "meshgrid"),
    )
)
"""Ops whose result may share memory with their first input."""


@dataclass
class Aliases:
    """Which values may share memory, for ops that write their argument."""

    memory: dict[str, str] = field(default_factory=dict[str, str])
    """From a value to the value whose memory it has; itself where it is not there."""
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """All values of one memory."""

    def add(self, node: OpNode, base: str) -> None:
        """Take the outputs of a node whose op has a base name."""
        shares = node.op_type == GETITEM or base in VIEWS or is_in_place(node.op_type)
        sources = read_inputs(node)
        if not shares or not sources:
            return
        owner = self.memory.get(sources[0].name, sources[0].name)
        self.names.setdefault(owner, [owner])
        for output in node.outputs:
            self.memory[output.name] = owner
            self.names[owner].append(output.name)

    def others(self, name: str) -> Iterator[str]:
        """Yield the other values that may have the memory of a value."""
        owner = self.memory.get(name, name)
        yield from (each for each in self.names.get(owner, [name]) if each != name)
