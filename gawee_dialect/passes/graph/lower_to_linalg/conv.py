"""Convolution to the named convolutions of linalg, or a contraction where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.window import padding_pairs
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.matmul import biased, contracted
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    collapsed,
    expanded,
    padded,
    pair,
    zero,
)
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.upstream import linalg

# Where a kernel that moves over spatial axes reads.


@dataclass(frozen=True)
class KernelMoves:
    """How a kernel moves over spatial axes."""

    strides: Sequence[int]
    dilations: Sequence[int]

    @property
    def axes(self) -> int:
        """The number of spatial axes."""
        return len(self.strides)

    def positions(self, first_out: int, first_kernel: int) -> list[AffineExpr]:
        """Return the input position along each axis, of the loops over results and the kernel."""
        along = enumerate(zip(self.strides, self.dilations, strict=True))
        return [
            scaled(first_out + axis, stride) + scaled(first_kernel + axis, dilation)
            for axis, (stride, dilation) in along
        ]


def scaled(loop: int, factor: int) -> AffineExpr:
    """Make the affine expression of a loop times a constant."""
    dim = AffineExpr.dimension(loop)
    return dim if factor == 1 else dim * factor


class LowerConv(Pattern):
    """gawee.conv -> tensor.pad, then linalg.conv_2d_* onto the broadcast bias (or zeros)

    With one spatial axis or three: linalg.generic (n, g, f, out... | c, kernel...).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        low, high = zip(*padding_pairs(op.padding.get_values()), strict=True)
        outside = zero(rewriter, element_type(op.input))
        input = padded(rewriter, op.input, (0, 0, *low), (0, 0, *high), outside)
        moves = KernelMoves(op.strides.get_values(), op.dilations.get_values())
        groups = op.groups.value.data
        result = convolved(
            rewriter, input, op.weight, op.bias, tensor_type(op.result), moves, groups
        )
        rewriter.replace(op, (), [result])


def convolved(
    builder: Builder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    type: AnyTensor,
    moves: KernelMoves,
    groups: int,
) -> SSAValue:
    """Convolve an input that is padded already: (n, g*c, ...) with (g*f, c, kernel...)."""
    features, channels, *_ = tensor_shape(weight)
    if groups == 1:
        init = biased(builder, bias, type, (1,))
        named = linalg.Conv2DNchwFchwOp
        return _moved(builder, named, input, weight, init, moves, channel_loops=1)
    if features == groups and channels == 1:
        return _depthwise(builder, input, weight, bias, type, moves)
    return _grouped(builder, input, weight, bias, type, moves, groups)


def _depthwise(
    builder: Builder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    type: AnyTensor,
    moves: KernelMoves,
) -> SSAValue:
    """One filter a channel: the weight loses its axis of one channel."""
    features, _, *kernel = tensor_shape(weight)
    axes = [(0, 1), *((2 + axis,) for axis in range(moves.axes))]
    weight = collapsed(builder, weight, axes, (features, *kernel))
    init = biased(builder, bias, type, (1,))
    named = linalg.DepthwiseConv2DNchwChwOp
    return _moved(builder, named, input, weight, init, moves, channel_loops=0)


def _grouped(
    builder: Builder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    type: AnyTensor,
    moves: KernelMoves,
    groups: int,
) -> SSAValue:
    """Channels become (group, channel), filters (group, filter); afterwards they join again."""
    batch, features, *spatial = type.get_shape()
    grouped = TensorType(type.element_type, (batch, groups, features // groups, *spatial))
    input = split_axis(builder, input, 1, groups)
    weight = split_axis(builder, weight, 0, groups)
    init = biased(builder, bias, grouped, (1, 2))
    named = linalg.Conv2DNgchwGfchwOp
    result = _moved(builder, named, input, weight, init, moves, channel_loops=1)
    return joined_axes(builder, result, 1)


def split_axis(builder: Builder, source: SSAValue, axis: int, groups: int) -> SSAValue:
    """Split one axis into (groups, the rest)."""
    shape = list(tensor_shape(source))
    axes = [(index + (index > axis),) for index in range(len(shape))]
    split = [*axes[:axis], (axis, axis + 1), *axes[axis + 1 :]]
    shape[axis : axis + 1] = [groups, shape[axis] // groups]
    return expanded(builder, source, split, shape)


def joined_axes(builder: Builder, source: SSAValue, axis: int) -> SSAValue:
    """Join one axis with the next."""
    shape = list(tensor_shape(source))
    axes = [(index + (index > axis),) for index in range(len(shape) - 1)]
    join = [*axes[:axis], (axis, axis + 1), *axes[axis + 1 :]]
    shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
    return collapsed(builder, source, join, shape)


def named_window(
    builder: Builder,
    named: type[linalg.WindowOp],
    inputs: Sequence[SSAValue],
    init: SSAValue,
    moves: KernelMoves,
) -> SSAValue:
    """Build a named op on images from an input and a window that moves over it."""
    strides, dilations = pair(moves.strides), pair(moves.dilations)
    op = named(inputs, [init], [tensor_type(init)], strides=strides, dilations=dilations)
    return builder.insert(op).res[0]


def _moved(
    builder: Builder,
    named: type[linalg.WindowOp],
    input: SSAValue,
    weight: SSAValue,
    init: SSAValue,
    moves: KernelMoves,
    *,
    channel_loops: int,
) -> SSAValue:
    """Convolve images by a named op, others by a contraction: (n, g?, f?, out... | c?, kernel...).

    A filter has a loop of its own where there is one over channels, else it is the channel.
    """
    if moves.axes == 2:
        return named_window(builder, named, (input, weight), init, moves)
    rank = len(tensor_shape(init))
    first_out, first_kernel = rank - moves.axes, rank + channel_loops
    loops = first_kernel + moves.axes
    dim = AffineExpr.dimension
    channel = [dim(rank)] if channel_loops else []
    groups = [dim(axis) for axis in range(1, first_out - channel_loops)]
    filters = [dim(axis) for axis in range(1, first_out)]
    kernel = [dim(first_kernel + axis) for axis in range(moves.axes)]
    positions = moves.positions(first_out, first_kernel)
    read = AffineMap(loops, 0, (dim(0), *groups, *channel, *positions))
    weights = AffineMap(loops, 0, (*filters, *channel, *kernel))
    reduced = channel_loops + moves.axes
    return contracted(builder, init, (input, read), (weight, weights), num_reduced=reduced)
