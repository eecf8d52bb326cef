"""Random valid ops of the dialect: for each class what draws one."""

from collections.abc import Callable, Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.graph.along_axis import (
    CumSumOp,
    LogSoftmaxOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.graph.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.dialect.graph.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.graph.grid_sample import GridSampleOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.position import IotaOp, TriOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.graph.reduction import (
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
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.graph.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.graph.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops import arrangements, elementwise, indices, windows
from gawee_dialect.fuzz.random_ops.values import (
    ALL_NUMBERS,
    ELEMENTS,
    FLOATS,
    NUMBERS,
    Maker,
    value,
)
from gawee_dialect.hints import isa

# Random recurrences.


def scan(draw: Draw) -> Operation:
    """Draw a recurrence of up to two states over up to two sequences."""
    element, steps = draw.one_of(FLOATS), draw.size()
    dims, states, sequences = draw.shape(), draw.integer(0, 2), draw.integer(0, 2)
    state, now = TensorType(element, dims), TensorType(element, draw.shape())
    block = Block(arg_types=[*[state] * states, *[now] * sequences])
    following: list[SSAValue] = []
    for index in range(states):
        total = AddOp(block.args[index], block.args[0])
        block.add_op(total)
        following += total.results
    # What is made: what the steps take, and the state as it was before.
    block.add_op(YieldOp(*following, *block.args))
    return ScanOp(
        [value(element, dims) for _ in range(states)],
        [value(element, [steps, *now.get_shape()]) for _ in range(sequences)],
        Region(block),
        steps=steps,
        reverse=draw.chance(),
    )


# Random reductions, and ops that go along one axis.


def reduction(kind: Callable[..., Operation], elements: Sequence[Attribute]) -> Maker:
    """Return what draws a reduction over some axes, or over none."""

    def make(draw: Draw) -> Operation:
        dims = draw.shape()
        axes = draw.permuted(range(len(dims)))[draw.integer(0, len(dims)) :]
        signed = [axis - draw.one_of((0, len(dims))) for axis in axes]
        return kind(value(draw.one_of(elements), dims), axes=signed, keep_dims=draw.chance())

    return make


def along_axis(kind: Callable[..., Operation], elements: Sequence[Attribute], *flags: str) -> Maker:
    """Return what draws an op along one axis, with flags set or not."""

    def make(draw: Draw) -> Operation:
        dims = draw.shape(least=1)
        given = {flag: draw.chance() for flag in flags}
        return kind(value(draw.one_of(elements), dims), axis=draw.axis(dims), **given)

    return make


# Random ops that are products of matrices.


def matmul(draw: Draw) -> Operation:
    """Draw a linear layer."""
    element, lead, features, out = draw.one_of(FLOATS), draw.shape(), draw.size(), draw.size()
    bias = value(element, [out]) if draw.chance() else None
    return MatMulOp(value(element, [*lead, features]), value(element, [out, features]), bias)


def batch_matmul(draw: Draw) -> Operation:
    """Draw products of matrices, whose second operand may have fewer of them."""
    element, leading = draw.one_of(NUMBERS), draw.shape(draw.integer(0, 2))
    rows, inner, features = draw.shape(3)
    transpose_a, transpose_b = draw.chance(), draw.chance()
    a = [inner, rows] if transpose_a else [rows, inner]
    b = [features, inner] if transpose_b else [inner, features]
    return BatchMatMulOp(
        value(element, [*leading, *a]),
        value(element, [*leading[draw.integer(0, 2) :], *b]),
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )


def attention(draw: Draw) -> Operation:
    """Draw an attention, with or without a mask, heads of which may share keys."""
    element = draw.one_of(FLOATS)
    batch, heads, own, queries, keys, width, out = draw.shape(7)
    masks = [value(element, [queries, keys]), value(i1, [batch, 1, 1, keys]), None]
    return AttentionOp(
        value(element, [batch, heads * own, queries, width]),
        value(element, [batch, heads, keys, width]),
        value(element, [batch, heads, keys, out]),
        draw.one_of(masks),
        scale=draw.real(0.01, 100) if draw.chance() else None,
        causal=draw.chance(),
    )


# Random normalizations, with scale and bias or without.


def _epsilon(draw: Draw) -> float:
    return draw.one_of((0.0, 1e-5, 1e-3, draw.real(0, 1), draw.real(0, 1e6)))


def batch_norm(draw: Draw) -> Operation:
    """Draw a normalization by statistics that are weights."""
    element, channels = draw.one_of(FLOATS), draw.size()
    mean, variance, scale, bias = (value(element, [channels]) for _ in range(4))
    return BatchNormOp(
        value(element, [draw.size(), channels, *draw.shape()]),
        mean,
        variance,
        scale if draw.chance() else None,
        bias if draw.chance() else None,
        eps=_epsilon(draw),
    )


def layer_norm(draw: Draw) -> Operation:
    """Draw a normalization of the last axes."""
    element, dims = draw.one_of(FLOATS), draw.shape(least=1)
    rank = draw.integer(1, len(dims))
    scale, bias = (value(element, dims[-rank:]) if draw.chance() else None for _ in range(2))
    input = value(element, dims)
    return LayerNormOp(input, scale, bias, normalized_rank=rank, eps=_epsilon(draw))


def rms_norm(draw: Draw) -> Operation:
    """Draw a normalization by the mean of squares."""
    element, dims = draw.one_of(FLOATS), draw.shape(least=1)
    rank = draw.integer(1, len(dims))
    scale = value(element, dims[-rank:]) if draw.chance() else None
    return RmsNormOp(value(element, dims), scale, normalized_rank=rank, eps=_epsilon(draw))


def group_norm(draw: Draw) -> Operation:
    """Draw a normalization of groups of channels."""
    element, groups, channels = draw.one_of(FLOATS), draw.size(), draw.size()
    size = [groups * channels]
    scale, bias = (value(element, size) if draw.chance() else None for _ in range(2))
    input = value(element, [draw.size(), groups * channels, *draw.shape()])
    return GroupNormOp(input, scale, bias, groups=groups, eps=_epsilon(draw))


# Random constants, and the leftovers of Python that graphs of a tracer have.

LIMITS: Mapping[Attribute, tuple[int, int]] = {
    i64: (-(2**63), 2**63 - 1),
    i32: (-(2**31), 2**31 - 1),
    i16: (-(2**15), 2**15 - 1),
    i8: (-128, 127),
    i1: (0, 1),
}
UNSIGNED = (0, 255)


def constant(draw: Draw) -> Operation:
    """Draw a constant of a few numbers."""
    element, dims = draw.one_of(ELEMENTS), draw.shape()
    few = [_number(draw, element) for _ in range(draw.integer(1, 7))]
    if not any(few):
        few = few[:1]  # the generic form, which is xDSL's, prints zeros of both signs as one
    data = [few[index % len(few)] for index in range(prod(dims))]
    if isinstance(element, AnyFloat):
        floats = DenseIntOrFPElementsAttr.from_list(TensorType(element, dims), data)
        return ConstantOp(floats)
    assert isa(element, IntegerType)
    type = TensorType(element, dims)
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [int(each) for each in data]))


