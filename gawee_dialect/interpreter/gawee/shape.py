"""Ops that move elements without computing on them, and constants."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.interpreter.arrays import attribute_value
from gawee_dialect.interpreter.functions import OpFunctions


@register_impls
class ShapeFunctions(OpFunctions):
    """What the ops of `dialect/shape.py` and `dialect/constant.py` compute."""

    @impl(IdentityOp)
    def identity(
        self, interpreter: Interpreter, op: IdentityOp, args: PythonValues
    ) -> PythonValues:
        return args

    @impl(FlattenOp)
    def flatten(self, interpreter: Interpreter, op: FlattenOp, args: PythonValues) -> PythonValues:
        return (np.reshape(args[0], tensor_shape(op.result)),)

    @impl(ReshapeOp)
    def reshape(self, interpreter: Interpreter, op: ReshapeOp, args: PythonValues) -> PythonValues:
        return (np.reshape(args[0], op.shape.get_values()),)

    @impl(CatOp)
    def cat(self, interpreter: Interpreter, op: CatOp, args: PythonValues) -> PythonValues:
        return (np.concatenate(args, axis=op.dim.value.data),)

    @impl(ConstantOp)
    def constant(
        self, interpreter: Interpreter, op: ConstantOp, args: PythonValues
    ) -> PythonValues:
        return (attribute_value(op.value, op.result.type),)
