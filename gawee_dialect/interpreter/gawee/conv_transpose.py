"""Transposed convolution, a scatter of products: an equation for each element would be longer."""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.arrays import in_loop_order, matrix_product
from gawee_dialect.dialect.graph.conv import ConvTransposeOp
from gawee_dialect.dialect.graph.window import padding_pairs, window_extent
from gawee_dialect.interpreter.arrays import Array, accumulator, rounded
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.scalars import OtherFloats, floats_of


def conv_transpose(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
    floats: OtherFloats,
) -> Array:
    """Convolve transposed (n, g*c, spatial...) with (g*c, f, kernel...) to (n, g*f, out...).

    Each kernel element is a matrix product of its weights (f, c) and the input (c, positions),
    added to the positions of the result that it reaches; `floats` make that.
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
    canvas = floats.filled((batch, groups * filters, *full), 0, wide_input.dtype)
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
    result = canvas[(slice(None), slice(None), *kept)]
    if bias is not None:
        result = np.add(result, accumulator(bias).reshape(-1, *(1 for _ in result.shape[2:])))
    return rounded(in_loop_order(result), input.dtype)


@register_impls
class ConvTransposeFunctions(OpFunctions):
    """What `gawee.conv_transpose` computes."""

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
            floats=floats_of(interpreter),
        )
        return (result,)
