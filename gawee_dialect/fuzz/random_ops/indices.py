"""Random ops that go by indices, or by an order, that is data."""

from collections.abc import Sequence

from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Attribute, Operation

from gawee_dialect.dialect.graph.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.graph.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import ELEMENTS, NUMBERS, value

INDEX_TYPES: Sequence[Attribute] = (i32, i64)

LONG_ROW = (60, 150)
"""Elements of a row, on both sides of where it is no longer counted what comes before each."""


def gather(draw: Draw) -> Operation:
    """Draw a choice along one axis."""
    dims = draw.shape(least=1)
    indices = value(draw.one_of(INDEX_TYPES), draw.shape())
    return GatherOp(value(draw.one_of(ELEMENTS), dims), indices, axis=draw.axis(dims))


def _inside(draw: Draw, dims: Sequence[int], axis: int) -> list[int]:
    """Return the shape of indices that name one axis, and are no larger along the others."""
    inside = [draw.integer(1, size) for size in dims]
    inside[axis] = draw.size()
    return inside


def gather_elements(draw: Draw) -> Operation:
    """Draw a choice of each element."""
    dims = draw.shape(least=1)
    axis = draw.axis(dims)
    indices = value(draw.one_of(INDEX_TYPES), _inside(draw, dims, axis))
    return GatherElementsOp(value(draw.one_of(ELEMENTS), dims), indices, axis=axis)


def gather_nd(draw: Draw) -> Operation:
    """Draw a choice by several axes at once."""
    dims = draw.shape(least=1)
    batch = draw.integer(0, len(dims) - 1)
    named = draw.integer(1, len(dims) - batch)
    indices = value(draw.one_of(INDEX_TYPES), [*dims[:batch], *draw.shape(), named])
    return GatherNdOp(value(draw.one_of(ELEMENTS), dims), indices, batch_dims=batch)


def scatter_elements(draw: Draw) -> Operation:
    """Draw an update of elements along one axis."""
    dims, reduction = draw.shape(least=1), draw.one_of(ScatterElementsOp.REDUCTIONS)
    element = draw.one_of(ELEMENTS if reduction == "none" else NUMBERS)
    axis = draw.axis(dims)
    place = _inside(draw, dims, axis)
    indices, updates = value(draw.one_of(INDEX_TYPES), place), value(element, place)
    return ScatterElementsOp(value(element, dims), indices, updates, axis=axis, reduction=reduction)


def scatter_nd(draw: Draw) -> Operation:
    """Draw an update by several axes at once."""
    dims, reduction = draw.shape(least=1), draw.one_of(ScatterNdOp.REDUCTIONS)
    element = draw.one_of(ELEMENTS if reduction == "none" else NUMBERS)
    rows, named = draw.shape(), draw.integer(1, len(dims))
    indices = value(draw.one_of(INDEX_TYPES), [*rows, named])
    updates = value(element, [*rows, *dims[named:]])
    return ScatterNdOp(value(element, dims), indices, updates, reduction=reduction)


def _ordered(draw: Draw) -> tuple[list[int], int]:
    """Return a shape and an axis of it to put in order: now and then the one long axis of it."""
    dims = draw.shape(least=1)
    axis = draw.axis(dims)
    if draw.chance(0.4):
        rows = draw.chance(0.5)
        dims = [size if rows and size < 3 else 1 for size in dims]
        dims[axis] = draw.integer(*LONG_ROW)
    return dims, axis


def sort(draw: Draw) -> Operation:
    """Draw a sorting."""
    dims, axis = _ordered(draw)
    input = value(draw.one_of(NUMBERS), dims)
    return SortOp(input, axis=axis, descending=draw.chance())


def top_k(draw: Draw) -> Operation:
    """Draw a choice of the largest or smallest, of none too."""
    dims, axis = _ordered(draw)
    return TopKOp(
        value(draw.one_of(NUMBERS), dims),
        k=draw.integer(0, dims[axis]),
        axis=axis,
        largest=draw.chance(),
    )


def non_max_suppression(draw: Draw) -> Operation:
    """Draw a choice of boxes."""
    dims = draw.shape(least=1)[:3]
    return NonMaxSuppressionOp(value(i1, dims), value(i1, [*dims, dims[-1]]))
