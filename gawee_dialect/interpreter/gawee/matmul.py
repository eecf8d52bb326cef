"""Matrix products."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.contraction import matrix_product
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.precision import accumulator, rounded


def matmul(input: Array, weight: Array, bias: Array | None = None) -> Array:
    """Multiply (..., in) by a weight stored (out, in), giving (..., out); add the bias (out)."""
    result = matrix_product(accumulator(input), accumulator(weight).T)
    if bias is not None:
        result = np.add(result, accumulator(bias))
    return rounded(result, input.dtype)


def batch_matmul(
    a: Array, b: Array, *, transpose_a: bool = False, transpose_b: bool = False
) -> Array:
    """Multiply the matrices (..., m, k) and (..., k, n) of arrays that broadcast before them."""
    left, right = accumulator(a), accumulator(b)
    product = matrix_product(
        left.swapaxes(-1, -2) if transpose_a else left,
        right.swapaxes(-1, -2) if transpose_b else right,
    )
    return rounded(product, a.dtype)


@register_impls
class MatMulFunctions(OpFunctions):
    """What the ops of `dialect/matmul.py` compute."""

    @impl(MatMulOp)
    def matmul(self, interpreter: Interpreter, op: MatMulOp, args: PythonValues) -> PythonValues:
        return (matmul(*args),)

    @impl(BatchMatMulOp)
    def batch_matmul(
        self, interpreter: Interpreter, op: BatchMatMulOp, args: PythonValues
    ) -> PythonValues:
        result = batch_matmul(
            *args,
            transpose_a=op.transpose_a is not None,
            transpose_b=op.transpose_b is not None,
        )
        return (result,)
