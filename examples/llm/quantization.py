"""Numbers to blocks of small integers with a scale, and back: GGUF's formats, in NumPy."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from weights import BLOCK, BYTES, SCALES, VALUES

from gawee_dialect.parameters.store import Array, array_dtype

Floats = NDArray[np.float32]


def stored_as(dtype: str, name: str, values: Floats) -> Mapping[str, Array]:
    """Return the arrays that a weight is stored as; rows stay f32 in formats of blocks."""
    if dtype not in BYTES:
        return {name: values.astype(array_dtype(dtype))}
    if values.ndim == 1:
        return {name: values}
    bytes_, scales = quantized(dtype, values)
    return {name + VALUES: bytes_, name + SCALES: scales}


def quantized(dtype: str, values: Floats) -> tuple[NDArray[np.integer], NDArray[np.float16]]:
    """Return the integers of each block along rows, and their scales."""
    blocks = values.reshape(len(values), -1, BLOCK)
    least, most = blocks.min(-1, keepdims=True), blocks.max(-1, keepdims=True)
    if dtype == "q8_0":
        scales = np.maximum(-least, most) / 127
        numbers = np.rint(blocks * _inverse(scales))
        return numbers.astype(np.int8), scales[..., 0].astype(np.float16)
    furthest = np.where(-least > most, least, most)
    scales = furthest / -8
    numbers = np.minimum(np.floor(blocks * _inverse(scales) + np.float32(8.5)), 15).astype(np.uint8)
    pairs = numbers[..., :16] | numbers[..., 16:] << 4
    return pairs.view(np.int32), scales[..., 0].astype(np.float16)


def _inverse(scales: Floats) -> Floats:
    return np.divide(1, scales, out=np.zeros_like(scales), where=scales != 0)


def widened(values: NDArray[np.integer], scales: NDArray[np.float16]) -> Floats:
    """Return the numbers that blocks stand for, in rows."""
    if values.dtype == np.int8:
        numbers = values.astype(np.float32)
    else:
        pairs = values.view(np.uint8)
        numbers = np.concatenate((pairs & 15, pairs >> 4), -1).astype(np.float32) - 8
    return (numbers * scales.astype(np.float32)[..., None]).reshape(len(values), -1)
