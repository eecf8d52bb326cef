"""Dense attributes as NumPy arrays and back. NumPy is imported only when one is converted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, i1

from gawee_dialect.dialect.types import AnyTensor, dtype_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.generic]
    Positions: TypeAlias = NDArray[np.int64]


def array_of(value: DenseIntOrFPElementsAttr) -> Array:
    """Return a dense attribute's elements as an array of its shape and NumPy's dtype for it.

    The array is read-only, except where the element type is i1. Raises VerifyException for an
    element type that NumPy has no array of.
    """
    import numpy as np

    element = value.get_element_type()
    dtype = np.dtype(dtype_name(element))
    # xDSL packs a true i1 as the byte 0xFF, NumPy as 0x01.
    stored = np.dtype(np.uint8) if element == i1 else dtype.newbyteorder("<")
    array = np.frombuffer(value.data.data, stored).reshape(value.get_shape())
    return array.astype(np.bool_) if element == i1 else array.astype(dtype, copy=False)


def is_splat(value: DenseIntOrFPElementsAttr) -> bool:
    """Whether all elements are one number; xDSL's own ends in an IndexError where there are none."""
    return len(value) > 0 and value.is_splat()


def dense_of(array: Array, type: AnyTensor) -> DenseIntOrFPElementsAttr:
    """Return an array of a type's shape as a dense attribute, rounded to the type's elements.

    Raises VerifyException where NumPy has no array of the element type.
    """
    import numpy as np

    assert array.shape == type.get_shape(), f"{array.shape} is not the shape of {type}"
    dtype = np.dtype(dtype_name(type.element_type))
    values = np.ascontiguousarray(array.astype(dtype).astype(dtype.newbyteorder("<")))
    # xDSL packs a true i1 as the byte 0xFF.
    data = (values.view(np.uint8) * 255) if type.element_type == i1 else values
    return DenseIntOrFPElementsAttr.new([type, BytesAttr(data.tobytes())])
