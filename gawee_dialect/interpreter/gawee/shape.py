"""Constants, elements in order, steps one after the other, and Python values."""

import ast

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.interpreter.arrays import Array, attribute_value
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.scalars import floats_of


@register_impls
class ConstantFunctions(OpFunctions):
    """What the op of `dialect/graph/constant.py` computes."""

    @impl(ConstantOp)
    def constant(
        self, interpreter: Interpreter, op: ConstantOp, args: PythonValues
    ) -> PythonValues:
        value = attribute_value(op.value, op.result.type)
        return (floats_of(interpreter).taken_up(value),)


# Elements in order: what the ops of `dialect/graph/order.py` compute.


def order(input: Array, axis: int, descending: bool) -> NDArray[np.int64]:
    """Return the indices along an axis in the order of their elements: stable, NaN greatest."""
    if not descending:
        return np.argsort(input, axis=axis, kind="stable")
    # NumPy only ascends: the reversed order of the reversed axis keeps equal elements in place.
    ascending: NDArray[np.int64] = np.argsort(np.flip(input, axis), axis=axis, kind="stable")
    return input.shape[axis] - 1 - np.flip(ascending, axis)


@register_impls
class OrderFunctions(OpFunctions):
    """What the ops of `dialect/graph/order.py` compute."""

    @impl(SortOp)
    def sort(self, interpreter: Interpreter, op: SortOp, args: PythonValues) -> PythonValues:
        axis = op.ordered_axis()
        indices = order(args[0], axis, bool(op.descending.value.data))
        return np.take_along_axis(args[0], indices, axis), indices

    @impl(TopKOp)
    def top_k(self, interpreter: Interpreter, op: TopKOp, args: PythonValues) -> PythonValues:
        axis = op.ordered_axis()
        ordered = order(args[0], axis, bool(op.largest.value.data))
        indices = ordered.take(np.arange(op.k.value.data), axis)
        return np.take_along_axis(args[0], indices, axis), indices


# Steps one after the other: what the op of `dialect/graph/scan.py` computes.


@register_impls
class ScanFunctions(OpFunctions):
    """What the op of `dialect/graph/scan.py` computes."""

    @impl(ScanOp)
    def scan(self, interpreter: Interpreter, op: ScanOp, args: PythonValues) -> PythonValues:
        count = len(op.initial)
        state, sequences = args[:count], args[count:]
        made: dict[int, PythonValues] = {}
        for position in op.order:
            now = [each[position, ...] for each in sequences]
            results = interpreter.run_ssacfg_region(op.body, (*state, *now), "scan")
            state, made[position] = results[:count], results[count:]
        stacked: list[Array] = [
            np.concatenate([made[position][index][np.newaxis] for position in range(op.num_steps)])
            for index in range(len(op.results) - count)
        ]
        return (*state, *stacked)


# What a tracer leaves behind: attributes of tensors, and items of those.


def getattr_of(input: Array, attribute: str) -> tuple[int, ...] | int | str:
    """Return what PyTorch calls `shape`, `ndim` or `dtype` of a tensor.

    Raises InterpretationError for any other attribute.
    """
    match attribute:
        case "shape":
            return input.shape
        case "ndim":
            return input.ndim
        case "dtype":
            return input.dtype.name
        case _:
            raise InterpretationError(
                f"unsupported attribute '{attribute}'; supported: shape, ndim, dtype"
            )


def parse_index(text: str) -> int | slice:
    """Read an index as Python prints it: `2`, `-1`, `slice(2, None, None)`.

    Raises InterpretationError for anything else.
    """
    try:
        expression = ast.parse(text.strip(), mode="eval").body
        if isinstance(expression, ast.Call) and ast.unparse(expression.func) == "slice":
            return slice(*(ast.literal_eval(argument) for argument in expression.args))
        index = ast.literal_eval(expression)
    except (SyntaxError, ValueError, TypeError) as error:
        raise InterpretationError(f"expected an integer or a slice, got '{text}'") from error
    if not isinstance(index, int):
        raise InterpretationError(f"expected an integer or a slice, got '{text}'")
    return index


@register_impls
class PythonValueFunctions(OpFunctions):
    """What the ops of `dialect/graph/python_value.py` compute."""

    @impl(GetAttrOp)
    def getattr(self, interpreter: Interpreter, op: GetAttrOp, args: PythonValues) -> PythonValues:
        return (getattr_of(args[0], op.attribute.data),)

    @impl(GetItemOp)
    def getitem(self, interpreter: Interpreter, op: GetItemOp, args: PythonValues) -> PythonValues:
        index = parse_index(op.index.data)
        try:
            return (args[0][index],)
        except (IndexError, TypeError) as error:
            raise InterpretationError(f"cannot take item {index} of {args[0]}") from error
