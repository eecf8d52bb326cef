"""Reductions, sums along an axis, and order."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    FoldBatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
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
    ReduceOp,
    ReduceProdOp,
    ReduceSumOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.types import (
    AnyTensor,
    computed_type,
    dtype_name,
    element_type,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.onnx.export.ops.contraction import sizes
from gawee_dialect.frontends.onnx.export.ops.elementwise import ONNX_DTYPES
from gawee_dialect.frontends.onnx.export.registry import (
    ExportedValue,
    Figures,
    Given,
    Nodes,
    exports,
)

FLOAT, HALF = ONNX_DTYPES["float32"], ONNX_DTYPES["float16"]

REDUCTIONS: dict[type[ReduceOp], str] = {
    **{ReduceSumOp: "ReduceSum", ReduceMeanOp: "ReduceMean", ReduceMaxOp: "ReduceMax"},
    **{ReduceMinOp: "ReduceMin", ReduceProdOp: "ReduceProd"},
    **{ReduceAnyOp: "ReduceMax", ReduceAllOp: "ReduceMin"},
}
"""ONNX's names; of booleans the greatest is whether any holds."""


@exports(*REDUCTIONS)
def reduce(nodes: Nodes, op: ReduceOp) -> None:
    """A reduction over some axes; over none it changes nothing"""
    axes = op.axes.get_values()
    if not axes:
        nodes("Identity", [op.input], op.results)
        return
    keep = int(op.keep_dims is not None)
    nodes(REDUCTIONS[type(op)], [op.input, sizes(axes, "axes")], op.results, keepdims=keep)


@exports(ArgMaxOp, ArgMinOp)
def position(nodes: Nodes, op: ArgMaxOp | ArgMinOp) -> None:
    """Where the first extreme is"""
    name = "ArgMax" if isinstance(op, ArgMaxOp) else "ArgMin"
    keep = int(op.keep_dims is not None)
    nodes(name, [op.input], op.results, axis=op.axis.value.data, keepdims=keep)


ALONG: dict[type[Operation], str] = {SoftmaxOp: "Softmax", LogSoftmaxOp: "LogSoftmax"}


@exports(SoftmaxOp, LogSoftmaxOp)
def softmax(nodes: Nodes, op: SoftmaxOp | LogSoftmaxOp) -> None:
    """Exponentials as parts of their sum, or their logarithms"""
    nodes(ALONG[type(op)], [op.input], op.results, axis=op.axis.value.data)


@exports(CumSumOp)
def cumsum(nodes: Nodes, op: CumSumOp) -> None:
    """Running sums along an axis"""
    axis = Figures("axis", np.asarray(op.axis.value.data, np.int64))
    nodes("CumSum", [op.input, axis], op.results)


@exports(TopKOp)
def top_k(nodes: Nodes, op: TopKOp) -> None:
    """The largest or smallest elements, and where they are"""
    k, largest = sizes([op.k.value.data], "k"), int(bool(op.largest.value.data))
    nodes("TopK", [op.input, k], op.results, axis=op.axis.value.data, largest=largest)


@exports(SortOp)
def sort(nodes: Nodes, op: SortOp) -> None:
    """All elements of an axis, the largest or smallest first"""
    axis = op.axis.value.data
    k = sizes([tensor_shape(op.input)[axis]], "k")
    largest = int(bool(op.descending.value.data))
    nodes("TopK", [op.input, k], op.results, axis=axis, largest=largest)


# Normalisations.


def _or_full(
    nodes: Nodes, value: SSAValue | None, like: SSAValue, shape: tuple[int, ...], number: float
) -> SSAValue | ExportedValue:
    """Return an operand that ONNX requires; a constant that changes nothing where there is none."""
    if value is not None:
        return value
    return nodes.constant(np.full(shape, number, dtype_name(element_type(like))))


@exports(BatchNormOp)
def batch_norm(nodes: Nodes, op: BatchNormOp) -> None:
    """Channels moved to mean 0 and variance 1 by given figures"""
    shape = tensor_shape(op.mean)
    scale = _or_full(nodes, op.scale, op.input, shape, 1)
    bias = _or_full(nodes, op.bias, op.input, shape, 0)
    given = [op.input, scale, bias, op.mean, op.variance]
    nodes("BatchNormalization", given, op.results, epsilon=op.eps.value.data)


