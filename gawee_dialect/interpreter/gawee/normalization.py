"""Normalization."""

from math import prod

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import SSAValue

from gawee_dialect.dialect.normalization import BatchNormOp, GroupNormOp, LayerNormOp, RmsNormOp
from gawee_dialect.dialect.sums import sum_along
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.precision import accumulator, rounded


def batch_norm(
    input: Array,
    mean: Array,
    variance: Array,
    scale: Array | None = None,
    bias: Array | None = None,
    *,
    eps: float,
) -> Array:
    """Compute (input - mean) / sqrt(variance + eps) * scale + bias along axis 1."""

    def per_channel(values: Array) -> Array:
        return accumulator(values).reshape(-1, *(1 for _ in input.shape[2:]))

    wide_variance = per_channel(variance)
    deviation = np.sqrt(np.add(wide_variance, wide_variance.dtype.type(eps)))
    result = np.subtract(accumulator(input), per_channel(mean))
    np.divide(result, deviation, out=result)
    if scale is not None:
        np.multiply(result, per_channel(scale), out=result)
    if bias is not None:
        np.add(result, per_channel(bias), out=result)
    return rounded(result, input.dtype)


def normalized(input: Array, axes: tuple[int, ...], eps: float, *, centred: bool = True) -> Array:
    """Divide by the deviation along some axes; the mean is taken off first where `centred`.

    The result has the precision of the accumulation.
    """
    values = accumulator(input)
    if centred:
        values = np.subtract(values, _mean(values, axes))
    variance = _mean(np.square(values), axes)
    return np.divide(values, np.sqrt(np.add(variance, variance.dtype.type(eps))))


def _mean(values: Array, axes: tuple[int, ...]) -> Array:
    count = prod(values.shape[axis] for axis in axes)
    total = sum_along(values, axes)
    return np.divide(total, values.dtype.type(count))


def scaled(values: Array, scale: Array | None, bias: Array | None) -> Array:
    """Multiply with a scale and add a bias, where present; both broadcast."""
    if scale is not None:
        values = np.multiply(values, accumulator(scale))
    return values if bias is None else np.add(values, accumulator(bias))


def layer_norm(
    input: Array, scale: Array | None, bias: Array | None, *, normalized_rank: int, eps: float
) -> Array:
    """Compute (input - mean) / sqrt(variance + eps) * scale + bias over the last axes."""
    values = normalized(input, _last(normalized_rank), eps)
    return rounded(scaled(values, scale, bias), input.dtype)


def rms_norm(input: Array, scale: Array | None, *, normalized_rank: int, eps: float) -> Array:
    """Compute input / sqrt(mean square + eps) * scale over the last axes."""
    values = normalized(input, _last(normalized_rank), eps, centred=False)
    return rounded(scaled(values, scale, None), input.dtype)


def _last(count: int) -> tuple[int, ...]:
    return tuple(range(-count, 0))


def group_norm(
    input: Array, scale: Array | None, bias: Array | None, *, groups: int, eps: float
) -> Array:
    """Compute (input - mean) / sqrt(variance + eps) * scale + bias, by group of channels."""
    batch, channels, *spatial = input.shape
    grouped = input.reshape(batch, groups, channels // groups, *spatial)
    values = normalized(grouped, tuple(range(2, grouped.ndim)), eps)

    def per_channel(affine: Array | None) -> Array | None:
        return None if affine is None else affine.reshape(-1, *(1 for _ in spatial))

    values = scaled(values.reshape(input.shape), per_channel(scale), per_channel(bias))
    return rounded(values, input.dtype)


@register_impls
class NormalizationFunctions(OpFunctions):
    """What the ops of `dialect/normalization.py` compute."""

    @impl(BatchNormOp)
    def batch_norm(
        self, interpreter: Interpreter, op: BatchNormOp, args: PythonValues
    ) -> PythonValues:
        present = iter(args)

        def operand(value: SSAValue | None) -> Array | None:
            return None if value is None else next(present)

        input, mean, variance = next(present), next(present), next(present)
        scale, bias = operand(op.scale), operand(op.bias)
        return (batch_norm(input, mean, variance, scale, bias, eps=op.eps.value.data),)

    @impl(LayerNormOp)
    def layer_norm(
        self, interpreter: Interpreter, op: LayerNormOp, args: PythonValues
    ) -> PythonValues:
        scale, bias = op.affine(args[1:])
        rank, eps = op.normalized_rank.value.data, op.eps.value.data
        return (layer_norm(args[0], scale, bias, normalized_rank=rank, eps=eps),)

    @impl(RmsNormOp)
    def rms_norm(self, interpreter: Interpreter, op: RmsNormOp, args: PythonValues) -> PythonValues:
        scale = None if op.scale is None else args[1]
        rank, eps = op.normalized_rank.value.data, op.eps.value.data
        return (rms_norm(args[0], scale, normalized_rank=rank, eps=eps),)

    @impl(GroupNormOp)
    def group_norm(
        self, interpreter: Interpreter, op: GroupNormOp, args: PythonValues
    ) -> PythonValues:
        scale, bias = op.affine(args[1:])
        groups, eps = op.groups.value.data, op.eps.value.data
        return (group_norm(args[0], scale, bias, groups=groups, eps=eps),)
