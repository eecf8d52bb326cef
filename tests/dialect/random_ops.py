"""Random valid ops of the dialect, each in a module of its own: one strategy per op class."""

from collections.abc import Callable, Sequence
from math import prod

from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    AnyFloat,
    Attribute,
    DenseIntOrFPElementsAttr,
    ModuleOp,
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
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region, SSAValue

from gawee_dialect.dialect.activation import (
    ClipOp,
    EluOp,
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    SigmoidOp,
    SiluOp,
    SoftplusOp,
)
from gawee_dialect.dialect.along_axis import (
    CumSumOp,
    LogSoftmaxOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.arithmetic import (
    AbsOp,
    Atan2Op,
    CeilOp,
    FloorDivOp,
    FloorOp,
    FmodOp,
    MaximumOp,
    MinimumOp,
    NegOp,
    PowOp,
    ReciprocalOp,
    RemainderOp,
    RoundOp,
    SignOp,
)
from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.attention import AttentionOp
from gawee_dialect.dialect.bitwise import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    LogicalNotOp,
)
from gawee_dialect.dialect.cast import (
    BitcastOp,
    CastOp,
)
from gawee_dialect.dialect.comparison import (
    CompareOp,
    IsNanOp,
    WhereOp,
)
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.elementary import (
    CosOp,
    ErfOp,
    ExpOp,
    Log1pOp,
    LogOp,
    RsqrtOp,
    SinOp,
    TanhOp,
)
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.grid_sample import GridSampleOp
from gawee_dialect.dialect.kernel import YieldOp
from gawee_dialect.dialect.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.normalization import BatchNormOp, GroupNormOp, LayerNormOp, RmsNormOp
from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.position import IotaOp, TriOp
from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.scan import ScanOp
from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.types import ui8, ui16

FLOATS: tuple[AnyFloat, ...] = (f32, f16, f64)
NUMBERS: tuple[Attribute, ...] = (*FLOATS, i64, i32, i16, i8)
ALL_NUMBERS: tuple[Attribute, ...] = (*NUMBERS, ui16, ui8)
INTEGERS: tuple[Attribute, ...] = (i64, i32, i16, i8, ui16, ui8, i1)
ELEMENTS: tuple[Attribute, ...] = (*NUMBERS, ui8, i1)

Draw = st.DrawFn
sizes = st.integers(1, 6)


def value(element: Attribute, shape: Sequence[int]) -> SSAValue:
    """A value of a tensor type, which `module_of` turns into a function argument."""
    return TestOp(result_types=[TensorType(element, shape)]).results[0]


def module_of(op: Operation) -> ModuleOp:
    """A function that takes the op's operands and returns its result."""
    operands = list(dict.fromkeys(op.operands))
    block = Block(arg_types=[operand.type for operand in operands])
    for operand, argument in zip(operands, block.args, strict=True):
        operand.replace_all_uses_with(argument)
    block.add_ops([op, ReturnOp(*op.results)])
    types = [operand.type for operand in operands], [result.type for result in op.results]
    return ModuleOp([FuncOp("main", types, Region(block))])


def shape(draw: Draw, rank: int | None = None, least: int = 0) -> list[int]:
    if rank is None:
        return draw(st.lists(sizes, min_size=least, max_size=4))
    return draw(st.lists(sizes, min_size=rank, max_size=rank))


def window(draw: Draw) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """Kernel, strides, padding, dilations, and spatial sizes that the window fits."""
    axes = draw(st.integers(1, 3))
    kernel, strides, dilations = (draw(st.tuples(*[st.integers(1, 3)] * axes)) for _ in range(3))
    extent = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = [draw(st.integers(0, size - 1)) for size in extent * 2]
    spatial = [e + draw(st.integers(0, 5)) for e in extent]
    return list(kernel), list(strides), pads, list(dilations), spatial


