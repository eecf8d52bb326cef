"""Which elements of outputs go by what no pass declares: the sign of a zero, or a last digit.

A bitcast shows the sign of a zero, atan2 turns by it, a comparison of two roundings goes by either.
The graph runs again with other signs of the zeros that its ops compute, and where passes may sum in
another order with other last digits of what they compute: an element that one of these runs moves
further than a pass may is decided by none of them. Zeros and digits of inputs stay what they are.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import PythonValues
from xdsl.ir import Operation

from gawee_dialect.dialect.cast import BitcastOp
from gawee_dialect.instruments.check.compare import Tolerance
from gawee_dialect.instruments.check.execute import is_array
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.last_digits import (
    NARROW,
    WIDE,
    LastDigits,
    is_jump,
    run_with,
)
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.passes.numerics import EXACT, REASSOCIATES

Mask: TypeAlias = NDArray[np.bool_]

TRIES = 8
"""Runs: a tie of two roundings is broken in one of two of them."""

SIGNS = ((1,), (-1,))
"""Which signs zeros may have in the first runs; both in later ones."""


class Undecided(LastDigits):
    """Draws signs of zeros that ops compute, and where digits may move, which way these do."""

    def __init__(self, seed: int, *, digits: bool) -> None:
        super().__init__(seed)
        self._digits = digits
        self._signs = SIGNS[seed] if seed < len(SIGNS) else (1, -1)

    def read(self, op: Operation, inputs: PythonValues) -> PythonValues:
        return inputs if is_jump(op) or not self._digits else super().read(op, inputs)

    def written(self, op: Operation, results: PythonValues) -> PythonValues:
        if isinstance(op, BitcastOp):
            return results
        moves = self._digits and not is_jump(op)
        digits = self.moved(results, WIDE + NARROW) if moves else results
        return tuple(self._signed(each) if is_array(each) else each for each in digits)

    def _signed(self, array: Array) -> Array:
        """Return an array with other signs of zeros: extremes of both zeros may be either."""
        if array.dtype.kind != "f" or array.all():
            return array
        signs = self.random.choice(self._signs, array.shape).astype(array.dtype)
        return np.where(array == 0, np.copysign(array, signs), array)


def undecided(
    module: ModuleOp | None,
    function: str,
    data: DataSet,
    tolerance: Tolerance,
    *,
    digits: bool = True,
) -> Mapping[str, Mask]:
    """Return which elements of outputs no pass decides that keeps to a tolerance, where any are.

    Without `digits` that is by signs of zeros alone. Nothing is said of a module that does not run,
    or is no graph.
    """
    if module is None:
        return {}
    digits &= tolerance.allowed != (EXACT,)
    usual = run_with(module, function, data, None)
    found = {name: np.zeros(array.shape, np.bool_) for name, array in usual.items()}
    for seed in range(TRIES):
        moved = run_with(module, function, data, Undecided(seed, digits=digits))
        for name, array in moved.items():
            found[name] |= tolerance.wrong(array, usual[name])
    return {name: mask for name, mask in found.items() if mask.any()}


def with_undecided(
    outputs: Mapping[str, Array], expected: Mapping[str, Array], masks: Mapping[str, Mask]
) -> Mapping[str, Array]:
    """Return outputs that are what was expected where no pass decides what they are."""
    return {
        name: np.where(masks[name], expected[name], array) if name in masks else array
        for name, array in outputs.items()
    }


def decided(
    module: ModuleOp | None,
    function: str,
    data: DataSet,
    outputs: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> Mapping[str, Array]:
    """Return outputs of a graph that may sum in another order, as expected where none decides."""
    masks = undecided(module, function, data, Tolerance((REASSOCIATES,)))
    return with_undecided(outputs, expected, masks)


def undecided_text(output: str, mask: Mask) -> str:
    """Say how many elements are left out: `2 of 5 elements of 'y' go by ...`."""
    return f"{mask.sum()} of {mask.size} elements of '{output}' go by signs of zeros or last digits"
