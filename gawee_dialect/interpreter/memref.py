"""What the ops of the memref dialect do.

A memref is an array, or a view of one: a store through a view is seen through every other. Buffers
are never moved or freed here, NumPy keeps what is still in use.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects import memref
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.arrays import (
    Array,
    array_shape,
    attribute_value,
    shaped_type,
)
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.loop_views import box, box_values, without_left_out
from gawee_dialect.interpreter.loops.writer import element_lanes
from gawee_dialect.interpreter.scalars import floats_of
from gawee_dialect.interpreter.structured import axis_size, check_indices, gather
from gawee_dialect.upstream.memref import PrefetchOp


def reshaped_view(source: Array, result: SSAValue) -> Array:
    """View an array under another shape; raises InterpretationError where that needs a copy."""
    view = source.reshape(array_shape(shaped_type(result)))
    if view.size and not np.may_share_memory(view, source):
        raise InterpretationError(f"cannot view '{result.type}' without a copy")
    return view


def _vector_at(op: memref.LoadOp | memref.StoreOp, array: Array, indices: Sequence[Array]) -> Array:
    """View the lanes of one element of an array of vectors."""
    places, ones = [int(index) for index in indices], [1] * len(indices)
    lanes = element_lanes(op.memref.type)
    return box(array, [*places, 0], [*ones, *lanes], [*ones, 1]).reshape(lanes)


@register_impls
class MemrefFunctions(OpFunctions):
    """Implementations of memref ops on static shapes."""

    @impl(memref.AllocOp)
    def alloc(
        self, interpreter: Interpreter, op: memref.AllocOp, args: PythonValues
    ) -> PythonValues:
        return (floats_of(interpreter).buffer(op.memref, args),)

    @impl(memref.AllocaOp)
    def alloca(
        self, interpreter: Interpreter, op: memref.AllocaOp, args: PythonValues
    ) -> PythonValues:
        return (floats_of(interpreter).buffer(op.memref, args),)

    @impl(memref.DeallocOp)
    def dealloc(
        self, interpreter: Interpreter, op: memref.DeallocOp, args: PythonValues
    ) -> PythonValues:
        return ()

    @impl(memref.LoadOp)
    def load(self, interpreter: Interpreter, op: memref.LoadOp, args: PythonValues) -> PythonValues:
        if element_lanes(op.memref.type):
            return (_vector_at(op, args[0], args[1:]).copy(),)
        return (gather(op, args[0], args[1:]),)

    @impl(memref.StoreOp)
    def store(
        self, interpreter: Interpreter, op: memref.StoreOp, args: PythonValues
    ) -> PythonValues:
        value, array, *indices = args
        if element_lanes(op.memref.type):
            _vector_at(op, array, indices)[...] = value
            return ()
        check_indices(op.memref, array, indices)
        array[tuple(map(int, indices))] = value
        return ()

    @impl(PrefetchOp)
    def prefetch(
        self, interpreter: Interpreter, op: PrefetchOp, args: PythonValues
    ) -> PythonValues:
        return ()

    @impl(memref.CopyOp)
    def copy(self, interpreter: Interpreter, op: memref.CopyOp, args: PythonValues) -> PythonValues:
        source, destination = args
        destination[...] = source
        return ()

    @impl(memref.SubviewOp)
    def subview(
        self, interpreter: Interpreter, op: memref.SubviewOp, args: PythonValues
    ) -> PythonValues:
        source, *dynamic = args
        offsets, sizes, strides = box_values(op, dynamic)
        for lanes in element_lanes(op.source.type):
            offsets, sizes, strides = [*offsets, 0], [*sizes, lanes], [*strides, 1]
        part = box(source, offsets, sizes, strides)
        return (without_left_out(part, op.static_sizes, shaped_type(op.result).get_shape()),)

    @impl(memref.CollapseShapeOp)
    def collapse_shape(
        self, interpreter: Interpreter, op: memref.CollapseShapeOp, args: PythonValues
    ) -> PythonValues:
        return (reshaped_view(args[0], op.result),)

    @impl(memref.ExpandShapeOp)
    def expand_shape(
        self, interpreter: Interpreter, op: memref.ExpandShapeOp, args: PythonValues
    ) -> PythonValues:
        return (reshaped_view(args[0], op.result),)

    @impl(memref.CastOp)
    def cast(self, interpreter: Interpreter, op: memref.CastOp, args: PythonValues) -> PythonValues:
        return args

    @impl(memref.ViewOp)
    def view(self, interpreter: Interpreter, op: memref.ViewOp, args: PythonValues) -> PythonValues:
        return (floats_of(interpreter).viewed(args[0], int(args[1]), op.result, args[2:]),)

    @impl(memref.ReinterpretCastOp)
    def reinterpret_cast(
        self, interpreter: Interpreter, op: memref.ReinterpretCastOp, args: PythonValues
    ) -> PythonValues:
        source, *dynamic = args
        offsets, sizes, strides = box_values(op, dynamic)
        dense = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        if any(offsets) or strides != dense or not floats_of(interpreter).is_dense(source):
            raise InterpretationError("expected a dense buffer from its first element on")
        if prod(sizes) != source.size:
            raise InterpretationError(
                f"expected {source.size} elements, as in the buffer, got {prod(sizes)}"
            )
        return (source.reshape(sizes),)

    @impl(memref.DimOp)
    def dim(self, interpreter: Interpreter, op: memref.DimOp, args: PythonValues) -> PythonValues:
        return (axis_size(args[0], args[1]),)

    @impl(memref.GetGlobalOp)
    def get_global(
        self, interpreter: Interpreter, op: memref.GetGlobalOp, args: PythonValues
    ) -> PythonValues:
        definition = interpreter.get_op_for_symbol(op.name_)
        assert isinstance(definition, memref.GlobalOp)
        floats = floats_of(interpreter)

        def initial() -> Array:
            value, type = definition.initial_value, definition.type
            if value.name == "unit":
                return floats.fresh(type)
            array = attribute_value(value, type)
            array.flags.writeable = definition.constant is None
            return floats.taken_up(array)

        # One array per global, for as long as the module runs.
        return (interpreter.get_data(MemrefFunctions, definition.sym_name.data, initial),)
