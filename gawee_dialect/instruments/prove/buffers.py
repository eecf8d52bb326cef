"""Buffers of exact numbers, and bytes in which buffers of many types lie, one after the other."""

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, i8
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.hints import isa
from gawee_dialect.instruments.prove.numbers import Numbers, as_array, constant, is_float, unwritten
from gawee_dialect.interpreter.arrays import Array, array_shape, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.memref import view_of_bytes

DOUBLES_PER_BYTE = 2
"""The smallest float has two bytes, and a number four doubles."""


class Bytes:
    """Memory that is viewed under many types: bytes for integers, and doubles for numbers."""

    def __init__(self, bytes: Array, doubles: NDArray[np.float64]):
        self.bytes = bytes
        self._doubles = doubles

    @staticmethod
    def of(size: int) -> "Bytes":
        """Return new memory."""
        doubles = np.full(size * DOUBLES_PER_BYTE, np.nan)
        return Bytes(np.full(size, 0xFF, np.uint8), doubles)

    def part(self, shift: int, size: int) -> "Bytes":
        """Return some of the bytes, from `shift` on; raises InterpretationError."""
        if shift < 0 or shift + size > self.bytes.size:
            message = f"{size} bytes from byte {shift} are out of bounds for {self.bytes.size}"
            raise InterpretationError(message)
        first, last = shift * DOUBLES_PER_BYTE, (shift + size) * DOUBLES_PER_BYTE
        return Bytes(self.bytes[shift : shift + size], self._doubles[first:last])

    def view(self, shift: int, result: SSAValue) -> Array:
        """View the bytes from `shift` on as a buffer; raises InterpretationError."""
        plain = view_of_bytes(self.bytes, shift, result)
        dtype = dtype_of(result.type)
        if shift % dtype.itemsize:
            raise InterpretationError(
                f"byte {shift} is no place for elements of {dtype.itemsize} bytes"
            )
        if not is_float(dtype):
            return plain
        first, width = shift * DOUBLES_PER_BYTE, dtype.itemsize * DOUBLES_PER_BYTE
        doubles = self._doubles[first : first + plain.size * width]
        parts = doubles.reshape(*plain.shape, width)[..., :4]
        return as_array(Numbers(np.moveaxis(parts, -1, 0), dtype))


def viewed_bytes(type: Attribute) -> Bytes | None:
    """Return memory for a buffer of bytes of a known size; None for any other."""
    size = _byte_count(type)
    return None if size is None else Bytes.of(size)


def _byte_count(type: Attribute) -> int | None:
    """Return the size of a buffer of bytes; None of any other."""
    if isa(type, MemRefType[Attribute]) and type.element_type == i8 and type.get_num_dims() == 1:
        (size,) = array_shape(type)
        return size
    return None


def _is_viewed(buffer: SSAValue) -> bool:
    return any(isinstance(use.operation, memref.ViewOp) for use in buffer.uses)


def _allocated(buffer: SSAValue) -> object:
    bytes = viewed_bytes(buffer.type) if _is_viewed(buffer) else None
    return unwritten(buffer.type) if bytes is None else bytes


@register_impls
class ExactBuffers(OpFunctions):
    """Implementations of memref ops that make buffers, or see bytes as them."""

    @impl(memref.AllocOp)
    def alloc(
        self, interpreter: Interpreter, op: memref.AllocOp, args: PythonValues
    ) -> PythonValues:
        return (_allocated(op.memref),)

    @impl(memref.AllocaOp)
    def alloca(
        self, interpreter: Interpreter, op: memref.AllocaOp, args: PythonValues
    ) -> PythonValues:
        return (_allocated(op.memref),)

    @impl(memref.ViewOp)
    def view(self, interpreter: Interpreter, op: memref.ViewOp, args: PythonValues) -> PythonValues:
        source, shift = args
        size = _byte_count(op.result.type)
        if isinstance(source, Bytes) and size is not None and _is_viewed(op.result):
            return (source.part(int(shift), size),)
        if isinstance(source, Bytes):
            return (source.view(int(shift), op.result),)
        if is_float(dtype_of(op.result.type)):
            raise TypeError("no exact meaning of bytes as floats")
        return (view_of_bytes(source, int(shift), op.result),)

    @impl(memref.GetGlobalOp)
    def get_global(
        self, interpreter: Interpreter, op: memref.GetGlobalOp, args: PythonValues
    ) -> PythonValues:
        definition = interpreter.get_op_for_symbol(op.name_)
        assert isinstance(definition, memref.GlobalOp)

        def initial() -> Array:
            value, type = definition.initial_value, definition.type
            return unwritten(type) if value.name == "unit" else constant(value, type)

        # One array per global, for as long as the module runs.
        return (interpreter.get_data(ExactBuffers, definition.sym_name.data, initial),)
