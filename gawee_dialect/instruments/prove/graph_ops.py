"""Ops of graphs on exact numbers.

Ops that say what they compute by NumPy's functions mean the same of exact numbers. Here are those
whose meaning makes arrays of its own: windows, paddings, constants.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.pool import AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.window import padding_pairs, window_extent, window_shape
from gawee_dialect.instruments.prove.arithmetic import add, divide, matmul, maximum
from gawee_dialect.instruments.prove.numbers import (
    Numbers,
    as_array,
    numbers,
)
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.resize import counted, interpolate
from gawee_dialect.interpreter.gawee.windows import conv as conv_of_arrays
from gawee_dialect.interpreter.gawee.windows import conv_transpose as conv_transpose_of_arrays
from gawee_dialect.interpreter.gawee.windows import max_pool as max_pool_of_arrays
from gawee_dialect.interpreter.gawee.windows import padded, window_lengths, windows

COLUMN_ELEMENTS = 1 << 21
"""The most numbers that are gathered into matrix columns at once (64 MB)."""


def surrounded(
    input: Numbers,
    padding: Sequence[int],
    outside: float,
    window: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]] | None = None,
) -> Numbers:
    """Surround (n, c, spatial...) with zeros, or with an infinity (see `padded`)."""
    value = padded(input.value, padding, outside, window)
    residues = (padded(part, padding, 0, window) for part in input.residues)
    return Numbers(np.stack([value, *residues]).astype(np.float64, copy=False), input.dtype)


def numbers_in_windows(
    input: Numbers, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Numbers:
    """View (n, c, spatial...) as (n, c, out..., kernel...)."""
    together = input.data.reshape(4 * input.shape[0], *input.shape[1:])
    view = windows(together, kernel, strides, dilations).view(np.float64)
    return Numbers(view.reshape(4, input.shape[0], *view.shape[1:]), input.dtype)


def conv(
    input: Numbers,
    weight: Numbers,
    bias: Numbers | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> Numbers:
    """Convolve (n, g*c, spatial...) with (g*f, c, kernel...) to (n, g*f, out...)."""
    axes = len(strides)
    kernel = weight.shape[2:]
    view = numbers_in_windows(surrounded(input, padding, 0), kernel, strides, dilations)
    batch, out = view.shape[0], view.shape[2 : 2 + axes]
    features, depth = weight.shape[0], prod(weight.shape[1:])
    by_group = view.reshape(batch, groups, weight.shape[1], *view.shape[2:])
    order = (0, 1, 2, *range(3 + axes, 3 + 2 * axes), *range(3, 3 + axes))
    ordered = by_group.transpose(order)
    matrix = weight.reshape(groups, features // groups, depth)
    rows = max(1, COLUMN_ELEMENTS // max(1, batch * groups * depth * prod(out[1:])))
    result = Numbers(np.empty((4, batch, groups, features // groups, *out)), input.dtype)
    for start in range(0, out[0], rows):
        part = ordered[(*(slice(None),) * (3 + axes), slice(start, start + rows))]
        sums = matmul(matrix, part.reshape(batch, groups, depth, -1))
        result[:, :, :, start : start + rows] = sums.reshape(*sums.shape[:3], -1, *out[1:])
    return _with_bias(result.reshape(batch, features, *out), bias)


def _with_bias(result: Numbers, bias: Numbers | None) -> Numbers:
    if bias is None:
        return result
    return add(result, bias.reshape(-1, *(1 for _ in result.shape[2:])))


def conv_transpose(
    input: Numbers,
    weight: Numbers,
    bias: Numbers | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> Numbers:
    """Convolve transposed (n, g*c, spatial...) with (g*c, f, kernel...) to (n, g*f, out...)."""
    batch, channels, *spatial = input.shape
    filters, kernel = weight.shape[1], weight.shape[2:]
    columns = input.reshape(batch, groups, channels // groups, prod(spatial))
    by_group = weight.reshape(groups, channels // groups, filters, *kernel)
    along = zip(spatial, kernel, strides, dilations, output_padding, strict=True)
    full = [
        (size - 1) * stride + window_extent(window, dilation) + extra
        for size, window, stride, dilation, extra in along
    ]
    canvas = Numbers(np.zeros((4, batch, groups * filters, *full)), input.dtype)
    for offsets in product(*map(range, kernel)):
        made = matmul(by_group[(..., *offsets)].transpose(0, 2, 1), columns)
        places = zip(offsets, dilations, spatial, strides, strict=True)
        reached = (
            slice(offset * dilation, offset * dilation + (size - 1) * stride + 1, stride)
            for offset, dilation, size, stride in places
        )
        target = canvas[(slice(None), slice(None), *reached)]
        target[...] = add(target, made.reshape(target.shape))
    sides = zip(full, padding_pairs(padding), strict=True)
    kept = (slice(before, size - after) for size, (before, after) in sides)
    return _with_bias(canvas[(slice(None), slice(None), *kept)], bias)


def _pooled(
    op: MaxPoolOp | AvgPoolOp,
    input: Numbers,
    dilations: Sequence[int],
    outside: float,
    combine: Callable[..., Numbers],
) -> Numbers:
    """Combine the numbers of every window of (n, c, spatial...)."""
    kernel, strides, padding = (each.get_values() for each in (op.kernel, op.strides, op.padding))
    ceil = bool(op.ceil_mode.value.data)
    counts = window_shape(input.shape[2:], kernel, strides, padding, dilations, ceil)
    full = surrounded(input, padding, outside, (counts, kernel, strides, dilations))
    view = numbers_in_windows(full, kernel, strides, dilations)
    first = view[(slice(None), slice(None), *map(slice, counts))]
    places = product(*map(range, kernel))
    result = first[(..., *next(places))].copy()
    for offsets in places:
        result = combine(result, first[(..., *offsets)])
    return result


@register_impls
class ExactGraphOps(OpFunctions):
    """Ops whose meaning makes arrays of its own; integers have the interpreter's."""

    @impl(InterpolateOp)
    def interpolate(
        self, interpreter: Interpreter, op: InterpolateOp, args: PythonValues
    ) -> PythonValues:
        result = interpolate(
            args[0],
            size=op.size.get_values(),
            mode=op.mode.data,
            align_corners=op.align_corners is not None,
            scales=None if op.scales is None else op.scales.get_values(),
            float_positions=op.float_positions is not None,
            outputs=lambda count: as_array(Numbers.constants(counted(count))),
        )
        return (result,)

    @impl(ConvOp)
    def conv(self, interpreter: Interpreter, op: ConvOp, args: PythonValues) -> PythonValues:
        options = {
            "strides": op.strides.get_values(),
            "padding": op.padding.get_values(),
            "dilations": op.dilations.get_values(),
        }
        groups = op.groups.value.data
        if not isinstance(args[0], Numbers):
            return (conv_of_arrays(*args, **options, groups=groups),)
        return (conv(*map(numbers, args), **options, groups=groups),)

    @impl(ConvTransposeOp)
    def conv_transpose(
        self, interpreter: Interpreter, op: ConvTransposeOp, args: PythonValues
    ) -> PythonValues:
        options = {
            "strides": op.strides.get_values(),
            "padding": op.padding.get_values(),
            "output_padding": op.output_padding.get_values(),
            "dilations": op.dilations.get_values(),
        }
        groups = op.groups.value.data
        if not isinstance(args[0], Numbers):
            return (conv_transpose_of_arrays(*args, **options, groups=groups),)
        return (conv_transpose(*map(numbers, args), **options, groups=groups),)

    @impl(MaxPoolOp)
    def max_pool(self, interpreter: Interpreter, op: MaxPoolOp, args: PythonValues) -> PythonValues:
        dilations = op.dilations.get_values()
        if not isinstance(args[0], Numbers):
            options = {
                "kernel": op.kernel.get_values(),
                "strides": op.strides.get_values(),
                "padding": op.padding.get_values(),
                "dilations": dilations,
            }
            ceil = bool(op.ceil_mode.value.data)
            return (max_pool_of_arrays(args[0], **options, ceil_mode=ceil),)
        return (_pooled(op, args[0], dilations, -np.inf, maximum),)

    @impl(AvgPoolOp)
    def avg_pool(self, interpreter: Interpreter, op: AvgPoolOp, args: PythonValues) -> PythonValues:
        input, kernel = numbers(args[0]), op.kernel.get_values()
        sums = _pooled(op, input, (1,) * len(kernel), 0.0, add)
        counted = bool(op.count_include_pad.value.data)
        pads = padding_pairs(op.padding.get_values())
        strides = op.strides.get_values()
        along = zip(input.shape[2:], sums.shape[2:], kernel, strides, pads, strict=True)
        lengths = [window_lengths(*axis, counted) for axis in along]
        return (divide(sums, reduce(np.multiply, np.ix_(*lengths))),)
