"""Pooling to the named poolings of linalg, and to a gathering reduction for uneven bins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.pool import (
    AdAvgPoolOp,
    AdMaxPoolOp,
    AvgPoolOp,
    MaxPoolOp,
    longest_bin,
)
from gawee_dialect.dialect.graph.window import padding_pairs, window_extent
from gawee_dialect.dialect.open_size import UNBOUNDED, OpenSize, greatest, indices_of, least
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.conv import KernelMoves, named_window
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import (
    empty,
    filled,
    lowest,
    padded,
    zero,
)
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.upstream.linalg import PoolingNchwMaxOp, PoolingNchwSumOp, WindowOp


@dataclass(frozen=True)
class Window:
    """A window's positions along one axis of `size` elements: `count` of them."""

    size: int
    count: int
    kernel: int
    stride: int
    before: int
    after: int
    dilation: int = 1

    @property
    def overhang(self) -> int:
        """How far the last window reaches past the input's end, at most where that is open."""
        last = (self.count - 1) * self.stride - self.before
        return max(0, greatest(last + window_extent(self.kernel, self.dilation) - self.size))

    def clip(self, count_padding: bool) -> tuple[int, int]:
        """Return the positions, first and behind the last, that count in a mean."""
        return (-self.before, self.size + self.after) if count_padding else (0, self.size)

    def length(self, count_padding: bool) -> int | None:
        """Return how many positions each window counts, None where they differ, or may."""
        first, end = self.clip(count_padding)
        room = end - (self.count - 1) * self.stride + self.before - self.kernel
        if least(room) >= 0 and first <= -self.before:
            return self.kernel
        if isinstance(room, OpenSize) or isinstance(self.count, OpenSize):
            return None
        starts = (index * self.stride - self.before for index in indices_of(self.count))
        lengths = {min(start + self.kernel, end) - max(start, first) for start in starts}
        return lengths.pop() if len(lengths) == 1 else None


@dataclass(frozen=True)
class Combiner:
    """How a pooling combines the elements of a window, and what is neutral to it."""

    named: type[WindowOp]
    """The op for images."""
    combine: Callable[[Scalars, SSAValue, SSAValue], SSAValue]
    neutral: Callable[[Builder, Attribute], SSAValue]


MAXIMUM = Combiner(PoolingNchwMaxOp, Scalars.maximum, lowest)
SUM = Combiner(PoolingNchwSumOp, Scalars.add, zero)


def windows(op: MaxPoolOp | AvgPoolOp) -> list[Window]:
    """Describe a pooling op's windows along each spatial axis."""
    kernel = op.kernel.get_values()
    dilations = op.dilations.get_values() if isinstance(op, MaxPoolOp) else (1,) * len(kernel)
    along = zip(
        tensor_shape(op.input)[2:],
        tensor_shape(op.result)[2:],
        kernel,
        op.strides.get_values(),
        padding_pairs(op.padding.get_values()),
        dilations,
        strict=True,
    )
    return [
        Window(size, count, width, stride, before, after, dilation)
        for size, count, width, stride, (before, after), dilation in along
    ]


def _pooled(
    builder: Builder,
    combiner: Combiner,
    input: SSAValue,
    type: AnyTensor,
    over: Sequence[Window],
) -> SSAValue:
    """Pad with what is neutral as far as windows reach, and combine each window."""
    outside = combiner.neutral(builder, type.element_type)
    low = (0, 0, *(window.before for window in over))
    high = (0, 0, *(window.overhang for window in over))
    shape_only = empty(builder, TensorType(type.element_type, [window.kernel for window in over]))
    input = padded(builder, input, low, high, outside)
    init = filled(builder, outside, type)
    moves = KernelMoves([axis.stride for axis in over], [axis.dilation for axis in over])
    if len(over) != 2:
        return _pooled_loops(builder, combiner, input, shape_only, init, moves)
    return named_window(builder, combiner.named, (input, shape_only), init, moves)


