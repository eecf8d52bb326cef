"""What a node makes where that is known when the graph is read."""

from collections.abc import Sequence
from math import prod

import numpy as np

from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.frontends.onnx.folding import fold
from gawee_dialect.frontends.onnx.model import Array, OnnxNode, is_array
from gawee_dialect.frontends.onnx.value import Scope, Value
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import value_text


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
            return _numbers(value, kinds.get(key, np.int64))
    given = ", ".join(node.attributes)
    raise Refusal(f"unsupported constant of {given}; supported: numbers and dense tensors")


def _numbers(value: object, dtype: type[np.generic]) -> Array:
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
