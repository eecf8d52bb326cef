"""The amount of work that an op is: arithmetic and memory traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TypeVar

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.analysis.effects import captured_values
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.conv import ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
    ScatterOp,
)
from gawee_dialect.dialect.graph.movement import MovementOp, ViewOp
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.reduction import ArgOp, CumSumOp
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.operation import CountedOp
from gawee_dialect.dialect.types import (
    element_bytes,
    element_type,
    is_float,
    is_tensor,
    tensor_shape,
)
from gawee_dialect.equations.instance import flops


@dataclass(frozen=True)
class Work:
    """FLOPs and bytes of an op or of several.

    `footprint` is how many different bytes they touch; `element_bits` the size of what they
    compute.
    """

    flops: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    footprint: int = 0
    element_bits: int = 0

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.read_bytes + self.write_bytes

    @property
    def intensity(self) -> float:
        """FLOPs a byte; 0 where no byte moves."""
        return self.flops / self.bytes if self.bytes else 0.0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.flops + other.flops,
            self.read_bytes + other.read_bytes,
            self.write_bytes + other.write_bytes,
            self.footprint + other.footprint,
            max(self.element_bits, other.element_bits),
        )


def total(parts: Iterable[Work]) -> Work:
    """Return the work of several ops together, each on data of its own."""
    return sum(parts, Work())


def shaped(type: Attribute) -> TensorType[Attribute] | MemRefType[Attribute] | None:
    """Return a tensor or memref type of static shape as such, None for any other type."""
    if not isa(type, TensorType[Attribute] | MemRefType[Attribute]):
        return None
    return type if type.has_static_shape() else None


def size_of(value: SSAValue) -> int:
    """Return the bytes of a tensor's or a memref's elements; 0 for any other value."""
    type = shaped(value.type)
    return 0 if type is None else prod(type.get_shape()) * element_bytes(type.element_type)


def bits_of(values: Iterable[SSAValue]) -> int:
    """Return the bits of the widest element of some values."""
    types = (shaped(value.type) for value in values)
    return max((8 * element_bytes(type.element_type) for type in types if type), default=0)


def traffic(flops: int, reads: Sequence[SSAValue], writes: Sequence[SSAValue]) -> Work:
    """Return the work that reads some values whole, computes, and writes others whole.

    A value that is named twice is one piece of memory, and moves once.
    """
    return Work(
        flops,
        sum(map(size_of, set(reads))),
        sum(map(size_of, set(writes))),
        sum(map(size_of, {*reads, *writes})),
        bits_of(writes),
    )


def copying(value: SSAValue) -> Work:
    """Return the work that copies all elements of a value to another place."""
    size = size_of(value)
    return Work(0, size, size, 2 * size, bits_of([value]))


# The work of graph nodes, as their definition has it, before an algorithm is chosen.


BILINEAR_FLOPS = 9
"""Three weighted means of two values; the weights are the same for every channel."""

BICUBIC_FLOPS = 35
"""Five weighted sums of four values; the weights are the same for every channel."""

ORDERS = (SortOp, TopKOp, NonMaxSuppressionOp)
"""Nodes that compare, and compute nothing."""

READ_IN_PART = (SliceOp, GatherOp, GatherElementsOp, GatherNdOp)
"""Nodes that read as many elements of their input as their result has, or fewer."""

_Op = TypeVar("_Op", bound=Operation)

_FLOPS: dict[type[Operation], Callable[[Operation], int]] = {}


def _elements(value: SSAValue) -> int:
    return prod(tensor_shape(value))


def _rule(op_type: type[_Op], count: Callable[[_Op], int]) -> None:
    def checked(op: Operation) -> int:
        assert isinstance(op, op_type)
        return count(op)

    _FLOPS[op_type] = checked


def _arg(op: ArgOp) -> int:
    """Count the extreme and the least position; floats are looked at for NaN as well."""
    return (3 if is_float(element_type(op.input)) else 2) * _elements(op.input)


def _interpolate(op: InterpolateOp) -> int:
    if op.mode.data in InterpolateOp.CHOOSING:
        return 0
    if op.mode.data == "bicubic":
        return BICUBIC_FLOPS * _elements(op.result)
    means = 2 ** len(op.size.get_values()) - 1
    return 3 * means * _elements(op.result)


def _grid_sample(op: GridSampleOp) -> int:
    return 0 if op.mode.data == "nearest" else BILINEAR_FLOPS * _elements(op.result)


def _scatter(op: ScatterOp) -> int:
    return 0 if op.reduction.data == "none" else _elements(op.updates)


def _scan(op: ScanOp) -> int:
    works = (node_work(inner) for inner in op.body.block.ops)
    return op.num_steps * sum(work.flops for work in works if work is not None)


_rule(ConvTransposeOp, lambda op: 2 * _elements(op.input) * prod(tensor_shape(op.weight)[1:]))
_rule(EquationOp, lambda op: flops(op.meaning()))
_rule(ElementwiseOp, lambda op: flops(op.meaning()) * _elements(op.output))
_rule(BitcastOp, lambda op: 0)
_rule(ArgOp, _arg)
_rule(CumSumOp, lambda op: _elements(op.input))
_rule(GridSampleOp, _grid_sample)
_rule(InterpolateOp, _interpolate)
_rule(ScanOp, _scan)
for without in (MovementOp, *ORDERS):
    _rule(without, lambda op: 0)
_rule(ScatterElementsOp, _scatter)
_rule(ScatterNdOp, _scatter)


@cache
def flops_rule(kind: type[Operation]) -> Callable[[Operation], int] | None:
    """Return what counts the FLOPs of a kind of nodes, itself or a base; None where nothing does.

    Two for a multiply-add, one for any other arithmetic on an element.
    """
    return next((_FLOPS[each] for each in kind.__mro__ if each in _FLOPS), None)


def has_cost(op: Operation) -> bool:
    """Whether there is a rule for the cost of an op: it is a node of a graph, a user's too."""
    counted = op.dialect_name() == "gawee" or isinstance(op, CountedOp)
    return counted or flops_rule(type(op)) is not None


def node_work(op: Operation) -> Work | None:
    """Return the work of a node; None for a constant or a Python value, which are none.

    It reads its operands, weights included, and writes its result, each once; of what it picks
    elements from, no more than it picks.
    """
    if isinstance(op, CountedOp):
        return traffic(op.flops(), op.operands, op.results)
    count = flops_rule(type(op))
    if count is None:
        return None
    if isinstance(op, ViewOp):
        return Work()
    reads: Sequence[SSAValue] = [value for value in op.operands if is_tensor(value.type)]
    if isinstance(op, ScanOp):
        reads = [*reads, *captured_values(op)]  # weights, most of all: read at every step
    if isinstance(op, InterpolateOp):
        reads = [op.input]  # the others say how large the result is
    work = traffic(count(op), reads, op.results)
    if isinstance(op, READ_IN_PART):
        unread = max(0, size_of(op.input) - size_of(op.result))
        work += Work(read_bytes=-unread, footprint=-unread)
    return work