def _pooled_loops(
    builder: Builder,
    combiner: Combiner,
    input: SSAValue,
    shape_only: SSAValue,
    init: SSAValue,
    moves: KernelMoves,
) -> SSAValue:
    """Combine by loops (n, c, out... | kernel...), as the named ops for images do."""
    rank = len(tensor_shape(init))
    outer = (AffineExpr.dimension(0), AffineExpr.dimension(1))
    positions = moves.positions(2, rank)
    read = AffineMap(rank + moves.axes, 0, (*outer, *positions))
    inputs = [
        (input, read),
        (shape_only, reads(rank + moves.axes, *range(rank, rank + moves.axes))),
    ]

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return combiner.combine(scalars, args[-1], args[0])

    return reduction(builder, init, inputs, body, num_reduced=moves.axes)


def _divided(builder: Builder, total: SSAValue, divisor: Callable[[Scalars], SSAValue]) -> SSAValue:
    """Divide every element by a scalar that may depend on its position."""
    type = tensor_type(total)

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return scalars.divide(args[0], divisor(scalars))

    rank = type.get_num_dims()
    return generic(builder, type, [(total, reads(rank, *range(rank)))], body)


class LowerMaxPool(Pattern):
    """gawee.max_pool -> tensor.pad with the lowest value, then linalg.pooling_nchw_max

    With one spatial axis or three: linalg.generic (n, c, out... | kernel...).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPoolOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        result = _pooled(rewriter, MAXIMUM, op.input, tensor_type(op.result), windows(op))
        rewriter.replace(op, (), [result])


class LowerAvgPool(Pattern):
    """gawee.avg_pool -> zero padding, linalg.pooling_nchw_sum, division by what windows count

    With one spatial axis or three: linalg.generic (n, c, out... | kernel...) for the sum.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AvgPoolOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type, over = tensor_type(op.result), windows(op)
        total = _pooled(rewriter, SUM, op.input, type, over)
        count_padding = bool(op.count_include_pad.value.data)

        def divisor(scalars: Scalars) -> SSAValue:
            lengths = [
                _window_length(scalars, loop, window, count_padding)
                for loop, window in enumerate(over, 2)
            ]
            return _product(scalars, type, lengths)

        rewriter.replace(op, (), [_divided(rewriter, total, divisor)])


def _product(scalars: Scalars, type: AnyTensor, lengths: Sequence[int | SSAValue]) -> SSAValue:
    """Multiply lengths, known or computed, to a float of the element type."""
    element = type.element_type
    assert isinstance(element, AnyFloat)
    known = prod(size for size in lengths if isinstance(size, int))
    computed = [size for size in lengths if not isinstance(size, int)]
    if not computed:
        return scalars.constant(known, element)
    total = reduce(scalars.multiply, computed)
    if known != 1:
        total = scalars.multiply(scalars.index(known), total)
    return scalars.index_to_float(total, element)


def _window_length(
    scalars: Scalars, loop: int, window: Window, count_padding: bool
) -> int | SSAValue:
    """Compute how many positions the window at the current position of a loop counts."""
    length = window.length(count_padding)
    if length is not None:
        return length
    first, end = window.clip(count_padding)
    stride, before = scalars.index(window.stride), scalars.index(window.before)
    start = scalars.subtract(scalars.multiply(scalars.position(loop), stride), before)
    stop = scalars.minimum(scalars.add(start, scalars.index(window.kernel)), scalars.index(end))
    return scalars.subtract(stop, scalars.maximum(start, scalars.index(first)))


