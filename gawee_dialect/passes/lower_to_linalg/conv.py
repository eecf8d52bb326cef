"""Convolution to the named convolutions of linalg."""

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.linalg import DepthwiseConv2DNchwChwOp
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.tensors import (
    broadcast,
    collapsed,
    expanded,
    filled,
    padded,
    pair,
    zero,
)
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerConv(Pattern):
    """gawee.conv -> tensor.pad, then linalg.conv_2d_* onto the broadcast bias (or zeros)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        top, left, bottom, right = op.padding.get_values()
        outside = zero(rewriter, element_type(op.input))
        input = padded(rewriter, op.input, (0, 0, top, left), (0, 0, bottom, right), outside)
        groups = op.groups.value.data
        features, weight_channels, _, _ = tensor_shape(op.weight)
        if groups == 1:
            result = _plain(rewriter, op, input)
        elif features == groups and weight_channels == 1:
            result = _depthwise(rewriter, op, input)
        else:
            result = _grouped(rewriter, op, input)
        rewriter.replace(op, (), [result])


def _plain(builder: Builder, op: ConvOp, input: SSAValue) -> SSAValue:
    type = tensor_type(op.result)
    conv = linalg.Conv2DNchwFchwOp(
        [input, op.weight],
        [_accumulator(builder, op, type)],
        [type],
        strides=pair(op.strides.get_values()),
        dilations=pair(op.dilations.get_values()),
    )
    return builder.insert(conv).res[0]


def _depthwise(builder: Builder, op: ConvOp, input: SSAValue) -> SSAValue:
    """One filter a channel: the weight loses its axis of one channel."""
    type = tensor_type(op.result)
    features, _, *kernel = tensor_shape(op.weight)
    weight = collapsed(builder, op.weight, ((0, 1), (2,), (3,)), (features, *kernel))
    conv = DepthwiseConv2DNchwChwOp(
        [input, weight],
        [_accumulator(builder, op, type)],
        [type],
        strides=pair(op.strides.get_values()),
        dilations=pair(op.dilations.get_values()),
    )
    return builder.insert(conv).res[0]


def _grouped(builder: Builder, op: ConvOp, input: SSAValue) -> SSAValue:
    """Channels become (group, channel), filters (group, filter); afterwards they join again."""
    type = tensor_type(op.result)
    groups = op.groups.value.data
    batch, features, *spatial = type.get_shape()
    _, channels, *kernel = tensor_shape(op.weight)
    input_shape = (batch, groups, channels, *tensor_shape(input)[2:])
    weight_shape = (groups, features // groups, channels, *kernel)
    grouped = TensorType(type.element_type, (batch, groups, features // groups, *spatial))
    conv = linalg.Conv2DNgchwGfchwOp(
        [
            expanded(builder, input, ((0,), (1, 2), (3,), (4,)), input_shape),
            expanded(builder, op.weight, ((0, 1), (2,), (3,), (4,)), weight_shape),
        ],
        [_accumulator(builder, op, grouped)],
        [grouped],
        strides=pair(op.strides.get_values()),
        dilations=pair(op.dilations.get_values()),
    )
    result = builder.insert(conv).res[0]
    return collapsed(builder, result, ((0,), (1, 2), (3,), (4,)), type.get_shape())


def _accumulator(builder: Builder, op: ConvOp, type: AnyTensor) -> SSAValue:
    """Make what the convolution adds to: the bias everywhere, zeros where there is none."""
    if op.bias is None:
        return filled(builder, zero(builder, type.element_type), type)
    rank = type.get_num_dims()
    bias = op.bias
    if rank == 5:
        bias = expanded(builder, bias, ((0, 1),), type.get_shape()[1:3])
    return broadcast(builder, bias, type, (0, rank - 2, rank - 1))
