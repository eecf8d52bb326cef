"""Nodes whose inputs are known, computed when the graph is read: how graphs compute shapes."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]

MAX_ELEMENTS = 4096
"""Larger arrays are weights: they are computed where the graph runs, once, and not copied here."""


def _slice(
    data: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Array:
    count = len(np.asarray(starts))
    chosen = range(count) if axes is None else np.asarray(axes).tolist()
    every = [1] * count if steps is None else np.asarray(steps).tolist()
    index = [slice(None)] * data.ndim
    for axis, start, end, step in zip(
        chosen, np.asarray(starts).tolist(), np.asarray(ends).tolist(), every, strict=True
    ):
        stop = None if step < 0 and end < -data.shape[axis] else end
        index[axis] = slice(start, stop, step)
    return data[tuple(index)]


def _axes(axes: Array | Sequence[int]) -> tuple[int, ...]:
    return tuple(int(axis) for axis in np.asarray(axes).reshape(-1))


def _squeeze(data: Array, axes: Array | None = None) -> Array:
    return np.squeeze(data, None if axes is None else _axes(axes))


def _reshape(data: Array, shape: Array, allowzero: int = 0) -> Array:
    sizes = [
        data.shape[i] if size == 0 and not allowzero else size
        for i, size in enumerate(np.asarray(shape).tolist())
    ]
    return data.reshape(sizes)


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(np.divide(a, b))
    quotient = np.floor_divide(np.abs(a), np.abs(b))
    return np.asarray(np.sign(a) * np.sign(b) * quotient, a.dtype)


def _gather(data: Array, indices: Array, axis: int = 0) -> Array:
    places = np.asarray(indices, np.int64)
    return data[(*[slice(None)] * (axis % data.ndim), places)]


def _concat(*inputs: Array, axis: int) -> Array:
    return np.concatenate(inputs, axis)


def _transpose(data: Array, perm: Sequence[int] | None = None) -> Array:
    return data.transpose(perm)


def _reduction(function: Callable[..., Array]) -> Callable[..., Array]:
    def reduce(data: Array, axes: Array | None = None, keepdims: int = 1) -> Array:
        over = None if axes is None or np.size(axes) == 0 else _axes(axes)
        return function(data, axis=over, keepdims=bool(keepdims)).astype(data.dtype)

    return reduce


def _identity(x: Array) -> Array:
    return x


def _unsqueeze(x: Array, axes: Array | Sequence[int]) -> Array:
    return np.expand_dims(x, _axes(axes))


def _expand(x: Array, shape: Array) -> Array:
    sizes = _axes(shape)
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, sizes))


def _tile(x: Array, repeats: Array) -> Array:
    return np.tile(x, _axes(repeats))


def _range(start: Array, limit: Array, delta: Array) -> Array:
    first, last, step = (float(each.item()) for each in (start, limit, delta))
    return np.asarray(np.arange(first, last, step), start.dtype)


def _smallest(*inputs: Array) -> Array:
    return np.minimum.reduce(np.broadcast_arrays(*inputs))


def _largest(*inputs: Array) -> Array:
    return np.maximum.reduce(np.broadcast_arrays(*inputs))


FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    **{"Identity": _identity, "Gather": _gather, "Concat": _concat, "Slice": _slice},
    **{"Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Reshape": _reshape},
    **{"Transpose": _transpose, "Expand": _expand, "Tile": _tile, "Range": _range},
    **{"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide},
    **{"Neg": np.negative, "Abs": np.abs, "Floor": np.floor, "Ceil": np.ceil, "Sqrt": np.sqrt},
    **{"Min": _smallest, "Max": _largest, "Equal": np.equal, "Less": np.less},
    **{"LessOrEqual": np.less_equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal},
    **{"Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or, "Where": np.where},
    **{"ReduceProd": _reduction(np.prod), "ReduceSum": _reduction(np.sum)},
    **{"ReduceMax": _reduction(np.max), "ReduceMin": _reduction(np.min)},
}
"""What NumPy computes of known inputs, by op type; attributes are keyword arguments."""


def fold(
    op_type: str, inputs: Sequence[Array | None], attributes: Mapping[str, object]
) -> Array | None:
    """Return what a node of known inputs makes; None where it is not computed here.

    What NumPy refuses is left to the op's mapping, which says what is wrong.
    """
    function = FUNCTIONS.get(op_type)
    if function is None or any(each is not None and each.size > MAX_ELEMENTS for each in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(function(*inputs, **attributes))
    except (TypeError, ValueError, IndexError, AttributeError):
        return None
    return result if result.size <= MAX_ELEMENTS else None
