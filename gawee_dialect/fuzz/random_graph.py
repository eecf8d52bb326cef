"""Random graphs of all ops of the dialect: one generator an op, made to fit each other.

What an op needs is made of what is there: a value of its type, or the elements of another value in
the shape that is wanted.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp, TriOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    IndexedOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    FlattenOp,
    IdentityOp,
    ReshapeOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    FoldBatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.graph.quantization import DequantizeOp, QuantizeOp
from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    CumSumOp,
    LogSoftmaxOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.fuzz import random_ops
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.oracle import Oracle
from gawee_dialect.fuzz.random_ops import (
    ALL_NUMBERS,
    ELEMENTS,
    FLOATS,
    NUMBERS,
    Maker,
    value,
)
from gawee_dialect.fuzz.random_pipeline import Depth, Stage, random_pipeline
from gawee_dialect.fuzz.trial import Trial
from gawee_dialect.hints import isa
from gawee_dialect.locations import file_location
from gawee_dialect.passes.insertion import Insertion

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


def fold_batch_norm(draw: Draw) -> Operation:
    """Draw the weight and bias of a layer that takes in a normalization."""
    element, channels = draw.one_of(FLOATS), draw.size()
    bias, mean, variance, scale, shift = (value(element, [channels]) for _ in range(5))
    bias, scale, shift = (each if draw.chance() else None for each in (bias, scale, shift))
    weight = value(element, [channels, *draw.shape()])
    return FoldBatchNormOp(weight, bias, mean, variance, scale, shift, eps=_epsilon(draw))


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
    ConvOp: random_ops.conv,
    ConvTransposeOp: random_ops.conv_transpose,
    MatMulOp: matmul,
    BatchMatMulOp: batch_matmul,
    AttentionOp: attention,
    BatchNormOp: batch_norm,
    **random_ops.makers(ELEMENTWISE),
    ReduceMeanOp: reduction(ReduceMeanOp, FLOATS),
    ReduceAnyOp: reduction(ReduceAnyOp, (i1,)),
    ReduceAllOp: reduction(ReduceAllOp, (i1,)),
    ArgMaxOp: along_axis(ArgMaxOp, ALL_NUMBERS, "keep_dims"),
    ArgMinOp: along_axis(ArgMinOp, ALL_NUMBERS, "keep_dims"),
    CumSumOp: along_axis(CumSumOp, ALL_NUMBERS),
    SoftmaxOp: along_axis(SoftmaxOp, FLOATS),
    LogSoftmaxOp: along_axis(LogSoftmaxOp, FLOATS),
    FoldBatchNormOp: fold_batch_norm,
    LayerNormOp: layer_norm,
    RmsNormOp: rms_norm,
    GroupNormOp: group_norm,
    ReduceSumOp: reduction(ReduceSumOp, ALL_NUMBERS),
    ReduceMaxOp: reduction(ReduceMaxOp, ALL_NUMBERS),
    ReduceMinOp: reduction(ReduceMinOp, ALL_NUMBERS),
    ReduceProdOp: reduction(ReduceProdOp, ALL_NUMBERS),
    MaxPoolOp: random_ops.max_pool,
    AvgPoolOp: random_ops.avg_pool,
    AdAvgPoolOp: random_ops.adaptive_pool(AdAvgPoolOp),
    AdMaxPoolOp: random_ops.adaptive_pool(AdMaxPoolOp),
    GridSampleOp: random_ops.grid_sample,
    InterpolateOp: random_ops.interpolate,
    IdentityOp: random_ops.unary(IdentityOp, ELEMENTS),
    FlattenOp: random_ops.flatten,
    ReshapeOp: random_ops.reshape,
    CatOp: random_ops.cat,
    TransposeOp: random_ops.transpose,
    BroadcastToOp: random_ops.broadcast_to,
    TileOp: random_ops.tile,
    ReverseOp: random_ops.reverse,
    SliceOp: random_ops.slice_of,
    InsertSliceOp: random_ops.insert_slice,
    PadOp: random_ops.pad,
    GatherOp: random_ops.gather,
    GatherElementsOp: random_ops.gather_elements,
    GatherNdOp: random_ops.gather_nd,
    ScatterElementsOp: random_ops.scatter_elements,
    ScatterNdOp: random_ops.scatter_nd,
    QuantizeOp: random_ops.quantize,
    DequantizeOp: random_ops.dequantize,
    IotaOp: random_ops.iota,
    TriOp: random_ops.tri,
    SortOp: random_ops.sort,
    TopKOp: random_ops.top_k,
    NonMaxSuppressionOp: random_ops.non_max_suppression,
    ScanOp: scan,
    ConstantOp: constant,
    GetAttrOp: get_attribute,
    GetItemOp: get_item,
}
"""What draws an op of each class of the dialect."""


KINDS = [kind for kind in OPS if kind not in (GetAttrOp, GetItemOp)]
"""Ops that compute: no level has Python's values."""