@exports(FoldBatchNormOp)
def fold_batch_norm(nodes: Nodes, op: FoldBatchNormOp) -> None:
    """Weights times a factor a channel; those of f16 are computed in f32, and rounded once"""
    element = computed_type(element_type(op.weight))
    is_half = element != element_type(op.weight)

    def of(shape: Sequence[int]) -> AnyTensor:
        return TensorType(element, shape)

    def wide(value: SSAValue) -> SSAValue | ExportedValue:
        return nodes("Cast", [value], of(tensor_shape(value)), to=FLOAT) if is_half else value

    def store(name: str, given: Sequence[Given], result: SSAValue) -> None:
        if is_half:
            made = nodes(name, given, of(tensor_shape(result)))
            nodes("Cast", [made], [result], to=HALF)
        else:
            nodes(name, given, [result])

    channels, *others = tensor_shape(op.weight)
    row, per_filter = of([channels]), of([channels, *(1 for _ in others)])
    variance, weight, mean = map(wide, (op.variance, op.weight, op.mean))
    less = ("Neg", [mean]) if op.bias is None else ("Sub", [wide(op.bias), mean])
    centred = nodes(*less, row)
    epsilon, one = (
        nodes.constant(np.asarray(number, dtype_name(element))) for number in (op.eps.value.data, 1)
    )
    root = nodes("Sqrt", [nodes("Add", [variance, epsilon], row)], row)
    factor = nodes("Div", [one if op.scale is None else wide(op.scale), root], row)
    factors = nodes("Reshape", [factor, sizes(per_filter.get_shape(), "shape")], per_filter)
    if op.shift is None:
        store("Mul", [centred, factor], op.folded_bias)
    else:
        scaled = nodes("Mul", [centred, factor], row)
        store("Add", [scaled, wide(op.shift)], op.folded_bias)
    store("Mul", [weight, factors], op.folded_weight)


@exports(GroupNormOp)
def group_norm(nodes: Nodes, op: GroupNormOp) -> None:
    """Groups of channels; as many groups as channels is an instance norm"""
    channels, groups = tensor_shape(op.input)[1], op.groups.value.data
    scale = _or_full(nodes, op.scale, op.input, (channels,), 1)
    bias = _or_full(nodes, op.bias, op.input, (channels,), 0)
    given, epsilon = [op.input, scale, bias], op.eps.value.data
    if groups == channels and len(tensor_shape(op.input)) > 2:
        nodes("InstanceNormalization", given, op.results, epsilon=epsilon)
    else:
        nodes("GroupNormalization", given, op.results, num_groups=groups, epsilon=epsilon)


@exports(LayerNormOp)
def layer_norm(nodes: Nodes, op: LayerNormOp) -> None:
    """The last axes moved to mean 0 and variance 1"""
    rank = op.normalized_rank.value.data
    shape = tensor_shape(op.input)[-rank:]
    scale = _or_full(nodes, op.scale, op.input, shape, 1)
    epsilon = op.eps.value.data
    nodes("LayerNormalization", [op.input, scale, op.bias], op.results, axis=-rank, epsilon=epsilon)


@exports(RmsNormOp)
def rms_norm(nodes: Nodes, op: RmsNormOp) -> None:
    """x over the root of the mean of its squares, as ops that all versions have"""
    type, rank = tensor_type(op.input), op.normalized_rank.value.data
    shape = type.get_shape()
    axes = list(range(len(shape) - rank, len(shape)))
    small: AnyTensor = TensorType(type.element_type, (*shape[:-rank], *[1] * rank))
    squares = nodes("Mul", [op.input, op.input], type)
    mean = nodes("ReduceMean", [squares, sizes(axes, "axes")], small, keepdims=1)
    epsilon = nodes.constant(np.asarray(op.eps.value.data, dtype_name(type.element_type)))
    root = nodes("Sqrt", [nodes("Add", [mean, epsilon], small)], small)
    if op.scale is None:
        nodes("Div", [op.input, root], op.results)
    else:
        nodes("Mul", [nodes("Div", [op.input, root], type), op.scale], op.results)
