"""Random valid ops of the dialect: one function an op.

Ops that put elements elsewhere by what is known of the shapes alone, that compute each element by
itself, that go by indices or by an order that is data, and that go over an image.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.cast import BitcastOp, CastOp
from gawee_dialect.dialect.graph.constant import IotaOp, TriOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import BinaryOp, ElementwiseOp, UnaryOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.logic import CompareOp, WhereOp
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    FlattenOp,
    ReshapeOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.python_value import PythonValueType
from gawee_dialect.dialect.graph.quantization import DequantizeOp, QuantizeOp, axis_map
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.types import BOOLEANS as of_booleans
from gawee_dialect.dialect.types import FLOATS as of_floats
from gawee_dialect.dialect.types import INTEGERS as of_integers
from gawee_dialect.dialect.types import NUMBERS as of_numbers
from gawee_dialect.dialect.types import ElementClass, integer_range, ui8, ui16
from gawee_dialect.fuzz.draw import Draw

FLOATS: tuple[AnyFloat, ...] = (f32, f16, f64)
NUMBERS: tuple[Attribute, ...] = (*FLOATS, i64, i32, i16, i8)
ALL_NUMBERS: tuple[Attribute, ...] = (*NUMBERS, ui16, ui8)
INTEGERS: tuple[Attribute, ...] = (i64, i32, i16, i8, ui16, ui8, i1)
ELEMENTS: tuple[Attribute, ...] = (*NUMBERS, ui8, i1)

Maker: TypeAlias = Callable[[Draw], Operation]
"""Draws an op, whose operands are values without an owner yet."""


def value(element: Attribute, shape: Sequence[int]) -> SSAValue:
    """Return a value of a tensor type; what takes the op puts another in its place."""
    return TestOp(result_types=[TensorType(element, shape)]).results[0]


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


Drawn: TypeAlias = Callable[[Draw], object]


TYPES: Mapping[ElementClass, Sequence[Attribute]] = {
    of_floats: FLOATS,
    of_numbers: ALL_NUMBERS,
    of_integers: INTEGERS,
    of_booleans: (i1,),
}
"""The element types that ops are drawn of."""


def unary(kind: Callable[..., Operation], elements: Sequence[Attribute], **names: Drawn) -> Maker:
    """Return what draws an op of one operand, and what properties it has."""

    def make(draw: Draw) -> Operation:
        input = value(draw.one_of(elements), draw.shape())
        return kind(input, **{name: drawn(draw) for name, drawn in names.items()})

    return make


def binary(kind: Callable[..., Operation], elements: Sequence[Attribute]) -> Maker:
    """Return what draws an op of two operands, one of which is spread over the other."""

    def make(draw: Draw) -> Operation:
        element, full = draw.one_of(elements), draw.shape()
        small = [size if draw.chance() else 1 for size in full][draw.integer(0, 4) :]
        first, second = value(element, full), value(element, small)
        return kind(second, first) if draw.chance() else kind(first, second)

    return make


def makers(kinds: Iterable[type[ElementwiseOp]]) -> Mapping[type[Operation], Maker]:
    """Return what draws each of some ops: their classes say of which types and properties."""
    found: dict[type[Operation], Maker] = {}
    for kind in kinds:
        if issubclass(kind, UnaryOp) and kind is not ClipOp:
            found[kind] = unary(kind, TYPES[kind.ELEMENTS], **_properties(kind))
        elif issubclass(kind, BinaryOp) and kind is not CompareOp:
            found[kind] = binary(kind, TYPES[kind.ELEMENTS])
    return {
        **found,
        **{ClipOp: clip, CompareOp: compare, WhereOp: where, CastOp: cast, BitcastOp: bitcast},
    }


def _properties(kind: type[ElementwiseOp]) -> Mapping[str, Drawn]:
    """Return what draws a value of each property: a variant, or a number."""
    numbers: dict[str, Drawn] = dict.fromkeys(
        kind.get_irdl_definition().properties, lambda draw: draw.number(finite=True)
    )
    if kind.VARIANT:
        numbers[kind.VARIANT] = lambda draw: draw.one_of(list(kind.EQUATION))
    return numbers


def clip(draw: Draw) -> Operation:
    """Draw a clamp with any of its bounds."""
    element = draw.one_of(ALL_NUMBERS)

    def bound() -> float | int | None:
        if draw.chance(0.3):
            return None
        if element in FLOATS:
            return draw.number(finite=True)
        return draw.one_of((draw.integer(-9, 9), draw.integer(-(2**40), 2**40)))

    return ClipOp(value(element, draw.shape()), min=bound(), max=bound())


def compare(draw: Draw) -> Operation:
    """Draw a comparison; the second operand may be spread."""
    element, full = draw.one_of(ELEMENTS), draw.shape()
    second = value(element, full[draw.integer(0, len(full)) :])
    predicate = draw.one_of(list(CompareOp.EQUATION))
    return CompareOp(value(element, full), second, predicate=predicate)


def where(draw: Draw) -> Operation:
    """Draw a choice between a tensor and a scalar."""
    element, full = draw.one_of(ELEMENTS), draw.shape()
    condition = value(i1, full[draw.integer(0, len(full)) :])
    return WhereOp(condition, value(element, full), value(element, []))


def cast(draw: Draw) -> Operation:
    """Draw a conversion of numbers."""
    return CastOp(value(draw.one_of(ELEMENTS), draw.shape()), draw.one_of(ELEMENTS))


def _of_axes(draw: Draw, shape: Sequence[int]) -> tuple[AffineMap, Sequence[int]]:
    """Draw which scale each element has, and the shape of scales."""
    if not shape or draw.chance(0.3):
        return axis_map(len(shape)), ()
    axis, block = draw.integer(0, len(shape) - 1), draw.integer(0, 4)
    map = axis_map(len(shape), axis, block)
    if not block:
        return map, (shape[axis],)
    return map, (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :])


def quantize(draw: Draw) -> Operation:
    """Draw a quantization by one scale, by those of an axis, or by those of blocks."""
    element, shape = draw.one_of((i8, ui8, i16, ui16)), draw.shape()
    map, own = _of_axes(draw, shape)
    zero = value(element, own) if draw.chance() else None
    low, high = integer_range(element)
    ends = sorted(draw.integers(2, low, high)) if draw.chance(0.3) else (None, None)
    scale = value(draw.one_of((f32, f64)), own)
    reciprocal = draw.chance(0.3)
    return QuantizeOp(
        value(f32, shape),
        scale,
        zero,
        element,
        map,
        min=ends[0],
        max=ends[1],
        reciprocal=reciprocal,
    )


def dequantize(draw: Draw) -> Operation:
    """Draw what integers stand for, by scales as those of quantizations."""
    element, shape = draw.one_of((i8, ui8, i16, ui16, i32)), draw.shape()
    map, own = _of_axes(draw, shape)
    zero = value(element, own) if draw.chance() else None
    return DequantizeOp(value(element, shape), value(f32, own), zero, map)


def bitcast(draw: Draw) -> Operation:
    """Draw another reading of the same bits."""
    words: Sequence[tuple[Attribute, Attribute]] = ((f16, i16), (f32, i32), (f64, i64), (i8, i8))
    source, target = draw.permuted(draw.one_of(words))
    return BitcastOp(value(source, draw.shape()), target)


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


@dataclass(frozen=True)
class Window:
    """A window, and spatial sizes that it fits into."""

    kernel: list[int]
    strides: list[int]
    padding: list[int]
    dilations: list[int]
    spatial: list[int]


def window(draw: Draw) -> Window:
    """Draw a window of one to three axes."""
    axes = draw.integer(1, 3)
    kernel, strides, dilations = (draw.integers(axes, 1, 3) for _ in range(3))
    extent = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    padding = [draw.integer(0, size - 1) for size in extent * 2]
    spatial = [size + draw.integer(0, 5) for size in extent]
    return Window(kernel, strides, padding, dilations, spatial)


def conv(draw: Draw) -> Operation:
    """Draw a convolution, grouped or not."""
    over = window(draw)
    groups, channels, filters = draw.integers(3, 1, 3)
    element = draw.one_of(NUMBERS)
    features = groups * filters
    return ConvOp(
        value(element, [draw.size(), groups * channels, *over.spatial]),
        value(element, [features, channels, *over.kernel]),
        value(element, [features]) if draw.chance() else None,
        strides=over.strides,
        padding=over.padding,
        dilations=over.dilations,
        groups=groups,
    )


def conv_transpose(draw: Draw) -> Operation:
    """Draw a transposed convolution."""
    over = window(draw)
    groups, channels, filters = draw.integers(3, 1, 3)
    element = draw.one_of(FLOATS)
    limits = [max(pair) for pair in zip(over.strides, over.dilations, strict=True)]
    return ConvTransposeOp(
        value(element, [draw.size(), groups * channels, *over.spatial]),
        value(element, [groups * channels, filters, *over.kernel]),
        value(element, [groups * filters]) if draw.chance() else None,
        strides=over.strides,
        # Less than half of what a kernel of one element leaves.
        padding=[draw.integer(0, (size - 1) // 2) for size in over.spatial * 2],
        output_padding=[draw.integer(0, limit - 1) for limit in limits],
        dilations=over.dilations,
        groups=groups,
    )


def max_pool(draw: Draw) -> Operation:
    """Draw a pool that takes the largest."""
    over = window(draw)
    return MaxPoolOp(
        value(draw.one_of(NUMBERS), [*draw.shape(2), *over.spatial]),
        kernel=over.kernel,
        strides=over.strides,
        padding=over.padding,
        dilations=over.dilations,
        ceil_mode=draw.chance(),
    )


def avg_pool(draw: Draw) -> Operation:
    """Draw a pool of means."""
    over = window(draw)
    limits = [min(p, k - 1) for p, k in zip(over.padding, over.kernel * 2, strict=True)]
    return AvgPoolOp(
        value(draw.one_of(FLOATS), [*draw.shape(2), *over.spatial]),
        kernel=over.kernel,
        strides=over.strides,
        padding=limits,
        ceil_mode=draw.chance(),
        count_include_pad=draw.chance(),
    )


def adaptive_pool(kind: type[AdAvgPoolOp] | type[AdMaxPoolOp]) -> Maker:
    """Return what draws a pool to a size."""

    def make(draw: Draw) -> Operation:
        axes = draw.integer(1, 3)
        input = value(draw.one_of(FLOATS), draw.shape(2 + axes))
        return kind(input, output_size=draw.shape(axes))

    return make


def grid_sample(draw: Draw) -> Operation:
    """Draw a sampling at positions that are data."""
    element, image = draw.one_of(FLOATS), draw.shape(4)
    return GridSampleOp(
        value(element, image),
        value(element, [image[0], *draw.shape(2), 2]),
        mode=draw.one_of(GridSampleOp.MODES),
        padding_mode=draw.one_of(GridSampleOp.PADDING_MODES),
        align_corners=draw.chance(),
    )


def interpolate(draw: Draw) -> Operation:
    """Draw a resizing; its size may be written beside values that it came from."""
    mode = draw.one_of(list(InterpolateOp.MODES))
    axes = draw.one_of(InterpolateOp.MODES[mode])
    choosing = mode in InterpolateOp.CHOOSING
    python = TestOp(result_types=[PythonValueType()] * 2).results
    scalars = [value(i64, []), value(i64, [])]
    size_from: Sequence[Sequence[SSAValue]] = ((), scalars, python, python[:1])
    return InterpolateOp(
        value(draw.one_of(FLOATS), draw.shape(2 + axes)),
        size=draw.shape(axes),
        mode=mode,
        align_corners=not choosing and draw.chance(),
        float_positions=choosing and draw.chance(),
        scales=tuple(draw.real(0.01, 100) for _ in range(axes)) if draw.chance() else None,
        size_from=draw.one_of(size_from),
    )
