"""Which sizes are one size in ops that move elements; see `links`."""

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.arrangement import BroadcastToOp, TransposeOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.reduce.slots import Link, axis, broadcast_axes, same_axes


def movement_links(op: Operation) -> Iterable[Link] | None:
    """Return the pairs of slots of an op that always are one size; None for any other op."""
    match op:
        case TransposeOp():
            order = enumerate(op.permutation.get_values())
            return [(axis(op.result, new), axis(op.input, old)) for new, old in order]
        case BroadcastToOp():
            return [*_property(op, op.result, "shape"), *broadcast_axes(op.input, op.result)]
        case SliceOp():
            return _property(op, op.result, "sizes")
        case SortOp():
            return [*same_axes(op.input, op.values), *same_axes(op.values, op.indices)]
        case TopKOp():
            apart = op.ordered_axis()
            return [*same_axes(op.input, op.values, apart), *same_axes(op.values, op.indices)]
        case NonMaxSuppressionOp():
            return [*same_axes(op.candidates, op.result), *_pairs(op)]
        case _:
            return _indexed(op)


def _indexed(op: Operation) -> Iterable[Link] | None:
    """Link what gathers and scatters read and write by indices."""
    match op:
        case GatherOp():
            return _gather(op)
        case GatherElementsOp():
            return same_axes(op.indices, op.result)
        case GatherNdOp():
            return _rows(op.input, op.indices, op.result, op.batch_dims.value.data)
        case ScatterElementsOp():
            return [*same_axes(op.indices, op.updates), *same_axes(op.input, op.result)]
        case ScatterNdOp():
            rows = _rows(op.input, op.indices, op.updates, 0)
            return [*rows, *same_axes(op.input, op.result)]
        case _:
            return None


def _pairs(op: NonMaxSuppressionOp) -> Iterable[Link]:
    """Link both last axes of the overlaps with the candidates' last one."""
    last = len(tensor_shape(op.candidates)) - 1
    axes = [(axis(op.candidates, index), axis(op.overlaps, index)) for index in range(last + 1)]
    return [*axes, (axis(op.candidates, last), axis(op.overlaps, last + 1))]


def _property(op: Operation, result: SSAValue, name: str) -> Iterable[Link]:
    return [((op, name, index), axis(result, index)) for index in range(len(tensor_shape(result)))]


def _gather(op: GatherOp) -> Iterator[Link]:
    rank, added = len(tensor_shape(op.input)), len(tensor_shape(op.indices))
    where = op.axis.value.data % rank
    for index in range(rank):
        if index != where:
            yield axis(op.input, index), axis(op.result, index + (added - 1) * (index > where))
    for index in range(added):
        yield axis(op.indices, index), axis(op.result, where + index)


def _rows(input: SSAValue, indices: SSAValue, slices: SSAValue, batch: int) -> Iterator[Link]:
    """Link rows of indices to slices, batch axes to each other, and axes that are taken whole."""
    *rows, named = tensor_shape(indices)
    for index in range(len(rows)):
        yield axis(indices, index), axis(slices, index)
    for index in range(batch):
        yield axis(input, index), axis(indices, index)
    for index in range(batch + named, len(tensor_shape(input))):
        yield axis(input, index), axis(slices, len(rows) + index - batch - named)
