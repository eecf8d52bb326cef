"""Elements in order: what the ops of `dialect/order.py` compute."""

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls

from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions


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
