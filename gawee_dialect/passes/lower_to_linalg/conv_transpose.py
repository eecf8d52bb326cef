"""Transposed convolution: a contraction where kernels do not overlap, else a convolution."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.conv import ConvTransposeOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.dialect.window import padding_pairs
from gawee_dialect.passes.lower_to_linalg.contraction import biased, contracted, zeros
from gawee_dialect.passes.lower_to_linalg.conv import (
    convolved,
    joined_axes,
    split_axis,
)
from gawee_dialect.passes.lower_to_linalg.kernel_moves import KernelMoves, scaled
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic
from gawee_dialect.passes.lower_to_linalg.tensors import collapsed
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerConvTranspose(Pattern):
    """gawee.conv_transpose -> linalg.generic (n, f, h, kh, w, kw | c) where stride equals kernel

    Else -> the input between zeros (tensor.insert_slice with strides), then a convolution with the
    kernel turned around.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvTransposeOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        strides, kernel = op.strides.get_values(), tensor_shape(op.weight)[2:]
        apart = strides == kernel and not any(op.output_padding.get_values())
        # A dilation changes nothing about a kernel of one element.
        dense = all(
            size == 1 or dilation == 1
            for size, dilation in zip(kernel, op.dilations.get_values(), strict=True)
        )
        result = _contraction(rewriter, op) if apart and dense else _convolution(rewriter, op)
        rewriter.replace(op, (), [result])


def _contraction(builder: Builder, op: ConvTransposeOp) -> SSAValue:
    """Every result element has one input element: out[n, f, h*K + kh, ...] = sum over c."""
    groups = op.groups.value.data
    input, weight = op.input, op.weight
    batch, _, *spatial = tensor_shape(input)
    _, filters, *kernel = tensor_shape(weight)
    features = [filters] if groups == 1 else [groups, filters]
    if groups > 1:
        input = split_axis(builder, input, 1, groups)
        weight = split_axis(builder, weight, 0, groups)
    blocks = [size for sizes in zip(spatial, kernel, strict=True) for size in sizes]
    type = TensorType(element_type(input), (batch, *features, *blocks))
    first = 1 + len(features)
    init = biased(builder, op.bias, type, range(1, first))
    read, weights = _block_maps(first, len(spatial))
    result = contracted(builder, init, (input, read), (weight, weights), num_reduced=1)
    if groups > 1:
        result = joined_axes(builder, result, 1)
    pairs = [(2 + 2 * axis, 3 + 2 * axis) for axis in range(len(spatial))]
    full = [size * window for size, window in zip(spatial, kernel, strict=True)]
    result = collapsed(builder, result, [(0,), (1,), *pairs], (batch, groups * filters, *full))
    before = [low for low, _ in padding_pairs(op.padding.get_values())]
    return sliced(builder, result, (0, 0, *before), tensor_shape(op.result))


def _block_maps(first: int, axes: int) -> tuple[AffineMap, AffineMap]:
    """Make the maps of input (n, g?, c, h, w) and weight (g?, c, f, kh, kw).

    The loops are (n, g?, f, h, kh, w, kw | c); `first` is the one over h.
    """
    dim = AffineExpr.dimension
    channel = first + 2 * axes
    group = [dim(1)] if first == 3 else []
    positions = [dim(first + 2 * axis) for axis in range(axes)]
    kernel = [dim(first + 2 * axis + 1) for axis in range(axes)]
    read = AffineMap(channel + 1, 0, (dim(0), *group, dim(channel), *positions))
    weights = AffineMap(channel + 1, 0, (*group, dim(channel), dim(first - 1), *kernel))
    return read, weights


def _convolution(builder: Builder, op: ConvTransposeOp) -> SSAValue:
    groups, dilations = op.groups.value.data, op.dilations.get_values()
    type, kernel = tensor_type(op.result), tensor_shape(op.weight)[2:]
    input = _between_zeros(builder, op)
    weight = _turned(builder, op.weight, groups)
    moves = KernelMoves((1,) * len(kernel), dilations)
    return convolved(builder, input, weight, op.bias, type, moves, groups)


def _between_zeros(builder: Builder, op: ConvTransposeOp) -> SSAValue:
    """Spread the input by the strides into the zeros that a convolution to the result reads."""
    reach = [
        dilation * (size - 1)
        for size, dilation in zip(
            tensor_shape(op.weight)[2:], op.dilations.get_values(), strict=True
        )
    ]
    low = [
        size - before
        for size, (before, _) in zip(reach, padding_pairs(op.padding.get_values()), strict=True)
    ]
    sizes = [size + more for size, more in zip(tensor_shape(op.result)[2:], reach, strict=True)]
    shape, strides = tensor_shape(op.input), op.strides.get_values()
    # Padding of more than the kernel's reach cuts off parts of the input: those before the first
    # element that stays, and those behind the last.
    along = list(zip(low, shape[2:], strides, sizes, strict=True))
    first = [max(0, -(start // stride)) for start, _, stride, _ in along]
    counts = [
        min(count, -(-(size - start) // stride)) - skipped
        for (start, count, stride, size), skipped in zip(along, first, strict=True)
    ]
    canvas = zeros(builder, TensorType(element_type(op.input), (*shape[:2], *sizes)))
    if min(counts) <= 0:
        return canvas
    kept = sliced(builder, op.input, (0, 0, *first), (*shape[:2], *counts))
    offsets = [
        start + skipped * stride
        for (start, _, stride, _), skipped in zip(along, first, strict=True)
    ]
    insert = tensor.InsertSliceOp.from_static_parameters(
        kept, canvas, (0, 0, *offsets), tensor_shape(kept), (1, 1, *strides)
    )
    return builder.insert(insert).result


def _turned(builder: Builder, weight: SSAValue, groups: int) -> SSAValue:
    """Turn (g*c, f, kernel...) into (g*f, c, kernel...), the kernel read backwards."""
    _, filters, *kernel = tensor_shape(weight)
    source = split_axis(builder, weight, 0, groups) if groups > 1 else weight
    *group, channels, _ = tensor_shape(source)[: len(tensor_shape(source)) - len(kernel)]
    type = TensorType(element_type(weight), (*group, filters, channels, *kernel))
    rank = type.get_num_dims()
    first = len(group)
    axes = [*range(first), first + 1, first]
    places = [AffineExpr.dimension(axis) for axis in axes]
    backwards = [scaled(first + 2 + axis, -1) + (size - 1) for axis, size in enumerate(kernel)]
    read = AffineMap(rank, 0, (*places, *backwards))

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return args[0]

    turned = generic(builder, type, [(source, read)], body)
    return joined_axes(builder, turned, 0) if groups > 1 else turned


def sliced(
    builder: Builder, source: SSAValue, offsets: Sequence[int], sizes: Sequence[int]
) -> SSAValue:
    """Take a part of a tensor; the tensor itself where that is all of it."""
    if tuple(sizes) == tensor_shape(source):
        return source
    ones = (1,) * len(sizes)
    op = tensor.ExtractSliceOp.from_static_parameters(source, offsets, sizes, ones)
    return builder.insert(op).result
