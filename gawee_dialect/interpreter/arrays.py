"""Values of every level as NumPy sees them: tensors and memrefs are arrays, scalars NumPy scalars.

Whatever a value is, its dtype is that of its IR type, so arithmetic rounds as the IR says.
"""

import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    VectorType,
    bf16,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import InterpretationError, VerifyException

from gawee_dialect.dialect.types import DTYPE_NAMES, dtype_name
from gawee_dialect.hints import isa

Array: TypeAlias = NDArray[np.generic]
"""An array, or a NumPy scalar where the IR has a scalar."""

ShapedType: TypeAlias = TensorType[Attribute] | MemRefType[Attribute]

SHAPED = (TensorType, MemRefType, VectorType)
"""Classes of types that have elements."""


def dtype_of(type: Attribute) -> np.dtype[np.generic]:
    """Return the dtype of an element type, or of a tensor's, memref's or vector's elements.

    `index` is int64. Raises InterpretationError for a type that NumPy has no array of.
    """
    # By class: loops ask for every number, and `isinstance` of an abstract class takes longer.
    if type.__class__ in SHAPED:
        return dtype_of(getattr(type, "element_type"))
    if type.__class__ is IndexType:
        return np.dtype(np.int64)
    if type in DTYPE_NAMES:
        return np.dtype(DTYPE_NAMES[type])
    if isinstance(type, BFloat16Type):
        return _bfloat16()
    if isa(type, IntegerType) and type.width.data == 16:
        return np.dtype(np.int16)
    raise InterpretationError(f"unsupported element type '{type}'")


def _bfloat16() -> np.dtype[np.generic]:
    try:
        return np.dtype(dtype_name(bf16))
    except VerifyException as error:
        raise InterpretationError(str(error)) from error


def is_half(dtype: np.dtype[np.generic]) -> bool:
    """Whether a dtype is a float of 16 bits, sums of which are taken in float32."""
    return dtype.name in ("float16", "bfloat16")


def shaped_type(value: SSAValue) -> ShapedType:
    """Return the type of a value that an op definition constrains to be a tensor or memref."""
    assert isa(value.type, ShapedType)
    return value.type


def attribute_value(value: Attribute, type: Attribute) -> Array:
    """Return what a constant attribute stands for: a scalar, or an array for a dense one.

    Raises InterpretationError for an attribute that has no value.
    """
    dtype = dtype_of(type)
    if isa(value, DenseIntOrFPElementsAttr):
        elements = np.array(value.get_values(), dtype=dtype)
        if elements.size == 1:
            return np.full(value.get_shape(), elements[0], dtype=dtype)
        return elements.reshape(value.get_shape())
    if isa(value, FloatAttr):
        return np.array(value.value.data).astype(dtype)[()]
    if isa(value, IntegerAttr):
        return np.array(value.value.data).astype(dtype)[()]
    raise InterpretationError(f"unsupported constant '{value}'")


def array_shape(type: ShapedType) -> tuple[int, ...]:
    """Return the shape of the array of a type; lanes of vectors in memory are its last axis."""
    element = type.get_element_type()
    lanes = element.get_shape() if isa(element, VectorType[Attribute]) else ()
    return (*type.get_shape(), *lanes)


class Unwritten(Enum):
    """What memory holds that nothing was written to, so that a read of it shows."""

    ONES = "ones"
    """Every bit is set: a float is NaN, an integer -1."""

    SIGNALLING = "signalling"
    """A float is a signalling NaN, an integer one of the largest, of no round value."""

    LARGEST = "largest"
    """A float is finite, and about as large as it can be: what ignores NaN does not ignore it."""


