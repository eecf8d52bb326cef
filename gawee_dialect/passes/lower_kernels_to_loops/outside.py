"""What a kernel leaves around its points: halos and the rest of last blocks."""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.dialects.linalg import ops as linalg

from gawee_dialect.dialect.kernel import KernelOp, element_of, shape_of, value_range
from gawee_dialect.passes.bufferize import memref_type
from gawee_dialect.passes.lower_to_linalg.tensors import zero

Box = tuple[tuple[int, int], ...]
"""The first index and the end along each axis."""


def image(op: KernelOp) -> Box | None:
    """Return the box of elements that points are about, None where they are no box."""
    map, shape = op.maps[-1], shape_of(op.target)
    box = [value_range(expr, op.sizes) for expr in map.results]
    count = prod(op.sizes[: op.num_parallel])
    if prod(high - low + 1 for low, high in box) != count:
        return None
    assert len(box) == len(shape)
    return tuple((low, high + 1) for low, high in box)


def borders(shape: Sequence[int], inner: Box) -> Iterator[Box]:
    """Cut what is around a box into boxes: along each axis, what is before it and behind it."""
    for axis, (start, end) in enumerate(inner):
        for low, high in ((0, start), (end, shape[axis])):
            if low < high:
                rest = ((0, size) for size in shape[axis + 1 :])
                yield (*inner[:axis], (low, high), *rest)


def fill_outside(builder: Builder, op: KernelOp) -> None:
    """Fill the elements of the output that no point is about."""
    if op.covers_output():
        return
    buffer, shape = op.target, shape_of(op.target)
    inner = image(op)
    boxes = [tuple((0, size) for size in shape)] if inner is None else borders(shape, inner)
    if op.outside is None:
        value = zero(builder, element_of(buffer))
    else:
        value = builder.insert(arith.ConstantOp(op.outside)).result
    for box in boxes:
        offsets, sizes = [low for low, _ in box], [high - low for low, high in box]
        type = memref.SubviewOp.infer_result_type(
            memref_type(buffer), offsets, sizes, [1] * len(box)
        )
        view = memref.SubviewOp.get(buffer, offsets, sizes, [1] * len(box), type)
        builder.insert(linalg.FillOp([value], [builder.insert(view).result], []))
