"""How long a batch takes that is computed in parts: what differs between ways to do that.

1. A node reads and writes the values of the images of one part, and finds what the node before it
   wrote in the nearest memory that holds all that the node touches: a thread's share of it, and the
   weights. A line that the nearest memory does not hold is read before it is written. What is
   several passes, as normalizations, softmax and attention are, reads and writes in each.
2. Elementwise nodes and views are computed where their first operand is: they read others, only.
3. Weights are read once a part, from the nearest memory that holds all of them, while the node
   computes: only what takes longer than that counts. What only repeats a value is read as that is.
4. Parts one after the other have all threads in each node that is worth it. They start together
   and wait for the last one, and find what others wrote in a memory that all share.
5. Parts at the same time have one thread each. All of them are about as far, so that what one has
   read of the weights of a node others find in a cache. The thread with the most parts
   is waited for.

Main memory is as fast for all threads together as for one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.batch_axes import BatchAxes
from gawee_dialect.analysis.work import node_work
from gawee_dialect.dialect.dense import is_splat
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, ViewOp
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.reduction import LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.types import (
    element_bytes,
    element_type,
    is_tensor,
    shaped_bytes,
    tensor_shape,
)
from gawee_dialect.target.description import Memory, Processor

WHERE_IT_LIES = (ElementwiseOp, ViewOp, BatchNormOp)
"""Nodes that are computed where their first operand is."""

REPEATING = (BroadcastToOp, ViewOp)
"""Nodes whose result is not written: its readers read their operands."""

SAVED = 4
"""How many times fewer multiplications a 3x3 convolution takes by tiles, and larger weights."""

PASSES: Mapping[type[Operation], tuple[int, int]] = {
    AttentionOp: (2, 2),
    GroupNormOp: (0, 2),
    LayerNormOp: (0, 2),
    LogSoftmaxOp: (0, 2),
    RmsNormOp: (0, 1),
    SoftmaxOp: (1, 2),
}
"""Of nodes that are several passes over an input, or over attention's scores: how often as much is
written for the next pass, and how often as much is read once more than a node reads."""

BYTES = 4
"""Of an element that is computed: narrower ones are f32 meanwhile."""


@dataclass(frozen=True)
class NodeTraffic:
    """What a node of a graph for some images touches, in bytes, and its arithmetic."""

    read: int
    written: int
    weights: int
    flops: int
    again: int = 0
    """Bytes of images that later passes of the node read once more."""

    @property
    def touched(self) -> int:
        """Bytes of images that are read or written."""
        return self.read + self.written


def node_traffic(op: Operation, found: BatchAxes) -> NodeTraffic:
    """Return what a node touches, of a graph whose images were found."""
    written_out = {each.operand for each in found.repeated if each.op is op}
    read: list[SSAValue] = []
    weights = 0
    for index, value in enumerate(op.operands):
        if value in found.axes:
            read.append(value)
        elif is_tensor(value.type):
            weights += _source_bytes(value) // (found.batch if index in written_out else 1)
    work = node_work(op)
    flops = 0 if work is None else work.flops
    if isinstance(op, WHERE_IT_LIES):
        return NodeTraffic(_bytes(read[1:]), 0, weights, flops)
    if isinstance(op, ConvOp) and _has_fast_algorithm(op):
        weights, flops = SAVED * weights, flops // SAVED
    between, again = _passes(op)
    written = _bytes(op.results) + between
    return NodeTraffic(_bytes(read) + between, written, weights, flops, again)


def _passes(op: Operation) -> tuple[int, int]:
    """Return the bytes that passes of a node leave to each other, and those read once more."""
    left, again = PASSES.get(type(op), (0, 0))
    shape = tensor_shape(op.operands[0])
    if isinstance(op, AttentionOp):
        shape = (*shape[:-1], tensor_shape(op.k)[-2])
    size = prod(shape) * max(BYTES, element_bytes(element_type(op.operands[0])))
    return left * size, again * size


def _source_bytes(value: SSAValue) -> int:
    """Return the bytes of what a value is a view of, or repeats: one element of a splat."""
    while isinstance(value.owner, REPEATING):
        value = value.owner.operands[0]
    owner = value.owner
    if isinstance(owner, ConstantOp) and is_splat(owner.value):
        return element_bytes(element_type(value))
    return _bytes([value])


def _has_fast_algorithm(op: ConvOp) -> bool:
    ones = (*op.strides.get_values(), *op.dilations.get_values(), op.groups.value.data)
    return tensor_shape(op.weight)[2:] == (3, 3) and set(ones) == {1}


def _bytes(values: Iterable[SSAValue]) -> int:
    types = (value.type for value in values)
    return sum(shaped_bytes(type) for type in types if is_tensor(type))


@dataclass(frozen=True)
class Parts:
    """A way to compute a batch: how many images a part has, and how many parts at the same time."""

    images: int
    threads: int = 1


@dataclass(frozen=True)
class Batch:
    """A batch that some threads of a processor compute."""

    images: int
    processor: Processor
    threads: int

    def seconds(self, nodes: Sequence[NodeTraffic], parts: Parts) -> float:
        """Return how long nodes take in parts, arithmetic and all."""
        return _InParts(self, parts, sum(node.weights for node in nodes)).seconds(nodes)


class _InParts:
    """Computes how long nodes take in parts of a batch."""

    def __init__(self, batch: Batch, parts: Parts, weights: int) -> None:
        self._images, self._processor = batch.images, batch.processor
        self._part = parts.images
        count = -(-batch.images // parts.images)
        self._turns = -(-count // parts.threads)
        """How many parts there are one after the other."""
        self._at_once = parts.threads
        """How many of them at the same time."""
        self._team = batch.threads if parts.threads == 1 else 1
        """How many threads compute one part."""
        self._weights = self._memory(weights)

    def seconds(self, nodes: Iterable[NodeTraffic]) -> float:
        """Return how long all parts take."""
        start = self._processor.team_seconds if self._at_once > 1 else 0.0
        return start + self._turns * sum(map(self._node_seconds, nodes))

    def _node_seconds(self, node: NodeTraffic) -> float:
        """Return how long a node takes of one part: threads share it where that is faster."""
        alone = self._seconds_of(node, 1)
        if self._team == 1 or not node.written:
            return alone
        return min(alone, self._processor.team_seconds + self._seconds_of(node, self._team))

    def _seconds_of(self, node: NodeTraffic, team: int) -> float:
        arithmetic = node.flops * self._part / self._images / self._processor.flops() / team
        weights = node.weights / self._weights.bandwidth
        return self._moving(node, team) + max(arithmetic, weights)

    def _moving(self, node: NodeTraffic, team: int) -> float:
        """Return how long the images of a part take to be read and written."""
        touched = node.touched * self._part // self._images
        memory = self._memory(touched // team + node.weights)
        private = self._processor.memories[:2]
        if memory not in private or team > 1:
            others = self._processor.memories[2:]
            fitting = self._memory(touched * self._at_once)
            memory = fitting if fitting not in private or not others else others[0]
        is_near = memory is self._processor.memories[0]
        written = node.written * (1 if is_near else self._processor.moved_by_writes)
        moved = (node.read + node.again + written) * self._part / self._images
        return moved / team / self._bandwidth(memory, team * self._at_once)

    def _bandwidth(self, memory: Memory, threads: int) -> float:
        """Return what a thread gets of a memory that so many read."""
        return memory.bandwidth / (threads if memory is self._processor.main_memory else 1)

    def _memory(self, size: int) -> Memory:
        """Return the nearest memory that holds so many bytes beside all else that is read."""
        return self._processor.memory_for(2 * size)
