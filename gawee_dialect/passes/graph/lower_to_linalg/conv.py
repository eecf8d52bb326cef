"""Convolution to the named convolutions of linalg, or a contraction where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.window import padding_pairs, window_extent
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.matmul import biased, contracted, zeros
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    box,
    collapsed,
    empty,
    expanded,
    inserted,
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


# Transposed convolution by phases: results a stride apart are a convolution of the input.
#
# Result s * q + p reads the input at q - j, by the elements s * j + p of the kernel: as many for
# each phase p as the kernel has strides. No product is with a zero that was put between elements.


# Which elements of input and kernel the results of a transposed convolution read along an axis.


@dataclass(frozen=True)
class Blocks:
    """An axis as blocks of one result of each phase, where each phase has as many taps."""

    stride: int
    taps: int
    """Elements of the kernel that each result reads."""
    first: int
    """Where in the input the first block begins to read; below zero where that is outside."""
    blocks: int
    offset: int
    """Where in the first block the first result is."""
    is_moved: bool
    """Whether the second phase of a block reads one element further on than the first."""

    @staticmethod
    def of(kernel: int, stride: int, before: int, results: int) -> "Blocks":
        """Return the blocks of an axis: the stride divides the kernel; `before` is cut off."""
        start, rest = divmod(before, stride)
        is_moved = stride == 2 and rest == 1  # else the first block would be cut in two
        offset, taps = 0 if is_moved else rest, kernel // stride
        blocks = -(-(offset + results) // stride)
        return Blocks(stride, taps, start - taps + 1, blocks, offset, is_moved)

    @property
    def reach(self) -> int:
        """How many elements of the input all blocks read together."""
        return self.blocks + self.taps - 1 + self.is_moved

    def element(self, phase: int, tap: int | None) -> AffineExpr:
        """Return which element of the kernel a phase reads, of the loops over phases and taps."""
        place = scaled(phase, -1) + 1 if self.is_moved else AffineExpr.dimension(phase)
        if tap is None:
            return place
        return place + scaled(tap, -self.stride) + self.stride * (self.taps - 1)


@dataclass(frozen=True)
class Taps:
    """What the results of one phase along an axis read."""

    results: int
    count: int
    """Elements of the kernel that each result reads; 0 where it reads nothing."""
    last: int
    """The last of these elements, which goes with the first element of the input."""
    step: int
    """How far apart in the kernel they are."""
    position: int
    """Where in the input the first result begins to read; below zero where that is outside."""
    dilation: int
    """How far apart in the input the elements are that a result reads."""

    @staticmethod
    def of(phase: int, size: int, kernel: int, stride: int, dilation: int, before: int) -> "Taps":
        """Return the taps of the results `phase`, `phase + stride`, ... of an axis of a size."""
        start, rest = divmod(phase + before, stride)
        found = [tap for tap in indices_of(kernel) if (dilation * tap - rest) % stride == 0]
        results = max(-((phase - size) // stride), 0)
        if not found:
            return Taps(results, 0, 0, 1, start, 1)
        step = found[1] - found[0] if len(found) > 1 else 1
        position = start - (dilation * found[-1] - rest) // stride
        apart = dilation * step // stride if len(found) > 1 else 1
        return Taps(results, len(found), found[-1], step, position, apart)

    @property
    def reach(self) -> int:
        """How many elements of the input all results read together."""
        return self.results + self.dilation * (self.count - 1) if self.count else 0


MOST_PHASES = 9
"""Convolutions of one op: nine are those of a stride of three along two axes."""


class LowerConvTranspose(Pattern):
    """gawee.conv_transpose -> linalg.generic (n, f, h, ph, w, pw | c, i, j) where strides divide
    kernels: all phases in one contraction

    Else -> a convolution for each phase, put a stride apart (tensor.insert_slice).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvTransposeOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        strides, kernel = op.strides.get_values(), tensor_shape(op.weight)[2:]
        # A dilation changes nothing about a kernel of one element.
        alike = all(
            size % stride == 0 and (size == 1 or dilation == 1)
            for size, stride, dilation in zip(
                kernel, strides, op.dilations.get_values(), strict=True
            )
        )
        many = prod(strides) > MOST_PHASES
        by_blocks = (alike and prod(strides) > 1) or many
        result = _contraction(rewriter, op) if by_blocks else _by_phases(rewriter, op)
        rewriter.replace(op, (), [result])


# All phases in one contraction.