@dataclass(frozen=True)
class Bins:
    """The bins of adaptive pooling along one axis: `count` of them over `size` elements."""

    size: int
    count: int

    @property
    def length(self) -> int | None:
        """The length of every bin, None where they differ or overlap, and where it is open."""
        if isinstance(self.size, OpenSize) or self.size % self.count:
            return None
        return self.size // self.count

    @property
    def longest(self) -> int:
        """The length of the longest bin, or more: that of the greatest size where it is open."""
        if not isinstance(self.size, OpenSize):
            return longest_bin(self.size, self.count)
        most = greatest(self.size)
        if most >= UNBOUNDED:
            raise self.size.refused()
        return -(-most // self.count) + 1

    def bounds(self, scalars: Scalars, loop: int) -> tuple[SSAValue, SSAValue]:
        """Compute where the bin at the current position of a loop starts and ends."""
        size, count = scalars.index(self.size), scalars.index(self.count)
        # floor(i * size / count), and ceil((i + 1) * size / count) without a ceiling.
        scaled = scalars.multiply(scalars.position(loop), size)
        rounded_up = scalars.add(scaled, scalars.index(self.size + self.count - 1))
        return scalars.floor_divide(scaled, count), scalars.floor_divide(rounded_up, count)


def _bins(op: AdAvgPoolOp | AdMaxPoolOp) -> list[Bins]:
    along = zip(tensor_shape(op.input)[2:], tensor_shape(op.result)[2:], strict=True)
    return [Bins(size, count) for size, count in along]


def _combined_bins(
    builder: Builder, combiner: Combiner, input: SSAValue, type: AnyTensor, bins: Sequence[Bins]
) -> SSAValue:
    """Combine the elements of every bin: by windows where bins are even, else by gathering."""
    lengths = [axis.length for axis in bins if axis.length is not None]
    if len(lengths) < len(bins):
        return _uneven(builder, combiner, input, type, bins)
    over = [
        Window(axis.size, axis.count, length, length, before=0, after=0)
        for axis, length in zip(bins, lengths, strict=True)
    ]
    return _pooled(builder, combiner, input, type, over)


class LowerAdAvgPool(Pattern):
    """gawee.ad_avg_pool -> linalg.pooling_nchw_sum over equal bins, or a gathering reduction

    Either is followed by a division by the bin's number of elements.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AdAvgPoolOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type, bins = tensor_type(op.result), _bins(op)
        total = _combined_bins(rewriter, SUM, op.input, type, bins)

        def divisor(scalars: Scalars) -> SSAValue:
            lengths = [_bin_length(scalars, loop, axis) for loop, axis in enumerate(bins, 2)]
            return _product(scalars, type, lengths)

        rewriter.replace(op, (), [_divided(rewriter, total, divisor)])


class LowerAdMaxPool(Pattern):
    """gawee.ad_max_pool -> linalg.pooling_nchw_max over equal bins, or a gathering reduction"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AdMaxPoolOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        rewriter.replace(op, (), [_combined_bins(rewriter, MAXIMUM, op.input, type, _bins(op))])


def _bin_length(scalars: Scalars, loop: int, bins: Bins) -> int | SSAValue:
    if bins.length is not None:
        return bins.length
    start, end = bins.bounds(scalars, loop)
    return scalars.subtract(end, start)


def _uneven(
    builder: Builder, combiner: Combiner, input: SSAValue, type: AnyTensor, bins: Sequence[Bins]
) -> SSAValue:
    """Walk the longest bin everywhere, and combine only what is inside the shorter ones."""
    element, rank = element_type(input), type.get_num_dims()
    loops = rank + len(bins)
    walked = empty(builder, TensorType(element, [axis.longest for axis in bins]))
    outside = combiner.neutral(builder, element)
    init = filled(builder, outside, type)

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        places = [
            _bin_position(scalars, bins[axis], 2 + axis, rank + axis) for axis in range(len(bins))
        ]
        outer = [scalars.position(0), scalars.position(1)]
        value = scalars.element(input, [*outer, *(position for position, _ in places)])
        neutral = combiner.neutral(scalars.builder, element)
        for _, inside in places:
            value = scalars.select(inside, value, neutral)
        return combiner.combine(scalars, args[-1], value)

    inputs = [(walked, reads(loops, *range(rank, loops)))]
    return reduction(builder, init, inputs, body, num_reduced=len(bins))


def _bin_position(
    scalars: Scalars, bins: Bins, bin_loop: int, inner_loop: int
) -> tuple[SSAValue, SSAValue]:
    """Compute the input position inside a bin, kept inside the input, and whether it counts."""
    start, end = bins.bounds(scalars, bin_loop)
    position = scalars.add(start, scalars.position(inner_loop))
    inside = scalars.less(position, end)
    return scalars.minimum(position, scalars.index(bins.size - 1)), inside
