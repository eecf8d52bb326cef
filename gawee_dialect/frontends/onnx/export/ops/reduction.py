"""Reductions, sums along an axis, and order."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.along_axis import CumSumOp, LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import (
    AnyTensor,
    dtype_name,
    element_type,
    is_float,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.onnx.export.registry import (
    Attribute,
    ExportedValue,
    Figures,
    Given,
    Nodes,
    OpenFigures,
    exports,
)
from gawee_dialect.frontends.op_mapping.registry import Refusal

# Products of matrices, and attention.


def sizes(values: Sequence[int], name: str) -> Figures | OpenFigures:
    """Return integers as an input with known elements, or of sizes that a run knows."""
    if is_open(values):
        return OpenFigures(name, values)
    return Figures(name, np.array(values, np.int64))


@exports(MatMulOp)
def matmul(nodes: Nodes, op: MatMulOp) -> None:
    """Gemm with its second matrix transposed, on rows: other axes are made one"""
    shape, element = tensor_shape(op.input), element_type(op.input)
    operands: list[Given] = [op.weight, op.bias]
    if len(shape) == 2:
        nodes("Gemm", [op.input, *operands], op.results, transB=1)
        return
    rows, columns = prod(shape[:-1]), tensor_shape(op.weight)[0]
    flat: AnyTensor = TensorType(element, (rows, shape[-1]))
    made: AnyTensor = TensorType(element, (rows, columns))
    given = nodes("Reshape", [op.input, sizes((rows, shape[-1]), "shape")], flat)
    product = nodes("Gemm", [given, *operands], made, transB=1)
    nodes("Reshape", [product, sizes(tensor_shape(op.result), "shape")], op.results)


@exports(BatchMatMulOp)
def batch_matmul(nodes: Nodes, op: BatchMatMulOp) -> None:
    """MatMul; what is stored transposed is transposed first"""
    a = op.a if op.transpose_a is None else _swapped(nodes, op.a)
    b = op.b if op.transpose_b is None else _swapped(nodes, op.b)
    if not is_float(element_type(op.a)) and dtype_name(element_type(op.a)) not in INTEGERS:
        raise Refusal("cannot be written as ONNX because of its element type")
    nodes("MatMul", [a, b], op.results)


INTEGERS = ("int32", "int64")
"""The integers that ONNX multiplies matrices of."""


def _swapped(nodes: Nodes, value: SSAValue) -> ExportedValue:
    *batch, rows, columns = tensor_shape(value)
    order = [*range(len(batch)), len(batch) + 1, len(batch)]
    type: AnyTensor = TensorType(element_type(value), (*batch, columns, rows))
    return nodes("Transpose", [value], type, perm=order)


@exports(AttentionOp)
def attention(nodes: Nodes, op: AttentionOp) -> None:
    """softmax(scale * q k^T + mask) v, where all queries see some key and heads are as many"""
    *batch, queries, _ = tensor_shape(op.q)
    keys, element = tensor_shape(op.k)[-2], element_type(op.q)
    mask = op.mask
    if tensor_shape(op.k)[:-2] != tuple(batch):
        raise Refusal("cannot be written as ONNX because its heads are grouped")
    if op.causal is not None or (mask is not None and element_type(mask) != element):
        raise Refusal("cannot be written as ONNX because it leaves keys out")
    scores: AnyTensor = TensorType(element, (*batch, queries, keys))
    product = nodes("MatMul", [op.q, _swapped(nodes, op.k)], scores)
    scale = nodes.constant(np.asarray(op.scale.value.data, dtype_name(element)))
    product = nodes("Mul", [product, scale], scores)
    if mask is not None:
        product = nodes("Add", [product, mask], scores)
    weights = nodes("Softmax", [product], scores, axis=-1)
    nodes("MatMul", [weights, op.v], op.results)


# Convolutions and poolings.


def _window(op: ConvOp | ConvTransposeOp) -> dict[str, Attribute]:
    return {
        "kernel_shape": list(tensor_shape(op.weight)[2:]),
        "strides": list(op.strides.get_values()),
        "pads": list(op.padding.get_values()),
        "dilations": list(op.dilations.get_values()),
        "group": op.groups.value.data,
    }


@exports(ConvOp)
def conv(nodes: Nodes, op: ConvOp) -> None:
    """A convolution"""
    nodes("Conv", [op.input, op.weight, op.bias], op.results, **_window(op))


@exports(ConvTransposeOp)
def conv_transpose(nodes: Nodes, op: ConvTransposeOp) -> None:
    """A transposed convolution"""
    outside = list(op.output_padding.get_values())
    window = {**_window(op), "output_padding": outside}
    nodes("ConvTranspose", [op.input, op.weight, op.bias], op.results, **window)


def _pool(op: MaxPoolOp | AvgPoolOp) -> dict[str, Attribute]:
    return {
        "kernel_shape": list(op.kernel.get_values()),
        "strides": list(op.strides.get_values()),
        "pads": list(op.padding.get_values()),
        "ceil_mode": int(bool(op.ceil_mode.value.data)),
    }


@exports(MaxPoolOp)
def max_pool(nodes: Nodes, op: MaxPoolOp) -> None:
    """The maximum of each window"""
    dilations = list(op.dilations.get_values())
    nodes("MaxPool", [op.input], op.results, **_pool(op), dilations=dilations)


@exports(AvgPoolOp)
def avg_pool(nodes: Nodes, op: AvgPoolOp) -> None:
    """The mean of each window"""
    include = int(bool(op.count_include_pad.value.data))
    nodes("AveragePool", [op.input], op.results, **_pool(op), count_include_pad=include)


@exports(AdAvgPoolOp)
def ad_avg_pool(nodes: Nodes, op: AdAvgPoolOp) -> None:
    """The mean of windows of one size; ONNX has no others"""
    _adaptive(nodes, op, "AveragePool", "GlobalAveragePool")


@exports(AdMaxPoolOp)
def ad_max_pool(nodes: Nodes, op: AdMaxPoolOp) -> None:
    """The maximum of windows of one size; ONNX has no others"""
    _adaptive(nodes, op, "MaxPool", "GlobalMaxPool")


def _adaptive(nodes: Nodes, op: AdAvgPoolOp | AdMaxPoolOp, name: str, whole: str) -> None:
    sizes, wanted = tensor_shape(op.input)[2:], op.output_size.get_values()
    if all(each == 1 for each in wanted):
        nodes(whole, [op.input], op.results)
        return
    window = _even_windows(sizes, wanted)
    nodes(name, [op.input], op.results, kernel_shape=window, strides=window)


def _even_windows(sizes: Sequence[int], wanted: Sequence[int]) -> list[int]:
    if any(size % each for size, each in zip(sizes, wanted, strict=True)):
        raise Refusal(
            f"cannot be written as ONNX because its windows, {list(sizes)} to {list(wanted)}, "
            "differ in size"
        )
    return [size // each for size, each in zip(sizes, wanted, strict=True)]


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
