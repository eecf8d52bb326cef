"""Numbers to blocks of small integers with a scale, and back: GGUF's formats, in NumPy.

https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h has the layout of a block.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from weights import OFFSETS, SCALES, STORED, VALUES

from gawee_dialect.parameters.store import Array, array_dtype

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


def stored_as(dtype: str, name: str, values: Floats) -> Mapping[str, Array]:
    """Return the arrays that a weight is stored as; rows stay f32 in formats of blocks."""
    array = as_written(dtype, values)
    if array.dtype != np.uint8:
        return {name: array}
    return {name + part: each for part, each in parts_of(dtype, array).items()}


def as_written(dtype: str, values: Floats) -> Array:
    """Return what a .gguf file has of a weight: floats, or bytes (rows, blocks, bytes of a block).

    Rows stay f32 in formats of blocks.
    """
    if dtype not in BLOCKS:
        return values.astype(array_dtype(dtype))
    return quantized(dtype, values) if values.ndim > 1 else values


BLOCKS: Mapping[str, tuple[int, int]] = {
    "q8_0": (32, 34),
    "q4_0": (32, 18),
    "q4_k": (256, 144),
    "q6_k": (256, 210),
}
"""The formats of blocks: how many numbers a block has, and how many bytes."""


def quantized(dtype: str, values: Floats) -> Bytes:
    """Return the bytes of blocks along rows, (rows, blocks, bytes): the nearest to each number that
    the greatest of its block leaves, by no search for better scales."""
    blocks = values.reshape(len(values), -1, BLOCKS[dtype][0])
    if dtype in ("q8_0", "q4_0"):
        least, most = blocks.min(-1, keepdims=True), blocks.max(-1, keepdims=True)
        if dtype == "q8_0":
            scales = np.maximum(-least, most) / 127
            numbers = np.rint(blocks * _inverse(scales)).astype(np.int8).view(np.uint8)
        else:
            scales = np.where(-least > most, least, most) / -8
            levels = np.floor(blocks * _inverse(scales) + np.float32(8.5))
            numbers = _pairs(np.minimum(levels, 15).astype(np.uint8), 16)
        return np.concatenate((_bytes(scales), numbers), -1)
    if dtype == "q6_k":
        runs = blocks.reshape(*blocks.shape[:2], 16, 16)
        scale = np.abs(runs).max(-1) / 31
        whole = _half(scale.max(-1, keepdims=True) / 127)
        scales = np.rint(scale * _inverse(whole))
        steps = _inverse(scales * whole)[..., None]
        levels = np.clip(np.rint(runs * steps) + 32, 0, 63).astype(np.uint8)
        quarters = levels.reshape(*blocks.shape[:2], 2, 4, 32)
        low = (quarters[..., :2, :] & 15) | (quarters[..., 2:, :] & 15) << 4
        high = sum((quarters[..., at, :] >> 4) << 2 * at for at in range(4))
        parts = (low, np.asarray(high, np.uint8), scales.astype(np.int8).view(np.uint8))
        return np.concatenate((*map(_flat, parts), _bytes(whole)), -1)
    runs = blocks.reshape(*blocks.shape[:2], 8, 32)
    least = np.minimum(runs.min(-1), 0)
    step = (runs.max(-1) - least) / 15
    both = [_half(each.max(-1, keepdims=True) / 63) for each in (step, -least)]
    scales, mins = (
        np.rint(each * _inverse(whole)).astype(np.uint8)
        for each, whole in zip((step, -least), both, strict=True)
    )
    lowest = (mins * both[1])[..., None]
    levels = np.clip(np.rint((runs + lowest) * _inverse(scales * both[0])[..., None]), 0, 15)
    numbers = _pairs(levels.astype(np.uint8).reshape(*blocks.shape[:2], 4, 64), 32)
    packed = np.concatenate(
        (
            scales[..., :4] | scales[..., 4:] >> 4 << 6,
            mins[..., :4] | mins[..., 4:] >> 4 << 6,
            scales[..., 4:] & 15 | mins[..., 4:] << 4,
        ),
        -1,
    )
    return np.concatenate((*map(_bytes, both), packed, _flat(numbers)), -1)


def parts_of(dtype: str, blocks: Bytes) -> Mapping[str, Array]:
    """Return the arrays that a graph reads: integers, their scales, and what is added to them."""
    return {part: part_of(dtype, part, blocks) for part in STORED[dtype].parts}


def part_of(dtype: str, part: str, blocks: Bytes) -> Array:
    """Return one of the arrays that a graph reads."""
    match dtype, part:
        case "q8_0" | "q4_0", _:
            if part == SCALES:
                return _halves(blocks[..., :2])[..., 0]
            return np.ascontiguousarray(blocks[..., 2:]).view(STORED[dtype].element)
        case "q6_k", _:
            return _values_of_q6_k(blocks) if part == VALUES else _scales_of_q6_k(blocks)
        case _, part if part == VALUES:
            pairs = blocks[..., 16:].reshape(*blocks.shape[:2], 4, 1, 32)
            levels = np.concatenate((pairs & 15, pairs >> 4), -2)
            levels = levels.reshape(len(blocks), -1, 32)
            return _pairs(levels, 16).view(np.int32)
        case _:
            scales, mins = _scales_and_mins_of_q4_k(blocks)
            return scales if part == SCALES else 8 * scales - mins


def _values_of_q6_k(blocks: Bytes) -> Array:
    rows, count, _ = blocks.shape
    low = blocks[..., :128].reshape(rows, count, 2, 2, 32)
    high = blocks[..., 128:192].reshape(rows, count, 2, 1, 32)
    shifts = np.array([0, 2, 4, 6], np.uint8)[:, None]
    levels = np.concatenate((low & 15, low >> 4), -2) | (high >> shifts & 3) << 4
    return (levels.astype(np.int8) - 32).reshape(rows, count * 16, 16)


def _scales_of_q6_k(blocks: Bytes) -> Floats:
    scales = np.ascontiguousarray(blocks[..., 192:208]).view(np.int8)
    whole = _halves(blocks[..., 208:]).astype(np.float32)
    return (scales * whole).reshape(len(blocks), -1)


def _scales_and_mins_of_q4_k(blocks: Bytes) -> tuple[Floats, Floats]:
    both, packed = _halves(blocks[..., :4]).astype(np.float32), blocks[..., 4:16]
    first, second, last = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate((first & 63, last & 15 | first >> 6 << 4), -1) * both[..., :1]
    mins = np.concatenate((second & 63, last >> 4 | second >> 6 << 4), -1) * both[..., 1:]
    return scales.reshape(len(blocks), -1), mins.reshape(len(blocks), -1)


def widened(parts: Mapping[str, Array]) -> Floats:
    """Return the numbers that the arrays of blocks stand for, in rows."""
    values, scales = parts[VALUES], parts[SCALES].astype(np.float32)
    if values.dtype == np.int8:
        numbers = values.astype(np.float32)
    else:
        pairs = values.view(np.uint8)
        numbers = np.concatenate((pairs & 15, pairs >> 4), -1).astype(np.float32) - 8
    numbers = numbers * scales[..., None]
    if OFFSETS in parts:
        numbers += parts[OFFSETS][..., None]
    return numbers.reshape(len(values), -1)


def _pairs(numbers: Bytes, half: int) -> Bytes:
    """Put the numbers of 4 bits of the first half of each row, and the others, in one byte each."""
    return numbers[..., :half] | numbers[..., half:] << 4


def _inverse(scales: Floats) -> Floats:
    return np.divide(1, scales, out=np.zeros_like(scales), where=scales != 0)


def _half(values: Floats) -> Floats:
    return values.astype(np.float16).astype(np.float32)


def _bytes(values: Floats) -> Bytes:
    return values.astype(np.float16).view(np.uint8)


def _halves(data: Bytes) -> NDArray[np.float16]:
    return np.ascontiguousarray(data).view(np.float16)


def _flat(numbers: Bytes) -> Bytes:
    return numbers.reshape(*numbers.shape[:2], -1)
