"""How far constants are that a pass has folded in floats from what the ops computed."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.func import ReturnOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.instruments.check.blame import Culprit
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.plan import ExactPlan
from gawee_dialect.interpreter.arrays import attribute_value, dtype_of

MOST_ULP = 16.0
"""How many units in the last place of the largest element folding may be off: some roundings."""

CONSTANTS = ConstantOp, arith.ConstantOp


class _Kept(Interpreter.Listener):
    """Remembers what one op computed last."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.value: object = None

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if op is self._op:
            self.value = results[0]


def folded_by(culprit: Culprit, after: ExactPlan) -> Sequence[Culprit]:
    """Return which ops became constants: the one that differs, or those whose results it reads.

    What differs first is none of them where another op computes the numbers that one became.
    """
    function = find_function(after.observed, after.function)
    end = None if function is None else function.body.block.last_op
    is_end = isinstance(culprit.before, ReturnOp)
    was, now = culprit.before, end if is_end else culprit.after
    if now is None:
        return ()
    pairs = [(was, now)]
    if was.name == now.name and len(was.operands) == len(now.operands):
        pairs = [(a.owner, b.owner) for a, b in zip(was.operands, now.operands, strict=True)]
    return [
        Culprit(op, constant, None)
        for op, constant in pairs
        if isinstance(op, Operation) and isinstance(constant, CONSTANTS)
        if not isinstance(op, CONSTANTS)
    ]


def folding_error(plan: ExactPlan, data_sets: Sequence[DataSet], culprit: Culprit) -> float | None:
    """Return how far the constant that an op became is from its value.

    That is in units in the last place of the largest element, of f32 where it is f64: so far are
    the numbers that constants stand for (`constants.py`); NaN and infinities must be where
    they were. None where they cannot be compared.
    """
    constant = culprit.after
    if constant is None or "value" not in constant.properties:
        return None
    kept = _Kept(culprit.before)
    plan.observe(data_sets, kept)
    type = constant.results[0].type
    folded = np.asarray(attribute_value(constant.properties["value"], type))
    if folded.dtype.kind != "f":
        return 0.0 if np.array_equal(np.asarray(kept.value), folded) else None
    if not isinstance(kept.value, Numbers):
        return None
    expected = kept.value.value
    if expected.size != folded.size:
        return None
    expected, actual = expected.reshape(-1), folded.astype(np.float64).reshape(-1)
    finite = np.isfinite(expected) & np.isfinite(actual)
    if not np.array_equal(expected[~finite], actual[~finite], equal_nan=True):
        return None
    difference = np.abs(actual[finite] - expected[finite])
    narrow = min(dtype_of(type), np.dtype(np.float32), key=lambda dtype: dtype.itemsize)
    largest = np.abs(expected[finite]).max(initial=0.0).astype(narrow)
    return float(difference.max(initial=0.0) / np.spacing(largest))
