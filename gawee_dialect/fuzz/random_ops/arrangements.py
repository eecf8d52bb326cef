"""Random ops that put elements elsewhere, by what is known of the shapes alone."""

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Operation

from gawee_dialect.dialect.graph.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.graph.position import IotaOp, TriOp
from gawee_dialect.dialect.graph.shape import CatOp, FlattenOp, ReshapeOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import ELEMENTS, NUMBERS, value


def flatten(draw: Draw) -> Operation:
    """Draw a flattening of some axes."""
    dims = draw.shape()
    rank = max(1, len(dims))
    start, end = sorted(draw.integers(2, 0, rank - 1))
    return FlattenOp(
        value(draw.one_of(ELEMENTS), dims),
        start_dim=start - draw.one_of((0, rank)),
        end_dim=end - draw.one_of((0, rank)),
    )


def reshape(draw: Draw) -> Operation:
    """Draw a change of shape."""
    dims = draw.shape()
    return ReshapeOp(value(draw.one_of(ELEMENTS), dims), shape=draw.permuted(dims))


def cat(draw: Draw) -> Operation:
    """Draw a concatenation."""
    dims, element = draw.shape(least=1), draw.one_of(ELEMENTS)
    axis = draw.integer(0, len(dims) - 1)
    inputs = [
        value(element, [*dims[:axis], size, *dims[axis + 1 :]])
        for size in draw.shape(draw.integer(1, 4))
    ]
    return CatOp(inputs, dim=axis - draw.one_of((0, len(dims))))


def transpose(draw: Draw) -> Operation:
    """Draw a permutation of axes."""
    dims = draw.shape()
    order = draw.permuted(range(len(dims)))
    return TransposeOp(value(draw.one_of(ELEMENTS), dims), permutation=order)


def broadcast_to(draw: Draw) -> Operation:
    """Draw a spreading over axes."""
    full = draw.shape()
    small = [size if draw.chance() else 1 for size in full][draw.integer(0, 4) :]
    return BroadcastToOp(value(draw.one_of(ELEMENTS), small), shape=full)


def tile(draw: Draw) -> Operation:
    """Draw a repetition, of which none is one."""
    dims = draw.shape()
    repeats = draw.integers(len(dims), 0, 3)
    return TileOp(value(draw.one_of(ELEMENTS), dims), repeats=repeats)


def reverse(draw: Draw) -> Operation:
    """Draw a reversal of some axes."""
    dims = draw.shape()
    axes = [axis for axis in draw.permuted(range(len(dims))) if draw.chance()]
    signed = [axis - draw.one_of((0, len(dims))) for axis in axes]
    return ReverseOp(value(draw.one_of(ELEMENTS), dims), axes=signed)


def _box(draw: Draw, dims: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Return offsets, sizes and positive strides of a box inside a shape."""
    offsets = [draw.integer(0, size - 1) for size in dims]
    strides = draw.integers(len(dims), 1, 3)
    most = [
        (size - 1 - offset) // stride + 1
        for size, offset, stride in zip(dims, offsets, strides, strict=True)
    ]
    return offsets, [draw.integer(0, count) for count in most], strides


def slice_of(draw: Draw) -> Operation:
    """Draw a slice, which goes backwards along some axes, and may be empty."""
    dims = draw.shape()
    offsets, sizes, strides = _box(draw, dims)
    for axis, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        if size and draw.chance():
            offsets[axis], strides[axis] = offset + (size - 1) * stride, -stride
    input = value(draw.one_of(ELEMENTS), dims)
    return SliceOp(input, offsets=offsets, sizes=sizes, strides=strides)


def insert_slice(draw: Draw) -> Operation:
    """Draw a slice that is written over."""
    dims, element = draw.shape(), draw.one_of(ELEMENTS)
    offsets, sizes, strides = _box(draw, dims)
    update = value(element, sizes)
    return InsertSliceOp(value(element, dims), update, offsets=offsets, strides=strides)


def pad(draw: Draw) -> Operation:
    """Draw a padding of any mode; one by a constant may take elements away."""
    dims, element = draw.shape(), draw.one_of(ELEMENTS)
    mode = draw.one_of(PadOp.MODES)
    constant = mode == "constant"
    limits = {"reflect": [size - 1 for size in dims], "circular": dims}.get(mode, [3] * len(dims))
    low = [draw.integer(-size if constant else 0, limits[i]) for i, size in enumerate(dims)]
    high = [
        draw.integer(-(size + min(0, low[i])) if constant else 0, limits[i])
        for i, size in enumerate(dims)
    ]
    number = draw.number(element.size * 8) if isinstance(element, AnyFloat) else draw.integer(0, 1)
    return PadOp(value(element, dims), low=low, high=high, mode=mode, value=number)


def iota(draw: Draw) -> Operation:
    """Draw a tensor of positions."""
    dims = draw.shape(least=1)
    return IotaOp(TensorType(draw.one_of(NUMBERS), dims), axis=draw.axis(dims))


def tri(draw: Draw) -> Operation:
    """Draw a triangle of each matrix."""
    input = value(draw.one_of(ELEMENTS), draw.shape(least=2))
    return TriOp(input, upper=draw.chance(), diagonal=draw.integer(-7, 7))
