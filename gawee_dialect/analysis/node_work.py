"""The work of graph nodes, as their definition has it: before anybody chose how to compute them."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeVar

from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.work import Work, size_of, traffic
from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.position import IotaOp, TriOp
from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp, ScatterOp
from gawee_dialect.dialect.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.types import is_tensor, tensor_shape

BILINEAR_FLOPS = 9
"""Three weighted means of two values; the weights are the same for every channel."""

NO_WORK = (ConstantOp, GetAttrOp, GetItemOp)
"""Nodes that nothing runs for."""

VIEWS = (FlattenOp, IdentityOp, ReshapeOp)
"""Nodes whose result is what they read, under another shape."""

MOVES = (
    *(CatOp, TransposeOp, BroadcastToOp, TileOp, ReverseOp, SliceOp, InsertSliceOp, PadOp),
    *(GatherOp, GatherElementsOp, GatherNdOp, IotaOp, TriOp),
)
"""Nodes that move elements without arithmetic on them."""

ORDERS = (SortOp, TopKOp)
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


def _bin_lengths(size: int, count: int) -> int:
    """Return the lengths of adaptive bins along one axis, added up; bins may overlap."""
    return sum(-(-(i + 1) * size // count) - i * size // count for i in range(count))


def _adaptive_pool(op: AdAvgPoolOp) -> int:
    batch, channels, *sizes = tensor_shape(op.input)
    bins = zip(sizes, tensor_shape(op.result)[2:], strict=True)
    added = batch * channels * prod(_bin_lengths(size, count) for size, count in bins)
    return added + _elements(op.result)


def _batch_norm(op: BatchNormOp) -> int:
    steps = 4 + (op.scale is not None) + (op.bias is not None)
    return steps * _elements(op.result)


def _interpolate(op: InterpolateOp) -> int:
    return 0 if op.mode.data == "nearest" else BILINEAR_FLOPS * _elements(op.result)


def _scatter(op: ScatterOp) -> int:
    return _elements(op.updates) if op.reduction.data == "add" else 0


_rule(ConvOp, lambda op: 2 * _elements(op.result) * prod(tensor_shape(op.weight)[1:]))
_rule(MatMulOp, lambda op: 2 * _elements(op.result) * tensor_shape(op.weight)[1])
for elementwise in (AddOp, SubOp, MulOp, DivOp, ReluOp, SqrtOp):
    _rule(elementwise, lambda op: _elements(op.result))
_rule(BatchNormOp, _batch_norm)
_rule(MaxPoolOp, lambda op: _elements(op.result) * prod(op.kernel.get_values()))
_rule(AvgPoolOp, lambda op: _elements(op.result) * (prod(op.kernel.get_values()) + 1))
_rule(AdAvgPoolOp, _adaptive_pool)
_rule(InterpolateOp, _interpolate)
for without in (*VIEWS, *MOVES, *ORDERS):
    _rule(without, lambda op: 0)
_rule(ScatterElementsOp, _scatter)
_rule(ScatterNdOp, _scatter)

NODE_FLOPS: Mapping[type[Operation], Callable[[Operation], int]] = _FLOPS
"""FLOPs by kind of node: two for a multiply-add, one for any other arithmetic on an element."""


def node_work(op: Operation) -> Work | None:
    """Return the work of a node; None for a constant or a Python value, which are none.

    It reads its operands, weights included, and writes its result, each once; of what it picks
    elements from, no more than it picks.
    """
    if type(op) not in NODE_FLOPS:
        return None
    if isinstance(op, VIEWS):
        return Work()
    reads: Sequence[SSAValue] = [value for value in op.operands if is_tensor(value.type)]
    if isinstance(op, InterpolateOp):
        reads = [op.input]  # the others say how large the result is
    work = traffic(NODE_FLOPS[type(op)](op), reads, op.results)
    if isinstance(op, READ_IN_PART):
        unread = max(0, size_of(op.input) - size_of(op.result))
        work += Work(read_bytes=-unread, footprint=-unread)
    return work
