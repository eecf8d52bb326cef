"""Normalisations."""

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from gawee_dialect.dialect.normalization import BatchNormOp, GroupNormOp, LayerNormOp, RmsNormOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    dtype_name,
    element_type,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.onnx.export.graph import ExportedValue
from gawee_dialect.frontends.onnx.export.ops.contraction import sizes
from gawee_dialect.frontends.onnx.export.registry import Nodes, exports


def _or_full(
    nodes: Nodes, value: SSAValue | None, like: SSAValue, shape: tuple[int, ...], number: float
) -> SSAValue | ExportedValue:
    """Return an operand that ONNX wants; a constant that changes nothing where there is none."""
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
