"""What a kernel leaves around its points: halos and the rest of last blocks."""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.kernel import KernelOp, Number, element_of, shape_of, value_range
from gawee_dialect.passes.bufferize import memref_type
from gawee_dialect.passes.lower_to_linalg.tensors import zero

Box = tuple[tuple[int, int], ...]
"""The first index and the end along each axis."""


def image(map: AffineMap, sizes: Sequence[int]) -> Box | None:
    """Return the box of elements that points are about, None where they are no box."""
    box = [value_range(expr, sizes) for expr in map.results]
    if prod(high - low + 1 for low, high in box) != prod(sizes):
        return None
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
    sizes = (*op.sizes[: op.num_parallel], *(1 for _ in op.sizes[op.num_parallel :]))
    fill_around(builder, op.target, op.maps[-1], sizes, op.outside)


def fill_around(
    builder: Builder,
    buffer: SSAValue,
    map: AffineMap,
    sizes: Sequence[int],
    outside: Number | None,
) -> None:
    """Fill the elements of a buffer that a map takes no point to, with zero for None."""
    shape = shape_of(buffer)
    inner = image(map, sizes)
    boxes = [tuple((0, size) for size in shape)] if inner is None else list(borders(shape, inner))
    if not boxes:
        return
    if outside is None:
        value = zero(builder, element_of(buffer))
    else:
        value = builder.insert(arith.ConstantOp(outside)).result
    for box in boxes:
        offsets, sizes = [low for low, _ in box], [high - low for low, high in box]
        type = memref.SubviewOp.infer_result_type(
            memref_type(buffer), offsets, sizes, [1] * len(box)
        )
        view = memref.SubviewOp.get(buffer, offsets, sizes, [1] * len(box), type)
        builder.insert(linalg.FillOp([value], [builder.insert(view).result], []))
