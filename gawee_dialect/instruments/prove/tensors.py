"""Ops on tensors of exact numbers, where the interpreter makes arrays of its own."""

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import SSAValue

from gawee_dialect.dialect.linalg import PackOp, SoftmaxOp, UnpackOp
from gawee_dialect.dialect.linalg.named_op import element_shape
from gawee_dialect.dialect.special_functions import softmax
from gawee_dialect.dialect.tensor import GenerateOp, PadOp
from gawee_dialect.instruments.prove.fresh import constant, filled, unwritten
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.body import gather, yielded_elements
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.slices import mixed_values, put_slice


def run_pad(interpreter: Interpreter, op: tensor.PadOp, args: PythonValues) -> PythonValues:
    """Surround an array by what the body computes."""
    source, *dynamic = args
    sizes = iter(dynamic)
    low, high = mixed_values(op.static_low, sizes), mixed_values(op.static_high, sizes)
    around = zip(low, source.shape, high, strict=True)
    shape = tuple(before + size + after for before, size, after in around)
    result = filled(shape, 0, source.dtype)
    result[...] = yielded_elements(interpreter, op.region.block, shape)
    result[tuple(slice(b, b + n) for b, n in zip(low, source.shape, strict=True))] = source
    return (result,)


@register_impls
class ExactTensors(OpFunctions):
    """Implementations of tensor ops; every result is a value of its own."""

    @impl(arith.ConstantOp)
    def constant(
        self, interpreter: Interpreter, op: arith.ConstantOp, args: PythonValues
    ) -> PythonValues:
        return (constant(op.value, op.result.type),)

    @impl(tensor.EmptyOp)
    def empty(
        self, interpreter: Interpreter, op: tensor.EmptyOp, args: PythonValues
    ) -> PythonValues:
        return (unwritten(op.tensor.type, args),)

    @impl(tensor.PadOp)
    def pad(self, interpreter: Interpreter, op: tensor.PadOp, args: PythonValues) -> PythonValues:
        return run_pad(interpreter, op, args)

    @impl(PadOp)
    def parsed_pad(self, interpreter: Interpreter, op: PadOp, args: PythonValues) -> PythonValues:
        return run_pad(interpreter, op, args)

    @impl(GenerateOp)
    def generate(
        self, interpreter: Interpreter, op: GenerateOp, args: PythonValues
    ) -> PythonValues:
        result = unwritten(op.result.type, args)
        result[...] = yielded_elements(interpreter, op.body.block, result.shape)
        return (result,)

    @impl(tensor.InsertSliceOp)
    def insert_slice(
        self, interpreter: Interpreter, op: tensor.InsertSliceOp, args: PythonValues
    ) -> PythonValues:
        source, destination, *dynamic = args
        result = destination.copy()
        put_slice(result, source, op, dynamic)
        return (result,)

    @impl(tensor.InsertOp)
    def insert(
        self, interpreter: Interpreter, op: tensor.InsertOp, args: PythonValues
    ) -> PythonValues:
        scalar, destination, *indices = args
        gather(op, destination, indices)  # refuses positions outside
        result = destination.copy()
        result[tuple(map(int, indices))] = scalar
        return (result,)

    @impl(tensor.SplatOp)
    def splat(
        self, interpreter: Interpreter, op: tensor.SplatOp, args: PythonValues
    ) -> PythonValues:
        result = unwritten(op.result.type)
        result[...] = args[0]
        return (result,)

    @impl(tensor.FromElementsOp)
    def from_elements(
        self, interpreter: Interpreter, op: tensor.FromElementsOp, args: PythonValues
    ) -> PythonValues:
        result = unwritten(op.result.type)
        for place, element in zip(np.ndindex(result.shape), args, strict=True):
            result[place] = element
        return (result,)

    @impl(SoftmaxOp)
    def softmax(self, interpreter: Interpreter, op: SoftmaxOp, args: PythonValues) -> PythonValues:
        result = softmax(args[0], op.dimension.value.data)
        return _written(args[1], result, op.result)

    @impl(PackOp)
    def pack(self, interpreter: Interpreter, op: PackOp, args: PythonValues) -> PythonValues:
        source, destination, *padding = args
        tiling = op.tiling()
        missing = tiling.missing(source.shape)
        shape = [size + more for size, more in zip(source.shape, missing, strict=True)]
        full = filled(shape, 0, source.dtype)
        if padding:
            full[...] = padding[0]
        full[tuple(slice(0, size) for size in source.shape)] = source
        result = full.reshape(tiling.split_shape(full.shape)).transpose(tiling.packed_order())
        return _written(destination, result, op.result)

    @impl(UnpackOp)
    def unpack(self, interpreter: Interpreter, op: UnpackOp, args: PythonValues) -> PythonValues:
        source, destination = args
        tiling, wanted = op.tiling(), element_shape(op.dest)
        order = [int(axis) for axis in np.argsort(tiling.packed_order())]
        split = source.transpose(order)
        whole = [int(np.prod([split.shape[axis] for axis in group])) for group in tiling.groups()]
        result = split.reshape(whole)[tuple(slice(0, size) for size in wanted)]
        return _written(destination, result, op.result)


def _written(destination: Array, result: Array, value: SSAValue | None) -> PythonValues:
    if value is not None:
        return (result.copy(),)
    destination[...] = result
    return ()
