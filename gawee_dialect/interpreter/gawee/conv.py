"""Convolution and its transpose."""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.window import padding_pairs, window_extent
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.contraction import matrix_product
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.precision import accumulator, rounded
from gawee_dialect.interpreter.gawee.windows import padded, windows

COLUMN_ELEMENTS = 1 << 23
"""The most elements that are gathered into matrix columns at once (32 MB of float32)."""


def conv(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
) -> Array:
    """Convolve (n, g*c, spatial...) with (g*f, c, kernel...) to (n, g*f, out...).

    Each group is a matrix product of weights (f, c*kernel) and columns (c*kernel, positions), taken
    for as many positions of the first spatial axis at a time as `COLUMN_ELEMENTS` allows.
    """
    axes = len(strides)
    wide_input, wide_weight = accumulator(padded(input, padding, 0)), accumulator(weight)
    view = windows(wide_input, weight.shape[2:], strides, dilations)
    batch, out = view.shape[0], view.shape[2 : 2 + axes]
    features, depth = weight.shape[0], weight[0].size
    kernel_first = (*range(3 + axes, 3 + 2 * axes), *range(3, 3 + axes))
    by_group = view.reshape(batch, groups, weight.shape[1], *view.shape[2:]).transpose(
        0, 1, 2, *kernel_first
    )
    matrix = wide_weight.reshape(groups, features // groups, depth)
    result = np.empty((batch, groups, features // groups, *out), wide_input.dtype)
    rows = max(1, COLUMN_ELEMENTS // max(1, batch * groups * depth * prod(out[1:])))
    for start in range(0, out[0], rows):
        part = by_group[(*(slice(None),) * (3 + axes), slice(start, start + rows))]
        columns = part.reshape(batch, groups, depth, -1)
        made = matrix_product(matrix, columns)
        result[:, :, :, start : start + rows] = made.reshape(*made.shape[:3], -1, *out[1:])
    return _with_bias(result.reshape(batch, features, *out), bias, input.dtype)


def conv_transpose(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
) -> Array:
    """Convolve transposed (n, g*c, spatial...) with (g*c, f, kernel...) to (n, g*f, out...).

    Each kernel element is a matrix product of its weights (f, c) and the input (c, positions),
    added to the positions of the result that it reaches.
    """
    wide_input, wide_weight = accumulator(input), accumulator(weight)
    batch, channels, *spatial = input.shape
    filters, kernel = weight.shape[1], weight.shape[2:]
    columns = wide_input.reshape(batch, groups, channels // groups, prod(spatial))
    by_group = wide_weight.reshape(groups, channels // groups, filters, *kernel)
    along = zip(spatial, kernel, strides, dilations, output_padding, strict=True)
    full = [
        (size - 1) * stride + window_extent(window, dilation) + extra
        for size, window, stride, dilation, extra in along
    ]
    canvas = np.zeros((batch, groups * filters, *full), wide_input.dtype)
    for offsets in product(*map(range, kernel)):
        made = matrix_product(by_group[(..., *offsets)].transpose(0, 2, 1), columns)
        reached = (
            slice(offset * dilation, offset * dilation + (size - 1) * stride + 1, stride)
            for offset, dilation, size, stride in zip(
                offsets, dilations, spatial, strides, strict=True
            )
        )
        target = canvas[(slice(None), slice(None), *reached)]
        np.add(target, made.reshape(target.shape), out=target)
    kept = (
        slice(before, size - after)
        for size, (before, after) in zip(full, padding_pairs(padding), strict=True)
    )
    return _with_bias(canvas[(slice(None), slice(None), *kept)], bias, input.dtype)


def _with_bias(result: Array, bias: Array | None, dtype: np.dtype[np.generic]) -> Array:
    if bias is not None:
        per_channel = accumulator(bias).reshape(-1, *(1 for _ in result.shape[2:]))
        np.add(result, per_channel, out=result)
    return rounded(np.ascontiguousarray(result), dtype)


@register_impls
class ConvFunctions(OpFunctions):
    """What the ops of `dialect/conv.py` compute."""

    @impl(ConvOp)
    def conv(self, interpreter: Interpreter, op: ConvOp, args: PythonValues) -> PythonValues:
        result = conv(
            *args,
            strides=op.strides.get_values(),
            padding=op.padding.get_values(),
            dilations=op.dilations.get_values(),
            groups=op.groups.value.data,
        )
        return (result,)

    @impl(ConvTransposeOp)
    def conv_transpose(
        self, interpreter: Interpreter, op: ConvTransposeOp, args: PythonValues
    ) -> PythonValues:
        result = conv_transpose(
            *args,
            strides=op.strides.get_values(),
            padding=op.padding.get_values(),
            output_padding=op.output_padding.get_values(),
            dilations=op.dilations.get_values(),
            groups=op.groups.value.data,
        )
        return (result,)
