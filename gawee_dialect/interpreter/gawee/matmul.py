"""Matrix multiplication with weights."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.precision import accumulator, rounded


def matmul(input: Array, weight: Array, bias: Array | None = None) -> Array:
    """Multiply (..., in) by a weight stored (out, in), giving (..., out); add the bias (out)."""
    result = np.matmul(accumulator(input), accumulator(weight).T)
    if bias is not None:
        result = np.add(result, accumulator(bias))
    return rounded(result, input.dtype)


@register_impls
class MatMulFunctions(OpFunctions):
    """What the ops of `dialect/matmul.py` compute."""

    @impl(MatMulOp)
    def matmul(self, interpreter: Interpreter, op: MatMulOp, args: PythonValues) -> PythonValues:
        return (matmul(*args),)
