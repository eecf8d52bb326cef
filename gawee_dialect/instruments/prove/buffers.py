"""Buffers of exact numbers, and bytes in which buffers of many types lie, one after the other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.hints import isa
from gawee_dialect.instruments.prove.numbers import Numbers, as_array, is_float, unwritten
from gawee_dialect.interpreter.arrays import Array, array_shape, dtype_of, view_of_bytes

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

    def view(self, shift: int, result: SSAValue, sizes: Sequence[Array] = ()) -> Array:
        """View the bytes from `shift` on as a buffer; raises InterpretationError."""
        plain = view_of_bytes(self.bytes, shift, result, sizes)
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


def viewed_bytes(type: Attribute, sizes: Sequence[Array] = ()) -> Bytes | None:
    """Return memory for a buffer of bytes, of a given size where it is open; None for any other."""
    size = _byte_count(type, sizes)
    return None if size is None else Bytes.of(size)


def _byte_count(type: Attribute, sizes: Sequence[Array] = ()) -> int | None:
    """Return the size of a buffer of bytes; None of any other."""
    if isa(type, MemRefType[Attribute]) and type.element_type == i8 and type.get_num_dims() == 1:
        (size,) = array_shape(type)
        return int(sizes[0]) if size == DYNAMIC_INDEX else size
    return None


def _is_viewed(buffer: SSAValue) -> bool:
    return any(isinstance(use.operation, memref.ViewOp) for use in buffer.uses)


def allocated(buffer: SSAValue) -> object:
    """Return new memory for a buffer, by how it is used."""
    bytes = viewed_bytes(buffer.type) if _is_viewed(buffer) else None
    return unwritten(buffer.type) if bytes is None else bytes


def viewed(
    source: Array | Bytes, shift: int, result: SSAValue, sizes: Sequence[Array] = ()
) -> object:
    """View bytes as a buffer, or as fewer bytes; raises TypeError for plain bytes as floats."""
    if not isinstance(source, Bytes):
        if is_float(dtype_of(result.type)):
            raise TypeError("no exact meaning of bytes as floats")
        return view_of_bytes(source, shift, result, sizes)
    size = _byte_count(result.type, sizes)
    if size is not None and _is_viewed(result):
        return source.part(shift, size)
    return source.view(shift, result, sizes)