@st.composite
def convs(draw: Draw) -> Operation:
    kernel, strides, padding, dilations, spatial = window(draw)
    groups, channels, filters = (draw(st.integers(1, 3)) for _ in range(3))
    element = draw(st.sampled_from(NUMBERS))
    features = groups * filters
    bias = value(element, [features]) if draw(st.booleans()) else None
    return ConvOp(
        value(element, [draw(sizes), groups * channels, *spatial]),
        value(element, [features, channels, *kernel]),
        bias,
        strides=strides,
        padding=padding,
        dilations=dilations,
        groups=groups,
    )


@st.composite
def conv_transposes(draw: Draw) -> Operation:
    kernel, strides, _, dilations, spatial = window(draw)
    groups, channels, filters = (draw(st.integers(1, 3)) for _ in range(3))
    element = draw(st.sampled_from(FLOATS))
    limits = [max(pair) for pair in zip(strides, dilations, strict=True)]
    bias = value(element, [groups * filters]) if draw(st.booleans()) else None
    return ConvTransposeOp(
        value(element, [draw(sizes), groups * channels, *spatial]),
        value(element, [groups * channels, filters, *kernel]),
        bias,
        strides=strides,
        # Less than half of what a kernel of one element leaves.
        padding=[draw(st.integers(0, (size - 1) // 2)) for size in spatial * 2],
        output_padding=[draw(st.integers(0, limit - 1)) for limit in limits],
        dilations=dilations,
        groups=groups,
    )


@st.composite
def batch_matmuls(draw: Draw) -> Operation:
    element, leading = draw(st.sampled_from(NUMBERS)), draw(st.lists(sizes, max_size=2))
    rows, inner, features = (draw(sizes) for _ in range(3))
    transpose_a, transpose_b = draw(st.booleans()), draw(st.booleans())
    a = [inner, rows] if transpose_a else [rows, inner]
    b = [features, inner] if transpose_b else [inner, features]
    return BatchMatMulOp(
        value(element, [*leading, *a]),
        value(element, [*leading[draw(st.integers(0, 2)) :], *b]),
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )


@st.composite
def attentions(draw: Draw) -> Operation:
    element = draw(st.sampled_from(FLOATS))
    batch, heads, own, queries, keys, width, out = (draw(sizes) for _ in range(7))
    masks = [value(element, [queries, keys]), value(i1, [batch, 1, 1, keys]), None]
    return AttentionOp(
        value(element, [batch, heads * own, queries, width]),
        value(element, [batch, heads, keys, width]),
        value(element, [batch, heads, keys, out]),
        draw(st.sampled_from(masks)),
        scale=draw(st.none() | st.floats(0.01, 100)),
        causal=draw(st.booleans()),
    )


@st.composite
def grid_samples(draw: Draw) -> Operation:
    element, image = draw(st.sampled_from(FLOATS)), shape(draw, 4)
    return GridSampleOp(
        value(element, image),
        value(element, [image[0], *shape(draw, 2), 2]),
        mode=draw(st.sampled_from(GridSampleOp.MODES)),
        padding_mode=draw(st.sampled_from(GridSampleOp.PADDING_MODES)),
        align_corners=draw(st.booleans()),
    )


@st.composite
def matmuls(draw: Draw) -> Operation:
    element = draw(st.sampled_from(FLOATS))
    lead, features, out = shape(draw), draw(sizes), draw(sizes)
    bias = value(element, [out]) if draw(st.booleans()) else None
    return MatMulOp(value(element, [*lead, features]), value(element, [out, features]), bias)


@st.composite
def batch_norms(draw: Draw) -> Operation:
    element = draw(st.sampled_from(FLOATS))
    channels = draw(sizes)
    parameters = [value(element, [channels]) for _ in range(4)]
    scale = parameters[2] if draw(st.booleans()) else None
    bias = parameters[3] if draw(st.booleans()) else None
    eps = draw(st.floats(0, 1e6))
    input = value(element, [draw(sizes), channels, *shape(draw)])
    return BatchNormOp(input, parameters[0], parameters[1], scale, bias, eps=eps)


def unary(op: Callable[[SSAValue], Operation], elements: Sequence[Attribute]):
    @st.composite
    def ops(draw: Draw) -> Operation:
        return op(value(draw(st.sampled_from(elements)), shape(draw)))

    return ops()


def binary(op: Callable[[SSAValue, SSAValue], Operation], elements: Sequence[Attribute]):
    @st.composite
    def ops(draw: Draw) -> Operation:
        element, full = draw(st.sampled_from(elements)), shape(draw)
        small = [size if draw(st.booleans()) else 1 for size in full][draw(st.integers(0, 4)) :]
        operands = [value(element, full), value(element, small)]
        return op(*(reversed(operands) if draw(st.booleans()) else operands))

    return ops()


def with_alpha(op: Callable[..., Operation]):
    @st.composite
    def ops(draw: Draw) -> Operation:
        alpha = draw(st.floats(allow_nan=False, allow_infinity=False))
        return op(value(draw(st.sampled_from(FLOATS)), shape(draw)), alpha=alpha)

    return ops()


@st.composite
def gelus(draw: Draw) -> Operation:
    input = value(draw(st.sampled_from(FLOATS)), shape(draw))
    return GeluOp(input, approximate=draw(st.sampled_from(GeluOp.APPROXIMATIONS)))


@st.composite
def clips(draw: Draw) -> Operation:
    element = draw(st.sampled_from(ALL_NUMBERS))
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    bounds = st.none() | (numbers if element in FLOATS else st.integers(-(2**40), 2**40))
    return ClipOp(value(element, shape(draw)), min=draw(bounds), max=draw(bounds))


@st.composite
def compares(draw: Draw) -> Operation:
    element, full = draw(st.sampled_from(ELEMENTS)), shape(draw)
    operands = value(element, full), value(element, full[draw(st.integers(0, len(full))) :])
    return CompareOp(*operands, predicate=draw(st.sampled_from(list(CompareOp.PREDICATES))))


@st.composite
def wheres(draw: Draw) -> Operation:
    element, full = draw(st.sampled_from(ELEMENTS)), shape(draw)
    condition = value(i1, full[draw(st.integers(0, len(full))) :])
    return WhereOp(condition, value(element, full), value(element, []))


@st.composite
def casts(draw: Draw) -> Operation:
    source, target = (draw(st.sampled_from(ELEMENTS)) for _ in range(2))
    return CastOp(value(source, shape(draw)), target)


@st.composite
def bitcasts(draw: Draw) -> Operation:
    words = st.sampled_from([(f16, i16), (f32, i32), (f64, i64), (i8, i8)])
    source, target = draw(words.flatmap(lambda pair: st.permutations(list(pair))))
    return BitcastOp(value(source, shape(draw)), target)


def reductions(op: Callable[..., Operation], elements: Sequence[Attribute]):
    @st.composite
    def ops(draw: Draw) -> Operation:
        dims = shape(draw)
        axes = draw(st.permutations(range(len(dims))))[draw(st.integers(0, len(dims))) :]
        signed = [axis - draw(st.sampled_from([0, len(dims)])) for axis in axes]
        input = value(draw(st.sampled_from(elements)), dims)
        return op(input, axes=signed, keep_dims=draw(st.booleans()))

    return ops()


def along_axis(op: Callable[..., Operation], elements: Sequence[Attribute], *flags: str):
    @st.composite
    def ops(draw: Draw) -> Operation:
        dims = shape(draw, least=1)
        axis = draw(st.integers(-len(dims), len(dims) - 1))
        given = {flag: draw(st.booleans()) for flag in flags}
        return op(value(draw(st.sampled_from(elements)), dims), axis=axis, **given)

    return ops()


@st.composite
def layer_norms(draw: Draw) -> Operation:
    element, dims = draw(st.sampled_from(FLOATS)), shape(draw, least=1)
    rank = draw(st.integers(1, len(dims)))
    scale, bias = (value(element, dims[-rank:]) if draw(st.booleans()) else None for _ in range(2))
    eps = draw(st.floats(0, 1e6))
    return LayerNormOp(value(element, dims), scale, bias, normalized_rank=rank, eps=eps)


@st.composite
def rms_norms(draw: Draw) -> Operation:
    element, dims = draw(st.sampled_from(FLOATS)), shape(draw, least=1)
    rank = draw(st.integers(1, len(dims)))
    scale = value(element, dims[-rank:]) if draw(st.booleans()) else None
    eps = draw(st.floats(0, 1e6))
    return RmsNormOp(value(element, dims), scale, normalized_rank=rank, eps=eps)


@st.composite
def group_norms(draw: Draw) -> Operation:
    element, groups, channels = draw(st.sampled_from(FLOATS)), draw(sizes), draw(sizes)
    scale, bias = (
        value(element, [groups * channels]) if draw(st.booleans()) else None for _ in range(2)
    )
    input = value(element, [draw(sizes), groups * channels, *shape(draw)])
    return GroupNormOp(input, scale, bias, groups=groups, eps=draw(st.floats(0, 1e6)))


@st.composite
def max_pools(draw: Draw) -> Operation:
    kernel, strides, padding, dilations, spatial = window(draw)
    return MaxPoolOp(
        value(draw(st.sampled_from(NUMBERS)), [*shape(draw, 2), *spatial]),
        kernel=kernel,
        strides=strides,
        padding=padding,
        dilations=dilations,
        ceil_mode=draw(st.booleans()),
    )


@st.composite
def avg_pools(draw: Draw) -> Operation:
    kernel, strides, padding, _, spatial = window(draw)
    limits = [min(p, k - 1) for p, k in zip(padding, kernel * 2, strict=True)]
    return AvgPoolOp(
        value(draw(st.sampled_from(FLOATS)), [*shape(draw, 2), *spatial]),
        kernel=kernel,
        strides=strides,
        padding=limits,
        ceil_mode=draw(st.booleans()),
        count_include_pad=draw(st.booleans()),
    )


@st.composite
def adaptive_pools(draw: Draw, op: type[AdAvgPoolOp] | type[AdMaxPoolOp]) -> Operation:
    axes = draw(st.integers(1, 3))
    return op(
        value(draw(st.sampled_from(FLOATS)), shape(draw, 2 + axes)), output_size=shape(draw, axes)
    )


@st.composite
def interpolates(draw: Draw) -> Operation:
    mode = draw(st.sampled_from(list(InterpolateOp.MODES)))
    axes = draw(st.sampled_from(InterpolateOp.MODES[mode]))
    choosing = mode in InterpolateOp.CHOOSING
    python = TestOp(result_types=[PythonValueType()] * 2).results
    scalars = [value(i64, []), value(i64, [])]
    scale = st.floats(0.01, 100)
    return InterpolateOp(
        value(draw(st.sampled_from(FLOATS)), shape(draw, 2 + axes)),
        size=shape(draw, axes),
        mode=mode,
        align_corners=not choosing and draw(st.booleans()),
        float_positions=choosing and draw(st.booleans()),
        scales=draw(st.none() | st.tuples(*[scale] * axes)),
        size_from=draw(st.sampled_from([(), scalars, python, python[:1]])),
    )


@st.composite
def flattens(draw: Draw) -> Operation:
    dims = shape(draw)
    rank = max(1, len(dims))
    start, end = sorted(draw(st.tuples(*[st.integers(0, rank - 1)] * 2)))
    return FlattenOp(
        value(draw(st.sampled_from(ELEMENTS)), dims),
        start_dim=start - draw(st.sampled_from([0, rank])),
        end_dim=end - draw(st.sampled_from([0, rank])),
    )


@st.composite
def reshapes(draw: Draw) -> Operation:
    dims = shape(draw)
    return ReshapeOp(
        value(draw(st.sampled_from(ELEMENTS)), dims), shape=draw(st.permutations(dims))
    )


@st.composite
def cats(draw: Draw) -> Operation:
    dims, element = shape(draw, least=1), draw(st.sampled_from(ELEMENTS))
    axis = draw(st.integers(0, len(dims) - 1))
    inputs = [
        value(element, [*dims[:axis], size, *dims[axis + 1 :]])
        for size in draw(st.lists(sizes, min_size=1, max_size=4))
    ]
    return CatOp(inputs, dim=axis - draw(st.sampled_from([0, len(dims)])))


def axis_of(draw: Draw, dims: Sequence[int]) -> int:
    """An axis of a shape, counted from either end."""
    return draw(st.integers(-len(dims), len(dims) - 1))


@st.composite
def transposes(draw: Draw) -> Operation:
    dims = shape(draw)
    order = draw(st.permutations(range(len(dims))))
    return TransposeOp(value(draw(st.sampled_from(ELEMENTS)), dims), permutation=order)


@st.composite
def broadcasts(draw: Draw) -> Operation:
    full = shape(draw)
    small = [size if draw(st.booleans()) else 1 for size in full][draw(st.integers(0, 4)) :]
    return BroadcastToOp(value(draw(st.sampled_from(ELEMENTS)), small), shape=full)


@st.composite
def tiles(draw: Draw) -> Operation:
    dims = shape(draw)
    repeats = [draw(st.integers(0, 3)) for _ in dims]
    return TileOp(value(draw(st.sampled_from(ELEMENTS)), dims), repeats=repeats)


@st.composite
def reverses(draw: Draw) -> Operation:
    dims = shape(draw)
    axes = draw(st.lists(st.integers(0, len(dims) - 1), unique=True)) if dims else []
    signed = [axis - draw(st.sampled_from([0, len(dims)])) for axis in axes]
    return ReverseOp(value(draw(st.sampled_from(ELEMENTS)), dims), axes=signed)


def box_of(draw: Draw, dims: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and positive strides of a box inside a shape."""
    offsets = [draw(st.integers(0, size - 1)) for size in dims]
    strides = [draw(st.integers(1, 3)) for _ in dims]
    most = [
        (size - 1 - offset) // stride + 1
        for size, offset, stride in zip(dims, offsets, strides, strict=True)
    ]
    return offsets, [draw(st.integers(0, count)) for count in most], strides


@st.composite
def slices(draw: Draw) -> Operation:
    dims = shape(draw)
    offsets, sizes, strides = box_of(draw, dims)
    for axis, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        if size and draw(st.booleans()):
            offsets[axis], strides[axis] = offset + (size - 1) * stride, -stride
    input = value(draw(st.sampled_from(ELEMENTS)), dims)
    return SliceOp(input, offsets=offsets, sizes=sizes, strides=strides)


@st.composite
def insert_slices(draw: Draw) -> Operation:
    dims, element = shape(draw), draw(st.sampled_from(ELEMENTS))
    offsets, sizes, strides = box_of(draw, dims)
    update = value(element, sizes)
    return InsertSliceOp(value(element, dims), update, offsets=offsets, strides=strides)


@st.composite
def pads(draw: Draw) -> Operation:
    dims, element = shape(draw), draw(st.sampled_from(ELEMENTS))
    mode = draw(st.sampled_from(PadOp.MODES))
    constant = mode == "constant"
    limits = {"reflect": [size - 1 for size in dims], "circular": dims}.get(mode, [3] * len(dims))
    low = [draw(st.integers(-size if constant else 0, limits[i])) for i, size in enumerate(dims)]
    high = [
        draw(st.integers(-(size + min(0, low[i])) if constant else 0, limits[i]))
        for i, size in enumerate(dims)
    ]
    number = st.integers(0, 1)
    if isinstance(element, AnyFloat):
        number = st.floats(width=element.size * 8)
    return PadOp(value(element, dims), low=low, high=high, mode=mode, value=draw(number))


def index_type(draw: Draw) -> Attribute:
    return draw(st.sampled_from([i32, i64]))


@st.composite
def gathers(draw: Draw) -> Operation:
    dims = shape(draw, least=1)
    indices = value(index_type(draw), shape(draw))
    return GatherOp(value(draw(st.sampled_from(ELEMENTS)), dims), indices, axis=axis_of(draw, dims))


def indices_inside(draw: Draw, dims: Sequence[int], axis: int) -> list[int]:
    """The shape of indices that name one axis of a shape and are no larger along the others."""
    inside = [draw(st.integers(1, size)) for size in dims]
    inside[axis] = draw(sizes)
    return inside


@st.composite
def gathers_of_elements(draw: Draw) -> Operation:
    dims = shape(draw, least=1)
    axis = axis_of(draw, dims)
    indices = value(index_type(draw), indices_inside(draw, dims, axis))
    return GatherElementsOp(value(draw(st.sampled_from(ELEMENTS)), dims), indices, axis=axis)


@st.composite
def gathers_nd(draw: Draw) -> Operation:
    dims = shape(draw, least=1)
    batch = draw(st.integers(0, len(dims) - 1))
    named = draw(st.integers(1, len(dims) - batch))
    indices = value(index_type(draw), [*dims[:batch], *shape(draw), named])
    return GatherNdOp(value(draw(st.sampled_from(ELEMENTS)), dims), indices, batch_dims=batch)


@st.composite
def scatters_of_elements(draw: Draw) -> Operation:
    dims, reduction = shape(draw, least=1), draw(st.sampled_from(ScatterElementsOp.REDUCTIONS))
    element = draw(st.sampled_from(ELEMENTS if reduction == "none" else NUMBERS))
    axis = axis_of(draw, dims)
    where = indices_inside(draw, dims, axis)
    indices, updates = value(index_type(draw), where), value(element, where)
    return ScatterElementsOp(value(element, dims), indices, updates, axis=axis, reduction=reduction)


@st.composite
def scatters_nd(draw: Draw) -> Operation:
    dims, reduction = shape(draw, least=1), draw(st.sampled_from(ScatterNdOp.REDUCTIONS))
    element = draw(st.sampled_from(ELEMENTS if reduction == "none" else NUMBERS))
    rows, named = shape(draw), draw(st.integers(1, len(dims)))
    indices = value(index_type(draw), [*rows, named])
    updates = value(element, [*rows, *dims[named:]])
    return ScatterNdOp(value(element, dims), indices, updates, reduction=reduction)


@st.composite
def iotas(draw: Draw) -> Operation:
    dims = shape(draw, least=1)
    return IotaOp(TensorType(draw(st.sampled_from(NUMBERS)), dims), axis=axis_of(draw, dims))


@st.composite
def tris(draw: Draw) -> Operation:
    input = value(draw(st.sampled_from(ELEMENTS)), shape(draw, least=2))
    return TriOp(input, upper=draw(st.booleans()), diagonal=draw(st.integers(-7, 7)))


@st.composite
def sorts(draw: Draw) -> Operation:
    dims = shape(draw, least=1)
    input = value(draw(st.sampled_from(NUMBERS)), dims)
    return SortOp(input, axis=axis_of(draw, dims), descending=draw(st.booleans()))


@st.composite
def non_max_suppressions(draw: Draw) -> Operation:
    dims = shape(draw, least=1)[:3]
    return NonMaxSuppressionOp(value(i1, dims), value(i1, [*dims, dims[-1]]))


@st.composite
def top_ks(draw: Draw) -> Operation:
    dims = shape(draw, least=1)
    axis = axis_of(draw, dims)
    return TopKOp(
        value(draw(st.sampled_from(NUMBERS)), dims),
        k=draw(st.integers(0, dims[axis])),
        axis=axis,
        largest=draw(st.booleans()),
    )


@st.composite
def scans(draw: Draw) -> Operation:
    element, steps = draw(st.sampled_from(FLOATS)), draw(sizes)
    dims, counts = shape(draw), draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    state, now = TensorType(element, dims), TensorType(element, shape(draw))
    block = Block(arg_types=[*[state] * counts[0], *[now] * counts[1]])
    following: list[SSAValue] = []
    for index in range(counts[0]):
        block.add_op(AddOp(block.args[index], block.args[0]))
        following.append(block.ops.last.results[0])
    # What is made: what the steps take, and the state as it was before.
    block.add_op(YieldOp(*following, *block.args))
    return ScanOp(
        [value(element, dims) for _ in range(counts[0])],
        [value(element, [steps, *now.get_shape()]) for _ in range(counts[1])],
        Region(block),
        steps=steps,
        reverse=draw(st.booleans()),
    )


@st.composite
def constants(draw: Draw) -> Operation:
    element, dims = draw(st.sampled_from(ELEMENTS)), shape(draw)
    count = prod(dims)
    if isinstance(element, AnyFloat):
        width = element.size * 8
        numbers = st.floats(width=width)
    else:
        signed = {i64: (-(2**63), 2**63 - 1), i32: (-(2**31), 2**31 - 1), i8: (-128, 127)}
        numbers = st.integers(*signed.get(element, (0, 1) if element == i1 else (0, 255)))
    few = draw(st.lists(numbers, min_size=1, max_size=7))
    if not any(few):
        few = few[:1]  # the generic form, which is xDSL's, prints zeros of both signs as one
    data = [few[index % len(few)] for index in range(count)]
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(element, dims), data))


@st.composite
def getattrs(draw: Draw) -> Operation:
    return GetAttrOp(value(f32, shape(draw)), draw(st.sampled_from(["shape", "dtype", 'a "b"\n'])))


@st.composite
def getitems(draw: Draw) -> Operation:
    source = TestOp(result_types=[PythonValueType()]).results[0]
    return GetItemOp(source, draw(st.sampled_from(["2", "-1", "slice(2, None, None)", "?"])))


OPS: dict[type[Operation], st.SearchStrategy[Operation]] = {
    ConvOp: convs(),
    ConvTransposeOp: conv_transposes(),
    MatMulOp: matmuls(),
    BatchMatMulOp: batch_matmuls(),
    AttentionOp: attentions(),
    BatchNormOp: batch_norms(),
    ReluOp: unary(ReluOp, ALL_NUMBERS),
    SqrtOp: unary(SqrtOp, FLOATS),
    AddOp: binary(AddOp, ALL_NUMBERS),
    SubOp: binary(SubOp, ALL_NUMBERS),
    MulOp: binary(MulOp, ALL_NUMBERS),
    DivOp: binary(DivOp, FLOATS),
    ExpOp: unary(ExpOp, FLOATS),
    LogOp: unary(LogOp, FLOATS),
    Log1pOp: unary(Log1pOp, FLOATS),
    TanhOp: unary(TanhOp, FLOATS),
    ErfOp: unary(ErfOp, FLOATS),
    SinOp: unary(SinOp, FLOATS),
    CosOp: unary(CosOp, FLOATS),
    RsqrtOp: unary(RsqrtOp, FLOATS),
    ReciprocalOp: unary(ReciprocalOp, FLOATS),
    FloorOp: unary(FloorOp, FLOATS),
    CeilOp: unary(CeilOp, FLOATS),
    RoundOp: unary(RoundOp, FLOATS),
    SigmoidOp: unary(SigmoidOp, FLOATS),
    SiluOp: unary(SiluOp, FLOATS),
    HardSigmoidOp: unary(HardSigmoidOp, FLOATS),
    HardSwishOp: unary(HardSwishOp, FLOATS),
    SoftplusOp: unary(SoftplusOp, FLOATS),
    IsNanOp: unary(IsNanOp, FLOATS),
    NegOp: unary(NegOp, ALL_NUMBERS),
    AbsOp: unary(AbsOp, ALL_NUMBERS),
    SignOp: unary(SignOp, ALL_NUMBERS),
    LogicalNotOp: unary(LogicalNotOp, [i1]),
    BitwiseNotOp: unary(BitwiseNotOp, INTEGERS),
    PowOp: binary(PowOp, ALL_NUMBERS),
    MaximumOp: binary(MaximumOp, ALL_NUMBERS),
    MinimumOp: binary(MinimumOp, ALL_NUMBERS),
    RemainderOp: binary(RemainderOp, ALL_NUMBERS),
    FmodOp: binary(FmodOp, ALL_NUMBERS),
    FloorDivOp: binary(FloorDivOp, ALL_NUMBERS),
    Atan2Op: binary(Atan2Op, FLOATS),
    BitwiseAndOp: binary(BitwiseAndOp, INTEGERS),
    BitwiseOrOp: binary(BitwiseOrOp, INTEGERS),
    BitwiseXorOp: binary(BitwiseXorOp, INTEGERS),
    LeakyReluOp: with_alpha(LeakyReluOp),
    EluOp: with_alpha(EluOp),
    GeluOp: gelus(),
    ClipOp: clips(),
    CompareOp: compares(),
    WhereOp: wheres(),
    CastOp: casts(),
    BitcastOp: bitcasts(),
    ReduceMeanOp: reductions(ReduceMeanOp, FLOATS),
    ReduceAnyOp: reductions(ReduceAnyOp, [i1]),
    ReduceAllOp: reductions(ReduceAllOp, [i1]),
    ArgMaxOp: along_axis(ArgMaxOp, ALL_NUMBERS, "keep_dims"),
    ArgMinOp: along_axis(ArgMinOp, ALL_NUMBERS, "keep_dims"),
    CumSumOp: along_axis(CumSumOp, ALL_NUMBERS),
    SoftmaxOp: along_axis(SoftmaxOp, FLOATS),
    LogSoftmaxOp: along_axis(LogSoftmaxOp, FLOATS),
    LayerNormOp: layer_norms(),
    RmsNormOp: rms_norms(),
    GroupNormOp: group_norms(),
    ReduceSumOp: reductions(ReduceSumOp, ALL_NUMBERS),
    ReduceMaxOp: reductions(ReduceMaxOp, ALL_NUMBERS),
    ReduceMinOp: reductions(ReduceMinOp, ALL_NUMBERS),
    ReduceProdOp: reductions(ReduceProdOp, ALL_NUMBERS),
    MaxPoolOp: max_pools(),
    AvgPoolOp: avg_pools(),
    AdAvgPoolOp: adaptive_pools(AdAvgPoolOp),
    AdMaxPoolOp: adaptive_pools(AdMaxPoolOp),
    GridSampleOp: grid_samples(),
    InterpolateOp: interpolates(),
    IdentityOp: unary(IdentityOp, ELEMENTS),
    FlattenOp: flattens(),
    ReshapeOp: reshapes(),
    CatOp: cats(),
    TransposeOp: transposes(),
    BroadcastToOp: broadcasts(),
    TileOp: tiles(),
    ReverseOp: reverses(),
    SliceOp: slices(),
    InsertSliceOp: insert_slices(),
    PadOp: pads(),
    GatherOp: gathers(),
    GatherElementsOp: gathers_of_elements(),
    GatherNdOp: gathers_nd(),
    ScatterElementsOp: scatters_of_elements(),
    ScatterNdOp: scatters_nd(),
    IotaOp: iotas(),
    TriOp: tris(),
    SortOp: sorts(),
    TopKOp: top_ks(),
    NonMaxSuppressionOp: non_max_suppressions(),
    ScanOp: scans(),
    ConstantOp: constants(),
    GetAttrOp: getattrs(),
    GetItemOp: getitems(),
}
"""A strategy for every op class of the dialect."""