COUNTS = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6)
"""How many ops are drawn for a graph: what is wrong with many ops is wrong with few."""

MOST_ELEMENTS = 2000
"""Of a value, so that a graph takes milliseconds."""

FEW_OUTPUTS = 4


def random_graph(draw: Draw, most_elements: int = MOST_ELEMENTS) -> ModuleOp:
    """Draw a module with one function `@main` of some ops, whose arguments are named."""
    graph = _Graph(draw, most_elements)
    for _ in range(draw.one_of(COUNTS)):
        graph.add(OPS[draw.one_of(KINDS)](draw))
    return graph.module()


class _Graph:
    """A function that grows."""

    def __init__(self, draw: Draw, most_elements: int) -> None:
        self._draw, self._most = draw, most_elements
        self._block = Block()
        self._values: list[SSAValue] = []

    def add(self, op: Operation) -> None:
        """Add an op, and what makes its operands; one that is large or of Python is left out."""
        types = [value.type for value in (*op.operands, *op.results)]
        if not all(isa(type, TensorType[Attribute]) and self._is_small(type) for type in types):
            return
        known: dict[SSAValue, SSAValue] = {}
        for index, operand in enumerate(op.operands):
            if operand not in known:
                positions = isinstance(op, IndexedOp) and index == 1
                known[operand] = self._source(operand.type, is_new=positions)
            op.operands[index] = known[operand]
        self._block.add_op(op)
        self._values += op.results

    def _is_small(self, type: TensorType[Attribute]) -> bool:
        return prod(type.get_shape()) <= self._most

    def _append(self, op: Operation) -> SSAValue:
        self._block.add_op(op)
        self._values += op.results
        return op.results[0]

    def _source(self, type: Attribute, *, is_new: bool) -> SSAValue:
        assert isa(type, TensorType[Attribute])
        if is_new or not self._values or self._draw.chance(0.25):
            return self._argument(type)
        same = [each for each in self._values if each.type == type]
        if same:
            return self._draw.one_of(same)
        fitting = [each for each in self._values if _can_become(each.type, type)]
        if not fitting:
            return self._argument(type)
        return self._shaped(self._draw.one_of(fitting), type)

    def _argument(self, type: TensorType[Attribute]) -> SSAValue:
        value = self._block.insert_arg(type, len(self._block.args))
        self._values.append(value)
        return value

    def _shaped(self, value: SSAValue, type: TensorType[Attribute]) -> SSAValue:
        """Put as many elements of a value as a type has into its shape, again and again."""
        count, there = prod(type.get_shape()), prod(tensor_shape(value))
        if _element(value.type) != type.element_type:
            value = self._append(CastOp(value, type.element_type))
        value = self._append(ReshapeOp(value, shape=[there]))
        if there < count:
            value = self._append(TileOp(value, repeats=[-(-count // there)]))
        if prod(tensor_shape(value)) > count:
            value = self._append(SliceOp(value, offsets=[0], sizes=[count], strides=[1]))
        return self._append(ReshapeOp(value, shape=list(type.get_shape())))

    def module(self) -> ModuleOp:
        """Return the module; values without uses are its outputs, the last few of them."""
        made = [value for op in self._block.ops for value in op.results]
        unused = [value for value in made if not any(True for _ in value.uses)]
        return marked_module(self._draw, self._block, unused[-FEW_OUTPUTS:])


def marked_module(draw: Draw, block: Block, outputs: Sequence[SSAValue]) -> ModuleOp:
    """Return a module of a block's ops, whose arguments are inputs or parameters, as is drawn."""
    for line, op in enumerate(block.ops, 1):  # by its place an op is known to a check
        op.location = file_location("random", line, 1)
    block.add_op(ReturnOp(*outputs))
    types = [each.type for each in block.args], [each.type for each in outputs]
    kinds = [draw.one_of(("input", "parameter")) for _ in block.args]
    marks = [_mark(f"gawee.{kind}", f"x{index}") for index, kind in enumerate(kinds)]
    results = [_mark("gawee.output", f"y{index}") for index, _ in enumerate(outputs)]
    function = FuncOp("main", FunctionType.from_lists(*types), Region(block))
    function.arg_attrs, function.res_attrs = ArrayAttr(marks), ArrayAttr(results)
    return ModuleOp([function])


def _mark(kind: str, name: str) -> DictionaryAttr:
    return DictionaryAttr({kind: StringAttr(name)})


def _element(type: Attribute) -> Attribute:
    assert isa(type, TensorType[Attribute])
    return type.element_type


def _can_become(have: Attribute, want: TensorType[Attribute]) -> bool:
    """Whether a value has elements, and they are what is wanted, or floats for floats."""
    assert isa(have, TensorType[Attribute])
    floats: Sequence[Attribute] = FLOATS
    same = have.element_type == want.element_type
    both = have.element_type in floats and want.element_type in floats
    return prod(have.get_shape()) > 0 and (same or both)


# What is drawn: graphs of the dialect, loops, what files add; each with a pipeline and data.


FEW_ELEMENTS = 120
"""Of a value where loops are interpreted, one scalar after another."""


@dataclass(frozen=True)
class Settings:
    """What is done to how many."""

    loops: float = 0.3
    native: float = 0.2
    """Shares that go on to loops, and to machine code."""
    proved: float = 0.1
    checked: float = 0.02
    """Shares of which every pass is proved, or checked by data."""
    passes: Sequence[ModulePass] = ()
    """The pipeline of all, in the place of random ones."""
    insertions: Sequence[Insertion] = ()
    """What goes into random pipelines."""
    oracles: Sequence[Oracle] = ()
    oracle_shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """By an oracle's name, where it is not its own."""

    def asked(self, draw: Draw) -> Sequence[Oracle]:
        """Draw which oracles are asked."""
        shares = self.oracle_shares
        return [each for each in self.oracles if draw.chance(shares.get(each.name, each.share))]


class TrialGenerator(ABC):
    """Draws trials of one kind."""

    name: ClassVar[str]
    what: ClassVar[str]
    """What it draws, as it is said in counts."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Packages that are imported."""
    weight: ClassVar[int] = 1
    """How often it is chosen, beside the others."""

    @abstractmethod
    def trial(self, draw: Draw, settings: Settings) -> Trial:
        """Draw something to try."""


def depth_of(draw: Draw, settings: Settings) -> Depth:
    """Draw how far down a pipeline goes."""
    choice = draw.real(0, 1)
    if choice < settings.native:
        return Depth.NATIVE
    return Depth.LOOPS if choice < settings.native + settings.loops else Depth.TENSORS


def stages_of(draw: Draw, settings: Settings, depth: Depth) -> Sequence[Stage]:
    """Return the user's pipeline, or draw one."""
    if settings.passes:
        return (Stage("the passes", tuple(settings.passes)),)
    return random_pipeline(draw, depth, settings.insertions)


def trial_of(draw: Draw, settings: Settings, module: ModuleOp, stages: Sequence[Stage]) -> Trial:
    """Draw the data of a trial, and how carefully it is looked at."""
    return Trial(
        module,
        stages,
        data_seed=draw.integer(0, 1 << 20),
        whole=draw.chance(),
        proved=draw.chance(settings.proved),
        checked=draw.chance(settings.checked),
    )


class Graphs(TrialGenerator):
    """Graphs of all ops of the dialect."""

    name = "graphs"
    what = "graphs"
    weight = 16

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        depth = depth_of(draw, settings)
        module = random_graph(draw, FEW_ELEMENTS if depth is Depth.LOOPS else MOST_ELEMENTS)
        trial = trial_of(draw, settings, module, stages_of(draw, settings, depth))
        return replace(trial, oracles=settings.asked(draw))
