"""How long the values of a batch take to move, when it is computed in parts one after the other.

1. A node reads and writes the values of the images of one part, and finds what the node before it
   wrote in the nearest memory that holds all that the node touches: a thread's share of it, and the
   weights. What main memory is written it is read first.
2. Elementwise nodes and views are computed where their first operand is: they read others, only.
3. Weights are read once a part, from the nearest memory that holds all of them, while the node
   computes: only what takes longer than that counts.

That counts what parts change and nothing else: arithmetic is the same for all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.batch_axes import BatchAxes
from gawee_dialect.analysis.node_work import VIEWS, node_work
from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.types import is_tensor, shaped_bytes, tensor_shape
from gawee_dialect.target.description import Memory, Processor

WHERE_IT_LIES = frozenset[type[Operation]]((*ELEMENTWISE, *VIEWS, BatchNormOp))
"""Nodes that are computed where their first operand is."""


SAVED = 4
"""How many times fewer multiplications a 3x3 convolution takes by tiles, and larger weights."""


@dataclass(frozen=True)
class NodeTraffic:
    """What a node of a graph for some images touches, in bytes, and its arithmetic."""

    read: int
    written: int
    weights: int
    flops: int

    @property
    def moved(self) -> int:
        """Bytes of images that are read or written."""
        return self.read + self.written


def node_traffic(op: Operation, found: BatchAxes) -> NodeTraffic:
    """Return what a node touches, of a graph whose images were found."""
    operands = [value for value in op.operands if is_tensor(value.type)]
    weights = _bytes(value for value in operands if value not in found.axes)
    read = [value for value in operands if value in found.axes]
    work = node_work(op)
    flops = 0 if work is None else work.flops
    if type(op) in WHERE_IT_LIES:
        return NodeTraffic(_bytes(read[1:]), 0, weights, flops)
    if isinstance(op, ConvOp) and _has_fast_algorithm(op):
        weights, flops = SAVED * weights, flops // SAVED
    return NodeTraffic(_bytes(read), _bytes(op.results), weights, flops)


def _has_fast_algorithm(op: ConvOp) -> bool:
    ones = (*op.strides.get_values(), *op.dilations.get_values(), op.groups.value.data)
    return tensor_shape(op.weight)[2:] == (3, 3) and set(ones) == {1}


def _bytes(values: Iterable[SSAValue]) -> int:
    types = (value.type for value in values)
    return sum(shaped_bytes(type) for type in types if is_tensor(type))


@dataclass(frozen=True)
class Batch:
    """A batch that some threads of a processor compute."""

    images: int
    processor: Processor
    threads: int

    def seconds(self, nodes: Sequence[NodeTraffic], chunk: int) -> float:
        """Return how long it takes to move what nodes touch, `chunk` images at a time."""
        weights = self._memory(sum(node.weights for node in nodes))
        return sum(
            self._images_seconds(node, chunk) + self._waiting_seconds(node, chunk, weights)
            for node in nodes
        )

    def computing_seconds(self, nodes: Iterable[NodeTraffic]) -> float:
        """Return the least time that the arithmetic of nodes takes."""
        return sum(node.flops for node in nodes) / self.processor.flops() / self.threads

    def _images_seconds(self, node: NodeTraffic, chunk: int) -> float:
        touched = node.moved * chunk // self.images
        own = self._memory(touched // self.threads + node.weights)
        memory = own if own in self.processor.memories[:2] else self._memory(touched)
        is_far = memory is self.processor.main_memory
        moved = node.read + node.written * (2 if is_far else 1)
        return moved / memory.bandwidth / self.threads

    def _waiting_seconds(self, node: NodeTraffic, chunk: int, memory: Memory) -> float:
        """Return how long arithmetic waits for weights, which are read beside it."""
        reading = self.images // chunk * node.weights / memory.bandwidth
        return max(0.0, reading - self.computing_seconds([node]))

    def _memory(self, size: int) -> Memory:
        """Return the nearest memory that holds so many bytes beside all else that is read."""
        return self.processor.memory_for(2 * size)
