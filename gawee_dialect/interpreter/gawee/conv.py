"""Convolution."""

from collections.abc import Sequence

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.interpreter.arrays import Array
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
    strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0, 0, 0),
    dilations: Sequence[int] = (1, 1),
    groups: int = 1,
) -> Array:
    """Convolve (n, g*c, h, w) with (g*f, c, kh, kw) to (n, g*f, out h, out w).

    Each group is a matrix product of weights (f, c*kh*kw) and columns (c*kh*kw, positions), taken
    for as many output rows at a time as `COLUMN_ELEMENTS` allows.
    """
    wide_input, wide_weight = accumulator(padded(input, padding, 0)), accumulator(weight)
    view = windows(wide_input, weight.shape[2:], strides, dilations)
    batch, _, height, width = view.shape[:4]
    features, depth = weight.shape[0], weight[0].size
    by_group = view.reshape(batch, groups, weight.shape[1], *view.shape[2:]).transpose(
        0, 1, 2, 5, 6, 3, 4
    )
    matrix = wide_weight.reshape(groups, features // groups, depth)
    result = np.empty((batch, groups, features // groups, height, width), wide_input.dtype)
    rows = max(1, COLUMN_ELEMENTS // max(1, batch * groups * depth * width))
    for start in range(0, height, rows):
        part = by_group[..., start : start + rows, :]
        columns = part.reshape(batch, groups, depth, -1)
        product = np.matmul(matrix, columns)
        result[..., start : start + rows, :] = product.reshape(*product.shape[:3], -1, width)
    result = result.reshape(batch, features, height, width)
    if bias is not None:
        np.add(result, accumulator(bias).reshape(-1, 1, 1), out=result)
    return rounded(result, input.dtype)


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
