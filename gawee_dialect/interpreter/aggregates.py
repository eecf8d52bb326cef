"""Ops of linalg that are no loop nest by themselves, on whole arrays."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.linalg import PackOp, SoftmaxOp, UnpackOp
from gawee_dialect.dialect.linalg.named_op import element_shape
from gawee_dialect.dialect.special_functions import softmax
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.loop_views import in_loop_order


def _written(destination: Array, result: Array, *, is_tensor: bool) -> PythonValues:
    if is_tensor:
        return (in_loop_order(result),)
    destination[...] = result
    return ()


@register_impls
class AggregateFunctions(OpFunctions):
    """Implementations on tensors, and on memrefs, which are written in place."""

    @impl(SoftmaxOp)
    def softmax(self, interpreter: Interpreter, op: SoftmaxOp, args: PythonValues) -> PythonValues:
        axis = op.dimension.value.data
        wide = args[0].astype(np.promote_types(args[0].dtype, np.float32), copy=False)
        result = softmax(wide, axis).astype(args[0].dtype)
        return _written(args[1], result, is_tensor=op.result is not None)

    @impl(PackOp)
    def pack(self, interpreter: Interpreter, op: PackOp, args: PythonValues) -> PythonValues:
        source, destination, *padding = args
        tiling = op.tiling()
        missing = [(0, more) for more in tiling.missing(source.shape)]
        full = np.pad(source, missing, constant_values=padding[0] if padding else 0)
        split = full.reshape(tiling.split_shape(full.shape))
        result = split.transpose(tiling.packed_order())
        return _written(destination, result, is_tensor=op.result is not None)

    @impl(UnpackOp)
    def unpack(self, interpreter: Interpreter, op: UnpackOp, args: PythonValues) -> PythonValues:
        source, destination = args
        tiling, wanted = op.tiling(), element_shape(op.dest)
        split = source.transpose(np.argsort(tiling.packed_order()))
        whole = [int(np.prod([split.shape[axis] for axis in group])) for group in tiling.groups()]
        result = split.reshape(whole)[tuple(slice(0, size) for size in wanted)]
        return _written(destination, result, is_tensor=op.result is not None)
