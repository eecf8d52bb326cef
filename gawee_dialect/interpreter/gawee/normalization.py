"""Normalization."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import SSAValue

from gawee_dialect.dialect.normalization import BatchNormOp
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
