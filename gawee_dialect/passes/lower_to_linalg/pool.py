"""Pooling to the named poolings of linalg, and to a gathering reduction for uneven bins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.dialects.linalg.abstract_ops import PoolingOperation
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.linalg import PoolingNchwMaxOp, PoolingNchwSumOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape, tensor_type
from gawee_dialect.dialect.window import window_extent
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.lower_to_linalg.tensors import (
    empty,
    filled,
    lowest,
    padded,
    pair,
    zero,
)
from gawee_dialect.passes.rewrite_pass import Pattern


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
        """How far the last window reaches past the input's end."""
        last = (self.count - 1) * self.stride - self.before
        return max(0, last + window_extent(self.kernel, self.dilation) - self.size)

    def clip(self, count_padding: bool) -> tuple[int, int]:
        """Return the positions, first and behind the last, that count in a mean."""
        return (-self.before, self.size + self.after) if count_padding else (0, self.size)

    def lengths(self, count_padding: bool) -> set[int]:
        """Return the different numbers of positions that windows count."""
        first, end = self.clip(count_padding)
        starts = (index * self.stride - self.before for index in range(self.count))
        return {min(start + self.kernel, end) - max(start, first) for start in starts}


def windows(op: MaxPoolOp | AvgPoolOp) -> tuple[Window, Window]:
    """Describe a pooling op's windows along height and width."""
    kernel, strides = op.kernel.get_values(), op.strides.get_values()
    dilations = op.dilations.get_values() if isinstance(op, MaxPoolOp) else (1, 1)
    top, left, bottom, right = op.padding.get_values()
    sizes, counts = tensor_shape(op.input)[2:], tensor_shape(op.result)[2:]
    vertical, horizontal = (
        Window(sizes[axis], counts[axis], kernel[axis], strides[axis], *pads, dilations[axis])
        for axis, pads in enumerate(((top, bottom), (left, right)))
    )
    return vertical, horizontal


def _pooled(
    builder: Builder,
    pooling: type[PoolingOperation],
    input: SSAValue,
    type: AnyTensor,
    over: tuple[Window, Window],
    outside: SSAValue,
) -> SSAValue:
    """Pad with `outside` as far as windows reach, and combine each window, starting from it."""
    low = (0, 0, *(window.before for window in over))
    high = (0, 0, *(window.overhang for window in over))
    kernel = [window.kernel for window in over]
    shape_only = empty(builder, TensorType(type.element_type, kernel))
    op = pooling(
        [padded(builder, input, low, high, outside), shape_only],
        [filled(builder, outside, type)],
        [type],
        strides=pair([window.stride for window in over]),
        dilations=pair([window.dilation for window in over]),
    )
    return builder.insert(op).res[0]


def _divided(builder: Builder, total: SSAValue, divisor: Callable[[Scalars], SSAValue]) -> SSAValue:
    """Divide every element by a scalar that may depend on its position."""
    type = tensor_type(total)

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return scalars.divide(args[0], divisor(scalars))

    rank = type.get_num_dims()
    return generic(builder, type, [(total, reads(rank, *range(rank)))], body)


class LowerMaxPool(Pattern):
    """gawee.max_pool -> tensor.pad with the lowest value, then linalg.pooling_nchw_max"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPoolOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        outside = lowest(rewriter, type.element_type)
        result = _pooled(rewriter, PoolingNchwMaxOp, op.input, type, windows(op), outside)
        rewriter.replace(op, (), [result])


class LowerAvgPool(Pattern):
    """gawee.avg_pool -> zero padding, linalg.pooling_nchw_sum, division by what windows count"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AvgPoolOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type, over = tensor_type(op.result), windows(op)
        outside = zero(rewriter, type.element_type)
        total = _pooled(rewriter, PoolingNchwSumOp, op.input, type, over, outside)
        count_padding = bool(op.count_include_pad.value.data)

        def divisor(scalars: Scalars) -> SSAValue:
            return _product(
                scalars,
                type,
                [_window_length(scalars, 2 + i, over[i], count_padding) for i in range(2)],
            )

        rewriter.replace(op, (), [_divided(rewriter, total, divisor)])


def _product(scalars: Scalars, type: AnyTensor, lengths: Sequence[int | SSAValue]) -> SSAValue:
    """Multiply a height and a width, known or computed, to a float of the element type."""
    element = type.element_type
    assert isinstance(element, AnyFloat)
    height, width = lengths
    if isinstance(height, int) and isinstance(width, int):
        return scalars.constant(height * width, element)
    indices = [scalars.index(size) if isinstance(size, int) else size for size in lengths]
    return scalars.index_to_float(scalars.multiply(*indices), element)


