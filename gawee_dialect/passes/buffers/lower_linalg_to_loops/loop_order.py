"""In which order the loops of a structured op run."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from gawee_dialect.hints import isa

CONTIGUOUS_RESULT = 3
CONTIGUOUS_OPERAND = 2
INVARIANT_OPERAND = 1
STRIDED_OPERAND = -2
SEQUENTIAL = -1
"""A reduction innermost is one chain of dependent additions: LLVM may not reorder them."""
WORTHWHILE_TRIP_COUNT = 16
"""A shorter loop is worth less in proportion: there is little of it to vectorize."""


def strides_of(value: SSAValue) -> tuple[int, ...]:
    """Return the strides of a memref in elements; () for a scalar operand."""
    if not isa(value.type, MemRefType[Attribute]):
        return ()
    layout = value.type.layout
    if isinstance(layout, StridedLayoutAttr):
        return tuple(stride or 0 for stride in layout.get_strides())
    strides: list[int] = []
    step = 1
    for size in reversed(value.type.get_shape()):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


def step_along(map: AffineMap, strides: Sequence[int], dim: int) -> int:
    """Return how many elements an operand's address moves when one loop advances by one."""
    origin = [0] * map.num_dims
    moved = [int(index == dim) for index in range(map.num_dims)]
    start, end = map.eval(origin, []), map.eval(moved, [])
    return sum((b - a) * stride for a, b, stride in zip(start, end, strides, strict=True))


def static_trip_counts(op: LinalgStructuredOperation) -> list[int | None]:
    """Return the trip count of every loop; None for one that only the operands' sizes say."""
    counts: list[int | None] = [None] * len(op.get_iterator_types())
    for dim, value, axis in sized_by(op):
        assert isa(value.type, MemRefType[Attribute])
        size = value.type.get_shape()[axis]
        counts[dim] = counts[dim] if size == DYNAMIC_INDEX else size
    return counts


def sized_by(op: LinalgStructuredOperation) -> Iterator[tuple[int, SSAValue, int]]:
    """Yield each loop with a buffer and an axis of it that the loop indexes alone."""
    for attribute, value in zip(op.get_indexing_maps(), op.operands, strict=True):
        for axis, expr in enumerate(attribute.data.results):
            if isinstance(expr, AffineDimExpr):
                yield expr.position, value, axis


def _score(op: LinalgStructuredOperation, dim: int) -> int:
    """Rate a loop as the innermost: contiguous and invariant operands are good."""
    maps = [attr.data for attr in op.get_indexing_maps()]
    results = len(op.outputs)
    score = 0
    for index, (map, value) in enumerate(zip(maps, op.operands, strict=True)):
        step = step_along(map, strides_of(value), dim)
        is_result = index >= len(maps) - results
        if step == 1:
            score += CONTIGUOUS_RESULT if is_result else CONTIGUOUS_OPERAND
        elif step != 0:
            score += STRIDED_OPERAND
        elif not is_result:
            score += INVARIANT_OPERAND
        else:
            score += SEQUENTIAL
    return score


def loop_order(op: LinalgStructuredOperation) -> list[int]:
    """Return the op's loops from the outermost to the innermost.

    Parallel loops come before reductions, each in the op's own order; then the loop along which
    most operands are contiguous or invariant moves to the innermost place, so that LLVM can
    vectorize it.
    """
    iterators = [attr.data for attr in op.get_iterator_types()]
    dims = range(len(iterators))
    order = sorted(dims, key=lambda dim: iterators[dim] is not IteratorType.PARALLEL)
    if not order:
        return order
    known = static_trip_counts(op)
    trip_counts = [WORTHWHILE_TRIP_COUNT if count is None else count for count in known]
    candidates = [dim for dim in order if trip_counts[dim] > 1] or order

    def worth(dim: int) -> int:
        return _score(op, dim) * min(trip_counts[dim], WORTHWHILE_TRIP_COUNT)

    best = max(reversed(candidates), key=worth)
    return [*(dim for dim in order if dim != best), best]