_PATTERNS: Mapping[Unwritten, Mapping[str, bytes]] = {
    Unwritten.ONES: {},
    # 0x7d01, 0x7ff47f017ff47f01, 0x7fa17fa1
    Unwritten.SIGNALLING: {"f2": b"\x01\x7d", "f8": b"\x01\x7f\xf4\x7f", "": b"\xa1\x7f"},
    Unwritten.LARGEST: {"f2": b"\xff\x7b", "": b"\x7f"},
}
"""The bytes that are repeated, by a dtype's kind and size, or for all others."""

_unwritten: ContextVar[Unwritten] = ContextVar("unwritten", default=Unwritten.ONES)


@contextmanager
def unwritten_memory(holds: Unwritten) -> Generator[None]:
    """Choose what `fresh_array` fills arrays with inside a with block."""
    token = _unwritten.set(holds)
    try:
        yield
    finally:
        _unwritten.reset(token)


_poison: ContextVar[bool] = ContextVar("poison", default=False)


@contextmanager
def poison_as_unwritten() -> Generator[None]:
    """Let an op whose result is poison make what memory holds that nothing was written to.

    It may be computed, as long as nothing that counts depends on it. Elsewhere it is an error.
    """
    token = _poison.set(True)
    try:
        yield
    finally:
        _poison.reset(token)


def with_poison(made: Array, where: Array, message: str) -> Array:
    """Return a result with poison in some places; raises InterpretationError where none may be."""
    if not np.any(where):
        return made
    if not _poison.get():
        raise InterpretationError(message)
    poison = np.empty_like(made)
    fill_unwritten(poison)
    return np.where(where, poison, made)[()]


def fill_unwritten(array: Array) -> None:
    """Fill an array in C order with what memory holds that nothing was written to."""
    dtype, patterns = array.dtype, _PATTERNS[_unwritten.get()]
    if dtype == np.bool_:
        array.fill(True)
        return
    pattern = patterns.get(f"{dtype.kind}{dtype.itemsize}", patterns.get("", b"\xff"))
    data = array.reshape(-1).view(np.uint8)
    whole = data.size - data.size % len(pattern)
    words = data[:whole].view(f"u{len(pattern)}")
    words.fill(int.from_bytes(pattern, sys.byteorder))
    data[whole:] = pattern[0]


def fresh_array(type: Attribute, sizes: Sequence[Array] = ()) -> Array:
    """Allocate an array of a type, of given sizes where it is dynamic; a read before the first
    write shows.

    It holds what `unwritten_memory` says. Raises InterpretationError where sizes are missing.
    """
    assert isa(type, ShapedType)
    dtype, given = dtype_of(type), iter(sizes)
    shape = [int(next(given, size)) if size < 0 else size for size in array_shape(type)]
    if any(size < 0 for size in shape):
        raise InterpretationError(f"expected a static shape, got '{type}'")
    array = np.empty(shape, dtype)
    fill_unwritten(array)
    return array


def view_of_bytes(
    source: Array, shift: int, result: SSAValue, sizes: Sequence[Array] = ()
) -> Array:
    """Read bytes from `shift` on as an array of a memref's type, of given sizes if it is dynamic.

    Raises InterpretationError where the bytes do not suffice.
    """
    given, dtype = iter(sizes), dtype_of(result.type)
    shape = [
        int(next(given, size)) if size < 0 else size for size in array_shape(shaped_type(result))
    ]
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if shift < 0 or shift + count > source.size:
        raise InterpretationError(
            f"{count} bytes from byte {shift} are out of bounds for {source.size} bytes"
        )
    return source[shift : shift + count].view(dtype).reshape(shape)


# In which precision an op accumulates.
#
# float32 and float64 accumulate in themselves. float16 accumulates in float32 and is rounded once,
# at the end of the op, as CPU kernels do; a sum of a few thousand terms would otherwise stop
# growing.


def accumulator(array: Array) -> Array:
    """Return the array in the precision that sums of it are taken in."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def rounded(array: Array, dtype: np.dtype[np.generic]) -> Array:
    """Round a result to the IR's element type."""
    return array.astype(dtype, copy=False)
