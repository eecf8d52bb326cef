"""Ops that move elements: each says itself where every element goes; and elements in order."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect import GAWEE
from gawee_dialect.dialect.movement import MovementOp
from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions


def run_movement(
    functions: OpFunctions, interpreter: Interpreter, op: MovementOp, args: PythonValues
) -> PythonValues:
    """Move elements; raises InterpretationError where an index is not one of its axis."""
    try:
        return (np.asarray(op.move(*args)),)
    except IndexError as error:
        raise InterpretationError(str(error)) from error


def movement_functions(ops: Iterable[type[Operation]]) -> type[OpFunctions]:
    """Make the set of implementations of all ops that move elements."""
    classes = [op for op in ops if issubclass(op, MovementOp)]
    members = {op_type.__name__: impl(op_type)(run_movement) for op_type in classes}
    return register_impls(type("MovementFunctions", (OpFunctions,), members))


MovementFunctions = movement_functions(GAWEE.operations)


def order(input: Array, axis: int, descending: bool) -> NDArray[np.int64]:
    """Return the indices along an axis in the order of their elements: stable, NaN greatest."""
    if not descending:
        return np.argsort(input, axis=axis, kind="stable")
    # NumPy only ascends: the reversed order of the reversed axis keeps equal elements in place.
    ascending: NDArray[np.int64] = np.argsort(np.flip(input, axis), axis=axis, kind="stable")
    return input.shape[axis] - 1 - np.flip(ascending, axis)


@register_impls
class OrderFunctions(OpFunctions):
    """What the ops of `dialect/order.py` compute."""

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
