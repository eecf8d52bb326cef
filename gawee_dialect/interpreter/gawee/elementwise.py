"""Elementwise ops. NumPy's broadcasting is the dialect's; integers wrap around in both."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions


def relu(input: Array) -> Array:
    """Clamp at zero from below; NaN stays NaN."""
    return np.maximum(input, input.dtype.type(0))


@register_impls
class ElementwiseFunctions(OpFunctions):
    """What the ops of `dialect/elementwise.py` compute.

    NumPy makes scalars of arrays of rank 0; `np.asarray` makes them arrays again.
    """

    @impl(ReluOp)
    def relu(self, interpreter: Interpreter, op: ReluOp, args: PythonValues) -> PythonValues:
        return (np.asarray(relu(*args)),)

    @impl(SqrtOp)
    def sqrt(self, interpreter: Interpreter, op: SqrtOp, args: PythonValues) -> PythonValues:
        return (np.asarray(np.sqrt(*args)),)

    @impl(AddOp)
    def add(self, interpreter: Interpreter, op: AddOp, args: PythonValues) -> PythonValues:
        return (np.asarray(np.add(*args)),)

    @impl(SubOp)
    def sub(self, interpreter: Interpreter, op: SubOp, args: PythonValues) -> PythonValues:
        return (np.asarray(np.subtract(*args)),)

    @impl(MulOp)
    def mul(self, interpreter: Interpreter, op: MulOp, args: PythonValues) -> PythonValues:
        return (np.asarray(np.multiply(*args)),)

    @impl(DivOp)
    def div(self, interpreter: Interpreter, op: DivOp, args: PythonValues) -> PythonValues:
        return (np.asarray(np.divide(*args)),)
