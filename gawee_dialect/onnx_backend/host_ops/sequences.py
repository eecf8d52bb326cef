"""Ops on sequences and optional values."""

import numpy as np

from gawee_dialect.onnx_backend.host_ops.registry import host_op
from gawee_dialect.onnx_backend.values import Array, Value, is_array


def _place(position: Array, count: int) -> int:
    place = int(position.item())
    if not -count <= place <= count:
        raise IndexError(f"expected a position from {-count} to {count}, got {place}")
    return place


@host_op("SequenceConstruct")
def sequence_construct(*inputs: Value) -> list[Value]:
    """A sequence of tensors"""
    return list(inputs)


@host_op("SequenceEmpty")
def sequence_empty(dtype: int = 1) -> list[Value]:
    """A sequence without elements"""
    return []


@host_op("SequenceAt")
def sequence_at(sequence: list[Value], position: Array) -> Value:
    """The element at a position, which counts from the end where it is negative"""
    return sequence[_place(position, len(sequence))]


@host_op("SequenceInsert")
def sequence_insert(
    sequence: list[Value], tensor: Value, position: Array | None = None
) -> list[Value]:
    """A tensor before a position, or at the end"""
    place = len(sequence) if position is None else _place(position, len(sequence))
    return [*sequence[:place], tensor, *sequence[place:]]


@host_op("SequenceErase")
def sequence_erase(sequence: list[Value], position: Array | None = None) -> list[Value]:
    """All but the element at a position, or the last one"""
    left = list(sequence)
    left.pop(-1 if position is None else _place(position, len(sequence)))
    return left


@host_op("SequenceLength")
def sequence_length(sequence: list[Value]) -> Array:
    """How many elements there are"""
    return np.asarray(len(sequence), np.int64)


@host_op("SplitToSequence")
def split_to_sequence(
    input: Array, split: Array | None = None, axis: int = 0, keepdims: int = 1
) -> list[Value]:
    """Parts along an axis: of the same size, of sizes of their own, or single indices"""
    size = input.shape[axis]
    if split is None:
        rows: list[Value] = list(np.split(input, size, axis))
        return rows if keepdims else [np.take(input, index, axis) for index in range(size)]
    part = int(split.reshape(-1)[0])
    sizes = split.tolist() if split.ndim else [part] * (size // part)
    return list(np.split(input, np.cumsum(sizes), axis)[: len(sizes) + (sum(sizes) < size)])


@host_op("ConcatFromSequence")
def concat_from_sequence(sequence: list[Value], axis: int, new_axis: int = 0) -> Array:
    """The elements, one behind the other along an axis, or along a new one"""
    arrays = [each for each in sequence if is_array(each)]
    return np.stack(arrays, axis) if new_axis else np.concatenate(arrays, axis)


@host_op("Optional")
def optional(input: Value = None, type: object = None) -> Value:
    """A value that may be absent"""
    return input


@host_op("OptionalHasElement")
def optional_has_element(input: Value = None) -> Array:
    """Whether it is there"""
    return np.asarray(input is not None)


@host_op("OptionalGetElement")
def optional_get_element(input: Value) -> Value:
    """The value, which must be there"""
    if input is None:
        raise ValueError("expected an optional value that is there, got none")
    return input


@host_op("Identity")
def identity(input: Value = None) -> Value:
    """The value itself"""
    return input
