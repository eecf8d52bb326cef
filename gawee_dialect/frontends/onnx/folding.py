"""Nodes whose inputs are known, computed when the graph is read: how graphs compute shapes."""

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from gawee_dialect.dialect.open_size import OpenSize, UnknownSize, is_open
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.frontends.onnx.model import DTYPES, Array, OnnxNode, Scope, Value, is_array
from gawee_dialect.frontends.op_mapping.registry import Refusal, value_text

MAX_ELEMENTS = 4096
"""Larger arrays are weights: they are computed where the graph runs, once, and not copied here."""


def _slice(
    data: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Array | None:
    if any(_is_open(each) for each in (starts, ends, steps)):
        return None
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


def _is_open(sizes: Array | Sequence[int] | None) -> bool:
    return sizes is not None and is_open(np.asarray(sizes).reshape(-1).tolist())


def _axes(axes: Array | Sequence[int]) -> tuple[int, ...]:
    every: list[int] = np.asarray(axes).reshape(-1).tolist()
    return tuple(axis if isinstance(axis, OpenSize) else int(axis) for axis in every)


def _squeeze(data: Array, axes: Array | None = None) -> Array:
    return np.squeeze(data, None if axes is None else _axes(axes))


def _reshape(data: Array, shape: Array, allowzero: int = 0) -> Array:
    sizes = [
        data.shape[i] if size == 0 and not allowzero else size
        for i, size in enumerate(np.asarray(shape).tolist())
    ]
    return data.reshape(sizes)


def _divide(a: Array, b: Array) -> Array:
    if "O" in (a.dtype.kind, b.dtype.kind):
        return np.asarray(np.floor_divide(a, b), object)
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


def _expand(x: Array, shape: Array) -> Array | None:
    sizes = _axes(shape)
    if is_open(sizes):
        return None
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, sizes))


def _tile(x: Array, repeats: Array) -> Array | None:
    if is_open(_axes(repeats)) or prod(_axes(repeats)) * x.size > MAX_ELEMENTS:
        return None
    return np.tile(x, _axes(repeats))


def _range(start: Array, limit: Array, delta: Array) -> Array | None:
    if any(each.dtype.kind == "O" for each in (start, limit, delta)):
        return None
    first, last, step = (float(each.item()) for each in (start, limit, delta))
    if (last - first) / step > MAX_ELEMENTS:
        return None
    return np.asarray(np.arange(first, last, step), start.dtype)


def _total(*inputs: Array) -> Array:
    return np.asarray(np.add.reduce(np.broadcast_arrays(*inputs)), inputs[0].dtype)


def _smallest(*inputs: Array) -> Array:
    return np.minimum.reduce(np.broadcast_arrays(*inputs))


def _largest(*inputs: Array) -> Array:
    return np.maximum.reduce(np.broadcast_arrays(*inputs))


def _cast(input: Array, to: int, saturate: int = 1, round_mode: str = "up") -> Array | None:
    name = DTYPES.get(to)
    if input.dtype.kind == "O":  # sizes that are open
        return input if name in ("int32", "int64") else None
    return None if name is None else input.astype(name)


def _cast_like(
    input: Array, target_type: Array, saturate: int = 1, round_mode: str = "up"
) -> Array:
    return input.astype(target_type.dtype)


def _constant_of_shape(input: Array, value: Array | None = None) -> Array | None:
    one = np.zeros((), np.float32) if value is None else np.asarray(value).reshape(())
    sizes = _axes(input)
    if is_open(sizes):
        return None
    return np.full(sizes, one, one.dtype) if prod(sizes) <= MAX_ELEMENTS else None


def _mod(a: Array, b: Array, fmod: int = 0) -> Array:
    return np.fmod(a, b) if fmod else np.mod(a, b)


def _flatten(input: Array, axis: int = 1) -> Array:
    return input.reshape(prod(input.shape[: axis % (input.ndim + 1)]), -1)


def _pow(x: Array, y: Array) -> Array:
    return np.power(x, y).astype(x.dtype)


def _relu(x: Array) -> Array:
    return np.maximum(x, np.zeros((), x.dtype))


def _split(
    input: Array,
    split: Array | Sequence[int] | None = None,
    axis: int = 0,
    num_outputs: int | None = None,
) -> Sequence[Array] | None:
    size = input.shape[axis]
    if _is_open(split) or (split is None and num_outputs is None):
        return None
    part = -(-size // max(num_outputs or 1, 1))
    sizes = [part] * (num_outputs or 1) if split is None else list(_axes(split))
    ends = np.cumsum(sizes)
    return [
        np.take(input, range(end - one, min(end, size)), axis)
        for one, end in zip(sizes, ends.tolist(), strict=True)
    ]


def _nonzero(x: Array) -> Array:
    return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)


def _cumsum(x: Array, axis: Array, exclusive: int = 0, reverse: int = 0) -> Array | None:
    if exclusive or reverse:
        return None
    return np.cumsum(x, int(axis.item()), dtype=x.dtype)


