"""Weights and constants that a graph refers to: types, checked paths, constants as attributes."""

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)
from xdsl.utils.hints import isa

from gawee_dialect.dialect.types import ELEMENT_TYPES, AnyTensor, dtype_name, shaped_bytes
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.parameters.data_files import (
    MAX_TENSOR_BYTES,
    FileProblem,
    check_relative,
    find_file,
)

SMALL = 4096
"""Constants of up to so many elements are written in the IR; larger ones are arguments."""


def read_type(shape: Sequence[int], dtype: str, what: str) -> AnyTensor:
    """Return the tensor type of a shape and a dtype, spelled as NumPy or as PyTorch does.

    Raises Refusal for an unknown dtype and for a shape no machine could hold.
    """
    element = ELEMENT_TYPES.get(dtype.removeprefix("torch."))
    if element is None:
        raise Refusal(
            f"unsupported dtype '{dtype}' of {what}; supported: {', '.join(ELEMENT_TYPES)}"
        )
    # Checked before a type is made: a type's sizes are 64-bit integers.
    if prod(max(size, 1) for size in shape) > MAX_TENSOR_BYTES:
        raise Refusal(f"expected {what} of at most {MAX_TENSOR_BYTES} bytes, got shape {[*shape]}")
    type: AnyTensor = TensorType(element, shape)
    if shaped_bytes(type) > MAX_TENSOR_BYTES:
        raise Refusal(f"expected {what} of at most {MAX_TENSOR_BYTES} bytes, got shape {[*shape]}")
    return type


def check_file(folder: Path | None, path: str, type: AnyTensor, what: str) -> str:
    """Return the normal form of a data file's path; check the file where the folder is known.

    Raises Refusal for a path that leaves the folder, a missing file and a wrong number of bytes.
    """
    try:
        if folder is not None:
            find_file(folder, path, shaped_bytes(type))
        return check_relative(path)
    except FileProblem as problem:
        raise Refusal(f"{problem} (of {what}, '{type}')") from problem


def read_constant(folder: Path, path: str, type: AnyTensor, what: str) -> DenseIntOrFPElementsAttr:
    """Read a file, checked before, as a dense attribute; raises Refusal where it has changed."""
    array = np.fromfile(folder / path, dtype=np.dtype(dtype_name(type.element_type)))
    if array.nbytes != shaped_bytes(type):
        raise Refusal(f"expected file '{path}' of {shaped_bytes(type)} bytes (of {what})")
    return dense(type, array)


def dense(type: AnyTensor, array: NDArray[np.generic]) -> DenseIntOrFPElementsAttr:
    """Return a dense attribute of an array's elements."""
    assert isa(type, TensorType[AnyFloat | IntegerType])
    return DenseIntOrFPElementsAttr(type, BytesAttr(array.tobytes()))


def elements(attribute: DenseIntOrFPElementsAttr) -> NDArray[np.generic]:
    """Return the elements of a dense attribute of a tensor type, as an array of its shape."""
    type = attribute.type
    assert isa(type, AnyTensor)
    dtype = np.dtype(dtype_name(type.element_type))
    return np.frombuffer(attribute.data.data, dtype=dtype).reshape(type.get_shape())