def _contraction(builder: Builder, op: ConvTransposeOp) -> SSAValue:
    """out[n, f, s * q + p, ...] = sum over c, i of in[n, c, q + i] * weight[c, f, p, i]"""
    groups, strides = op.groups.value.data, op.strides.get_values()
    weight = _dense(builder, op)
    batch, _, *spatial = tensor_shape(op.input)
    _, filters, *kernel = tensor_shape(weight)
    along = [
        Blocks.of(size, stride, before, results)
        for size, stride, (before, _), results in zip(
            kernel,
            strides,
            padding_pairs(op.padding.get_values()),
            tensor_shape(op.result)[2:],
            strict=True,
        )
    ]
    input = _window(
        builder, op.input, [axis.first for axis in along], [axis.reach for axis in along]
    )
    if input is None:
        return biased(builder, op.bias, tensor_type(op.result), (1,))
    features = [filters] if groups == 1 else [groups, filters]
    if groups > 1:
        input = split_axis(builder, input, 1, groups)
        weight = split_axis(builder, weight, 0, groups)
    first = 1 + len(features)
    weight = _by_residues(builder, weight, first, along)
    blocks = [size for axis in along for size in (axis.blocks, axis.stride)]
    type = TensorType(element_type(input), (batch, *features, *blocks))
    init = biased(builder, op.bias, type, range(1, first))
    read, weights = _block_maps(first, along)
    result = contracted(
        builder,
        init,
        (input, read),
        (weight, weights),
        num_reduced=1 + sum(axis.taps > 1 for axis in along),
    )
    if groups > 1:
        result = joined_axes(builder, result, 1)
    pairs = [(2 + 2 * axis, 3 + 2 * axis) for axis in range(len(spatial))]
    full = [axis.blocks * axis.stride for axis in along]
    result = collapsed(builder, result, [(0,), (1,), *pairs], (batch, groups * filters, *full))
    offsets = [axis.offset for axis in along]
    return sliced(builder, result, (0, 0, *offsets), tensor_shape(op.result))