FUNCTIONS: Mapping[str, Callable[..., Array | Sequence[Array] | None]] = {
    **{"Identity": _identity, "Gather": _gather, "Concat": _concat, "Slice": _slice},
    **{"Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Reshape": _reshape},
    **{"Transpose": _transpose, "Expand": _expand, "Tile": _tile, "Range": _range},
    **{"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide},
    **{"Cast": _cast, "CastLike": _cast_like, "ConstantOfShape": _constant_of_shape},
    **{"Mod": _mod, "Flatten": _flatten, "Pow": _pow, "NonZero": _nonzero, "CumSum": _cumsum},
    **{"Relu": _relu, "Split": _split},
    **{"Sum": _total, "Sign": np.sign, "Round": np.rint, "Exp": np.exp, "Log": np.log},
    **{"Neg": np.negative, "Abs": np.abs, "Floor": np.floor, "Ceil": np.ceil, "Sqrt": np.sqrt},
    **{"Min": _smallest, "Max": _largest, "Equal": np.equal, "Less": np.less},
    **{"LessOrEqual": np.less_equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal},
    **{"Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or, "Where": np.where},
    **{"ReduceProd": _reduction(np.prod), "ReduceSum": _reduction(np.sum)},
    **{"ReduceMax": _reduction(np.max), "ReduceMin": _reduction(np.min)},
}
"""What NumPy computes of known inputs, by op type; attributes are keyword arguments."""


def _numbers(array: Array) -> Array:
    """Return numbers that stood among open sizes as an array of integers."""
    made = np.asarray(array)
    known = made.dtype.kind == "O" and not _is_open(made)
    return made.astype(np.int64) if known else made


def fold(
    op_type: str, inputs: Sequence[Array | None], attributes: Mapping[str, object]
) -> Sequence[Array] | None:
    """Return the outputs of a node of known inputs; None where it is not computed here.

    What NumPy refuses is left to the op's mapping, which says what is wrong.
    """
    function = FUNCTIONS.get(op_type)
    if function is None or any(each is not None and each.size > MAX_ELEMENTS for each in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            made = function(*inputs, **attributes)
            if made is None:
                return None
            results = list(map(_numbers, made if isinstance(made, list) else [np.asarray(made)]))
    except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError, UnknownSize):
        return None
    return results if all(each.size <= MAX_ELEMENTS for each in results) else None


# What a node makes where that is known when the graph is read.


def known_results(node: OnnxNode, inputs: Sequence[Value | None]) -> Sequence[Array] | None:
    """Return what a node makes where that is known when the graph is read."""
    if node.full_type == "Constant":
        return [_constant(node)]
    if node.full_type in ("Shape", "Size") and inputs and inputs[0] is not None:
        return [_size(node, inputs[0])]
    if any(each is not None and each.elements is None for each in inputs):
        return None
    if node.domain not in ("", "ai.onnx"):
        return None
    return fold(node.op_type, [each and each.elements for each in inputs], node.attributes)


def offer_results(node: OnnxNode, inputs: Sequence[Value | None], scope: Scope) -> None:
    """Compute a node's results from offered elements, for importers that need constants."""
    if node.domain not in ("", "ai.onnx") or not any(each and each.sources for each in inputs):
        return
    if any(each is not None and each.known is None for each in inputs):
        return
    made = fold(node.op_type, [each and each.known for each in inputs], node.attributes)
    for name, offered in zip(node.outputs, made or (), strict=False):
        if name in scope:
            scope[name].offered = offered


def _constant(node: OnnxNode) -> Array:
    kinds = {"value_float": np.float32, "value_floats": np.float32}
    for key, value in node.attributes.items():
        if is_array(value):
            return value
        if key.startswith("value_int") or key in kinds:
            return _of_dtype(value, kinds.get(key, np.int64))
    given = ", ".join(node.attributes)
    raise Refusal(f"unsupported constant of {given}; supported: numbers and dense tensors")


def _of_dtype(value: object, dtype: type[np.generic]) -> Array:
    try:
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise Refusal(f"expected the constant to be numbers, got {value_text(value)}") from error


def _size(node: OnnxNode, value: Value) -> Array:
    if value.elements is not None:
        shape: Sequence[int] = value.elements.shape
    else:
        assert value.tensor is not None
        shape = tensor_type(value.tensor).get_shape()
    if node.op_type == "Size" and is_open(shape):
        return sizes_array(prod(shape))
    if node.op_type == "Size":
        return np.asarray(int(np.prod(shape)), np.int64)
    start, end = node.attributes.get("start", 0), node.attributes.get("end", len(shape))
    if not isinstance(start, int) or not isinstance(end, int):
        got = f"{value_text(start)} and {value_text(end)}"
        raise Refusal(f"expected attributes 'start' and 'end' to be integers, got {got}")
    return sizes_array(shape[slice(start, end)])


def sizes_array(sizes: int | Sequence[int]) -> Array:
    """Return sizes as elements: integers, or Python's objects where some are open."""
    several = [sizes] if isinstance(sizes, int) else sizes
    array = np.empty((len(several),), object if is_open(several) else np.int64)
    array[:] = several
    return array.reshape(()) if isinstance(sizes, int) else array