def _number(draw: Draw, element: Attribute) -> float | int:
    if isinstance(element, AnyFloat):
        return draw.number(element.size * 8)
    low, high = LIMITS.get(element, UNSIGNED)
    return draw.one_of((low, high, draw.integer(max(low, -9), min(high, 9))))


def get_attribute(draw: Draw) -> Operation:
    """Draw what Python reads of a tensor."""
    return GetAttrOp(value(f32, draw.shape()), draw.one_of(("shape", "dtype", 'a "b"\n')))


def get_item(draw: Draw) -> Operation:
    """Draw what Python takes out of a value."""
    source = TestOp(result_types=[PythonValueType()]).results[0]
    return GetItemOp(source, draw.one_of(("2", "-1", "slice(2, None, None)", "?")))


OPS: Mapping[type[Operation], Maker] = {
    ConvOp: windows.conv,
    ConvTransposeOp: windows.conv_transpose,
    MatMulOp: matmul,
    BatchMatMulOp: batch_matmul,
    AttentionOp: attention,
    BatchNormOp: batch_norm,
    **elementwise.makers(ELEMENTWISE),
    ReduceMeanOp: reduction(ReduceMeanOp, FLOATS),
    ReduceAnyOp: reduction(ReduceAnyOp, (i1,)),
    ReduceAllOp: reduction(ReduceAllOp, (i1,)),
    ArgMaxOp: along_axis(ArgMaxOp, ALL_NUMBERS, "keep_dims"),
    ArgMinOp: along_axis(ArgMinOp, ALL_NUMBERS, "keep_dims"),
    CumSumOp: along_axis(CumSumOp, ALL_NUMBERS),
    SoftmaxOp: along_axis(SoftmaxOp, FLOATS),
    LogSoftmaxOp: along_axis(LogSoftmaxOp, FLOATS),
    LayerNormOp: layer_norm,
    RmsNormOp: rms_norm,
    GroupNormOp: group_norm,
    ReduceSumOp: reduction(ReduceSumOp, ALL_NUMBERS),
    ReduceMaxOp: reduction(ReduceMaxOp, ALL_NUMBERS),
    ReduceMinOp: reduction(ReduceMinOp, ALL_NUMBERS),
    ReduceProdOp: reduction(ReduceProdOp, ALL_NUMBERS),
    MaxPoolOp: windows.max_pool,
    AvgPoolOp: windows.avg_pool,
    AdAvgPoolOp: windows.adaptive_pool(AdAvgPoolOp),
    AdMaxPoolOp: windows.adaptive_pool(AdMaxPoolOp),
    GridSampleOp: windows.grid_sample,
    InterpolateOp: windows.interpolate,
    IdentityOp: elementwise.unary(IdentityOp, ELEMENTS),
    FlattenOp: arrangements.flatten,
    ReshapeOp: arrangements.reshape,
    CatOp: arrangements.cat,
    TransposeOp: arrangements.transpose,
    BroadcastToOp: arrangements.broadcast_to,
    TileOp: arrangements.tile,
    ReverseOp: arrangements.reverse,
    SliceOp: arrangements.slice_of,
    InsertSliceOp: arrangements.insert_slice,
    PadOp: arrangements.pad,
    GatherOp: indices.gather,
    GatherElementsOp: indices.gather_elements,
    GatherNdOp: indices.gather_nd,
    ScatterElementsOp: indices.scatter_elements,
    ScatterNdOp: indices.scatter_nd,
    IotaOp: arrangements.iota,
    TriOp: arrangements.tri,
    SortOp: indices.sort,
    TopKOp: indices.top_k,
    NonMaxSuppressionOp: indices.non_max_suppression,
    ScanOp: scan,
    ConstantOp: constant,
    GetAttrOp: get_attribute,
    GetItemOp: get_item,
}
"""What draws an op of each class of the dialect."""