def _dense(builder: Builder, op: ConvTransposeOp) -> SSAValue:
    """Spread the kernel by its dilations, up to a multiple of the strides."""
    shape, dilations = tensor_shape(op.weight), op.dilations.get_values()
    spread = [window_extent(*pair) for pair in zip(shape[2:], dilations, strict=True)]
    strides = op.strides.get_values()
    sizes = [-(-size // stride) * stride for size, stride in zip(spread, strides, strict=True)]
    if tuple(sizes) == shape[2:]:
        return op.weight
    canvas = zeros(builder, TensorType(element_type(op.weight), (*shape[:2], *sizes)))
    return inserted(builder, op.weight, canvas, [0] * len(shape), (1, 1, *dilations))


def _by_residues(
    builder: Builder, weight: SSAValue, first: int, along: Sequence[Blocks]
) -> SSAValue:
    """Turn (g?, c, f, kernel...) into (g?, c, f, phases..., taps...), taps read backwards.

    `first` is the axis of the kernel; an axis of one tap has no axis for it.
    """
    if all(axis.taps == 1 and not axis.is_moved for axis in along):
        return weight
    shape = tensor_shape(weight)
    several = [axis for axis in along if axis.taps > 1]
    sizes = [*shape[:first], *(axis.stride for axis in along), *(axis.taps for axis in several)]
    loops = iter(range(first + len(along), len(sizes)))
    places = [
        axis.element(first + index, next(loops) if axis.taps > 1 else None)
        for index, axis in enumerate(along)
    ]
    others = [AffineExpr.dimension(axis) for axis in range(first)]
    read = AffineMap(len(sizes), 0, (*others, *places))
    return _picked(builder, weight, sizes, read)


def _block_maps(first: int, along: Sequence[Blocks]) -> tuple[AffineMap, AffineMap]:
    """Make the maps of input (n, g?, c, h, w) and weight (g?, c, f, ph, pw, i, j).

    The loops are (n, g?, f, h, ph, w, pw | c, i, j); `first` is the one over h.
    """
    dim = AffineExpr.dimension
    channel = first + 2 * len(along)
    loops = channel + 1 + sum(axis.taps > 1 for axis in along)
    group = [dim(1)] if first == 3 else []
    taps = iter(range(channel + 1, loops))
    window = [next(taps) if axis.taps > 1 else None for axis in along]
    positions: list[AffineExpr] = []
    for index, (axis, tap) in enumerate(zip(along, window, strict=True)):
        place = dim(first + 2 * index)
        place = place + dim(first + 2 * index + 1) if axis.is_moved else place
        positions.append(place if tap is None else place + dim(tap))
    phases = [dim(first + 2 * axis + 1) for axis in range(len(along))]
    elements = [dim(tap) for tap in window if tap is not None]
    read = AffineMap(loops, 0, (dim(0), *group, dim(channel), *positions))
    weights = AffineMap(loops, 0, (*group, dim(channel), dim(first - 1), *phases, *elements))
    return read, weights


# A convolution for each phase.


def _by_phases(builder: Builder, op: ConvTransposeOp) -> SSAValue:
    type, strides = tensor_type(op.result), op.strides.get_values()
    along = list(
        zip(
            type.get_shape()[2:],
            tensor_shape(op.weight)[2:],
            strides,
            op.dilations.get_values(),
            [before for before, _ in padding_pairs(op.padding.get_values())],
            strict=True,
        )
    )
    phases = list(product(*(indices_of(min(stride, size)) for size, _, stride, _, _ in along)))
    taps = [[Taps.of(p, *axis) for p, axis in zip(phase, along, strict=True)] for phase in phases]
    firsts = [min(axis.position for axis in each) for each in zip(*taps, strict=True)]
    ends = [max(axis.position + axis.reach for axis in each) for each in zip(*taps, strict=True)]
    reaches = [end - first for first, end in zip(firsts, ends, strict=True)]
    input = _window(builder, op.input, firsts, reaches)
    if input is None:
        return biased(builder, op.bias, type, (1,))
    parts = [_phase(builder, op, input, firsts, each) for each in taps]
    if len(parts) == 1:
        return parts[0]
    whole = empty(builder, type)
    for phase, part in zip(phases, parts, strict=True):
        whole = inserted(builder, part, whole, (0, 0, *phase), (1, 1, *strides))
    return whole


def _phase(
    builder: Builder,
    op: ConvTransposeOp,
    input: SSAValue,
    firsts: Sequence[int],
    along: Sequence[Taps],
) -> SSAValue:
    """Convolve the input with the elements of the kernel that the results of one phase read.

    `firsts` are the positions that the input begins with.
    """
    batch, features = tensor_shape(op.result)[:2]
    type = TensorType(element_type(op.input), (batch, features, *(axis.results for axis in along)))
    if not all(axis.count for axis in along):
        return biased(builder, op.bias, type, (1,))
    offsets = [axis.position - first for axis, first in zip(along, firsts, strict=True)]
    sizes = (*tensor_shape(input)[:2], *(axis.reach for axis in along))
    read = sliced(builder, input, (0, 0, *offsets), sizes)
    weight = _turned(builder, op.weight, op.groups.value.data, along)
    moves = KernelMoves((1,) * len(along), [axis.dilation for axis in along])
    return convolved(builder, read, weight, op.bias, type, moves, op.groups.value.data)


def _turned(builder: Builder, weight: SSAValue, groups: int, along: Sequence[Taps]) -> SSAValue:
    """Turn (g*c, f, kernel...) into (g*f, c, taps...), read backwards."""
    source = split_axis(builder, weight, 0, groups) if groups > 1 else weight
    *group, channels, filters = tensor_shape(source)[: -len(along)]
    first = len(group)
    sizes = [*group, filters, channels, *(axis.count for axis in along)]
    axes = [*range(first), first + 1, first]
    places = [AffineExpr.dimension(axis) for axis in axes]
    backwards = [
        scaled(first + 2 + index, -axis.step) + axis.last for index, axis in enumerate(along)
    ]
    read = AffineMap(len(sizes), 0, (*places, *backwards))
    turned = _picked(builder, source, sizes, read)
    return joined_axes(builder, turned, 0) if groups > 1 else turned


# Parts of tensors.


def _picked(builder: Builder, source: SSAValue, sizes: Sequence[int], read: AffineMap) -> SSAValue:
    """Make a tensor of elements of another."""

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return args[0]

    return generic(builder, TensorType(element_type(source), sizes), [(source, read)], body)


def _window(
    builder: Builder, source: SSAValue, firsts: Sequence[int], reaches: Sequence[int]
) -> SSAValue | None:
    """Take some positions of (n, c, ...) along each axis, with zeros where there are none.

    None where none of them is inside.
    """
    batch, channels, *spatial = tensor_shape(source)
    along = list(zip(spatial, firsts, reaches, strict=True))
    starts = [max(0, first) for _, first, _ in along]
    ends = [min(size, first + reach) for size, first, reach in along]
    counts = [end - start for start, end in zip(starts, ends, strict=True)]
    if min(counts) <= 0:
        return None
    kept = sliced(builder, source, (0, 0, *starts), (batch, channels, *counts))
    low = [max(0, -first) for first in firsts]
    high = [max(0, first + reach - size) for size, first, reach in along]
    outside = zero(builder, element_type(source))
    return padded(builder, kept, (0, 0, *low), (0, 0, *high), outside)


def sliced(
    builder: Builder, source: SSAValue, offsets: Sequence[int], sizes: Sequence[int]
) -> SSAValue:
    """Take a part of a tensor; the tensor itself where that is all of it."""
    if tuple(sizes) == tensor_shape(source):
        return source
    ones = (1,) * len(sizes)
    return box(builder, source, offsets, sizes, ones)