def _window_length(
    scalars: Scalars, loop: int, window: Window, count_padding: bool
) -> int | SSAValue:
    """Compute how many positions the window at the current position of a loop counts."""
    lengths = window.lengths(count_padding)
    if len(lengths) == 1:
        return lengths.pop()
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
        """The length of every bin, None where they differ or overlap."""
        return None if self.size % self.count else self.size // self.count

    @property
    def longest(self) -> int:
        """The length of the longest bin."""
        return max(
            -(-(i + 1) * self.size // self.count) - i * self.size // self.count
            for i in range(self.count)
        )

    def bounds(self, scalars: Scalars, loop: int) -> tuple[SSAValue, SSAValue]:
        """Compute where the bin at the current position of a loop starts and ends."""
        size, count = scalars.index(self.size), scalars.index(self.count)
        # floor(i * size / count), and ceil((i + 1) * size / count) without a ceiling.
        scaled = scalars.multiply(scalars.position(loop), size)
        rounded_up = scalars.add(scaled, scalars.index(self.size + self.count - 1))
        return scalars.floor_divide(scaled, count), scalars.floor_divide(rounded_up, count)


class LowerAdAvgPool(Pattern):
    """gawee.ad_avg_pool -> linalg.pooling_nchw_sum over equal bins, or a gathering reduction

    Either is followed by a division by the bin's number of elements.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AdAvgPoolOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type = tensor_type(op.result)
        sizes, counts = tensor_shape(op.input)[2:], type.get_shape()[2:]
        bins = [Bins(size, count) for size, count in zip(sizes, counts, strict=True)]
        height, width = (axis.length for axis in bins)
        if height is not None and width is not None:
            total = _even_sum(rewriter, op.input, type, (height, width))
        else:
            total = _uneven_sum(rewriter, op.input, type, bins)

        def divisor(scalars: Scalars) -> SSAValue:
            lengths = [_bin_length(scalars, 2 + i, axis) for i, axis in enumerate(bins)]
            return _product(scalars, type, lengths)

        rewriter.replace(op, (), [_divided(rewriter, total, divisor)])


def _bin_length(scalars: Scalars, loop: int, bins: Bins) -> int | SSAValue:
    if bins.length is not None:
        return bins.length
    start, end = bins.bounds(scalars, loop)
    return scalars.subtract(end, start)


def _even_sum(
    builder: Builder, input: SSAValue, type: AnyTensor, lengths: tuple[int, int]
) -> SSAValue:
    sizes, counts = tensor_shape(input)[2:], type.get_shape()[2:]
    vertical, horizontal = (
        Window(sizes[i], counts[i], lengths[i], lengths[i], before=0, after=0) for i in range(2)
    )
    outside = zero(builder, type.element_type)
    return _pooled(builder, PoolingNchwSumOp, input, type, (vertical, horizontal), outside)


def _uneven_sum(
    builder: Builder, input: SSAValue, type: AnyTensor, bins: Sequence[Bins]
) -> SSAValue:
    """Walk the longest bin everywhere, and add only what is inside the shorter ones."""
    element = element_type(input)
    walked = empty(builder, TensorType(element, [axis.longest for axis in bins]))
    init = filled(builder, zero(builder, element), type)

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        row, row_inside = _bin_position(scalars, bins[0], 2, 4)
        column, column_inside = _bin_position(scalars, bins[1], 3, 5)
        indices = [scalars.position(0), scalars.position(1), row, column]
        value = scalars.element(input, indices)
        outside = scalars.constant(0, element)
        value = scalars.select(row_inside, value, outside)
        value = scalars.select(column_inside, value, outside)
        return scalars.add(args[-1], value)

    return reduction(builder, init, [(walked, reads(6, 4, 5))], body, num_reduced=2)


def _bin_position(
    scalars: Scalars, bins: Bins, bin_loop: int, inner_loop: int
) -> tuple[SSAValue, SSAValue]:
    """Compute the input position inside a bin, kept inside the input, and whether it counts."""
    start, end = bins.bounds(scalars, bin_loop)
    position = scalars.add(start, scalars.position(inner_loop))
    inside = scalars.less(position, end)
    return scalars.minimum(position, scalars.index(bins.size - 1)), inside
