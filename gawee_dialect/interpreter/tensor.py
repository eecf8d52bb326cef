"""What the ops of the tensor dialect compute."""

from math import prod

import numpy as np
from xdsl.dialects import tensor
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.types import fits_shape, shape_text
from gawee_dialect.interpreter.arrays import shaped_type
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.loop_views import (
    box,
    box_values,
    mixed_values,
    put_slice,
    without_left_out,
)
from gawee_dialect.interpreter.scalars import floats_of
from gawee_dialect.interpreter.structured import axis_size, gather, yielded_elements
from gawee_dialect.upstream.tensor import GenerateOp, PadOp, ReshapeOp


def run_pad(interpreter: Interpreter, op: tensor.PadOp, args: PythonValues) -> PythonValues:
    """Surround an array by what the body computes; raises InterpretationError below zero."""
    source, *dynamic = args
    sizes = iter(dynamic)
    low, high = mixed_values(op.static_low, sizes), mixed_values(op.static_high, sizes)
    if min((*low, *high), default=0) < 0:
        raise InterpretationError(f"expected padding of at least 0, got {low} and {high}")
    shape = tuple(
        before + size + after for before, size, after in zip(low, source.shape, high, strict=True)
    )
    result = floats_of(interpreter).filled(shape, 0, source.dtype)
    result[...] = yielded_elements(interpreter, op.region.block, shape)
    result[tuple(slice(b, b + n) for b, n in zip(low, source.shape, strict=True))] = source
    return (result,)


@register_impls
class TensorFunctions(OpFunctions):
    """Implementations of tensor ops; every result is a value of its own."""

    @impl(tensor.EmptyOp)
    def empty(
        self, interpreter: Interpreter, op: tensor.EmptyOp, args: PythonValues
    ) -> PythonValues:
        return (floats_of(interpreter).fresh(op.tensor.type, args),)

    @impl(tensor.ConcatOp)
    def concat(
        self, interpreter: Interpreter, op: tensor.ConcatOp, args: PythonValues
    ) -> PythonValues:
        return (np.concatenate(args, axis=op.dim.value.data),)

    @impl(GenerateOp)
    def generate(
        self, interpreter: Interpreter, op: GenerateOp, args: PythonValues
    ) -> PythonValues:
        result = floats_of(interpreter).fresh(op.result.type, args)
        result[...] = yielded_elements(interpreter, op.body.block, result.shape)
        return (result,)

    @impl(tensor.PadOp)
    def pad(self, interpreter: Interpreter, op: tensor.PadOp, args: PythonValues) -> PythonValues:
        return run_pad(interpreter, op, args)

    @impl(PadOp)
    def parsed_pad(self, interpreter: Interpreter, op: PadOp, args: PythonValues) -> PythonValues:
        return run_pad(interpreter, op, args)

    @impl_terminator(tensor.YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: tensor.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(tensor.ExtractSliceOp)
    def extract_slice(
        self, interpreter: Interpreter, op: tensor.ExtractSliceOp, args: PythonValues
    ) -> PythonValues:
        source, *dynamic = args
        part = box(source, *box_values(op, dynamic))
        shape = shaped_type(op.result).get_shape()
        return (without_left_out(part, op.static_sizes, shape),)

    @impl(tensor.InsertSliceOp)
    def insert_slice(
        self, interpreter: Interpreter, op: tensor.InsertSliceOp, args: PythonValues
    ) -> PythonValues:
        source, destination, *dynamic = args
        result = np.copy(destination)
        put_slice(result, source, op, dynamic)
        return (result,)

    @impl(tensor.CollapseShapeOp)
    def collapse_shape(
        self, interpreter: Interpreter, op: tensor.CollapseShapeOp, args: PythonValues
    ) -> PythonValues:
        sizes = args[0].shape
        groups = [[axis.value.data for axis in group] for group in op.reassociation]
        return (args[0].reshape([prod(sizes[axis] for axis in group) for group in groups]),)

    @impl(tensor.ExpandShapeOp)
    def expand_shape(
        self, interpreter: Interpreter, op: tensor.ExpandShapeOp, args: PythonValues
    ) -> PythonValues:
        source, *dynamic = args
        return (source.reshape(mixed_values(op.static_output_shape, iter(dynamic))),)

    @impl(ReshapeOp)
    def reshape(self, interpreter: Interpreter, op: ReshapeOp, args: PythonValues) -> PythonValues:
        source, shape = args
        sizes = tuple(map(int, shape))
        if min(sizes, default=0) < 0 or prod(sizes) != source.size:
            raise InterpretationError(f"expected a shape of {source.size} elements, got {sizes}")
        return (source.reshape(sizes),)

    @impl(tensor.CastOp)
    def cast(self, interpreter: Interpreter, op: tensor.CastOp, args: PythonValues) -> PythonValues:
        wanted, shape = shaped_type(op.dest).get_shape(), args[0].shape
        if not fits_shape(wanted, shape):
            raise InterpretationError(
                f"expected shape {shape_text(wanted)}, got {shape_text(shape)}"
            )
        return args

    @impl(tensor.DimOp)
    def dim(self, interpreter: Interpreter, op: tensor.DimOp, args: PythonValues) -> PythonValues:
        return (axis_size(args[0], args[1]),)

    @impl(tensor.ExtractOp)
    def extract(
        self, interpreter: Interpreter, op: tensor.ExtractOp, args: PythonValues
    ) -> PythonValues:
        return (gather(op, args[0], args[1:]),)

    @impl(tensor.InsertOp)
    def insert(
        self, interpreter: Interpreter, op: tensor.InsertOp, args: PythonValues
    ) -> PythonValues:
        scalar, destination, *indices = args
        gather(op, destination, indices)  # refuses positions outside
        result = np.copy(destination)
        result[tuple(map(int, indices))] = scalar
        return (result,)

    @impl(tensor.SplatOp)
    def splat(
        self, interpreter: Interpreter, op: tensor.SplatOp, args: PythonValues
    ) -> PythonValues:
        return (np.copy(np.broadcast_to(args[0], shaped_type(op.result).get_shape())),)

    @impl(tensor.FromElementsOp)
    def from_elements(
        self, interpreter: Interpreter, op: tensor.FromElementsOp, args: PythonValues
    ) -> PythonValues:
        result = floats_of(interpreter).fresh(op.result.type)
        for place, element in zip(np.ndindex(result.shape), args, strict=True):
            result[place] = element
        return (result,)
