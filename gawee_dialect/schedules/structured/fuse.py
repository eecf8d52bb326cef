"""Compute a producer in the tiles of what reads it."""

from xdsl.builder import Builder
from xdsl.dialects import tensor
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from gawee_dialect.schedules.steps import IllegalStep
from gawee_dialect.schedules.structured.boxes import (
    Size,
    before,
    begun,
    box_of,
    empty,
    erase_unused,
    extents,
    maps_of,
    mixed,
    on_box,
)
from gawee_dialect.schedules.structured.tile import loops_around


def fuse(op: Operation, producer: LinalgStructuredOperation, name: str) -> None:
    """Compute what a tile reads of a producer inside of the loops of the tile.

    Where several ops of the tile read the same part, it is computed once; what reads the producer
    elsewhere still has all of it.
    """
    loops = loops_around(op)
    if not loops:
        raise IllegalStep("expected loops over tiles: the step tile(...) makes some")
    reads = [
        use.operation for use in producer.results[0].uses if loops[0].is_ancestor(use.operation)
    ]
    slices = [each for each in reads if isinstance(each, tensor.ExtractSliceOp)]
    if not reads:
        raise IllegalStep(f"expected a producer that the tile reads, got '{name}'")
    if len(slices) < len(reads):
        raise IllegalStep(f"expected a tile that reads a part of '{name}', got one that reads all")
    computed: list[tuple[tensor.ExtractSliceOp, SSAValue]] = []
    for slice in sorted(slices, key=_place):
        same = (value for other, value in computed if _is_same(other, slice))
        value = next(same, None)
        if value is None:
            value = _part_of(before(slice), producer, slice)
            computed.append((slice, value))
        slice.result.replace_all_uses_with(value)
    for slice in slices:
        erase_unused(slice)
    erase_unused(producer)


def _place(op: Operation) -> int:
    assert op.parent is not None
    return op.parent.get_operation_index(op)


def _is_same(first: tensor.ExtractSliceOp, second: tensor.ExtractSliceOp) -> bool:
    is_before = first.parent is second.parent
    return (
        is_before
        and first.operands[1:] == second.operands[1:]
        and (first.properties == second.properties)
    )


def _part_of(
    builder: Builder, producer: LinalgStructuredOperation, slice: tensor.ExtractSliceOp
) -> SSAValue:
    """Insert a producer on the points of a part of its result; return the part."""
    written = maps_of(producer)[-1]
    dims = [expr.position for expr in written.results if isinstance(expr, AffineDimExpr)]
    if len(dims) < len(written.results):
        raise IllegalStep(f"expected a producer that writes along dimensions, got map '{written}'")
    sizes = extents(producer)
    offsets: list[Size] = [0] * len(sizes)
    begins = mixed(slice.static_offsets, slice.offsets)
    for dim, begin, size in zip(dims, begins, mixed(slice.static_sizes, slice.sizes), strict=True):
        offsets[dim], sizes[dim] = begin, size
    begins, parts = box_of(builder, written, offsets, sizes)
    init = producer.outputs[0]
    place = empty(builder, init, parts)
    return on_box(
        builder, producer, offsets, sizes, begun(builder, init, begins, parts, place)
    ).results[0]
