"""How far constants are that a pass has folded in floats from what the ops computed."""

from collections.abc import Sequence

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from gawee_dialect.instruments.check.blame import Culprit
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.plan import ExactPlan
from gawee_dialect.interpreter.arrays import attribute_value, dtype_of

MOST_ULP = 16.0
"""How many units in the last place of the largest element folding may be off: some roundings."""


class _Kept(Interpreter.Listener):
    """Remembers what one op computed last."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.value: object = None

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if op is self._op:
            self.value = results[0]


def folding_error(plan: ExactPlan, data_sets: Sequence[DataSet], culprit: Culprit) -> float | None:
    """Return how far the constant that an op became is from its value.

    That is in units in the last place of the largest element. None where they cannot be compared.
    """
    constant = culprit.after
    if constant is None or "value" not in constant.properties:
        return None
    kept = _Kept(culprit.before)
    plan.observe(data_sets, kept)
    type = constant.results[0].type
    folded = np.asarray(attribute_value(constant.properties["value"], type))
    if not isinstance(kept.value, Numbers) or folded.dtype.kind != "f":
        return None
    expected = kept.value.value
    if expected.size != folded.size or not np.isfinite(expected).all():
        return None
    difference = np.abs(folded.astype(np.float64).reshape(-1) - expected.reshape(-1))
    largest = np.abs(expected).max(initial=0.0).astype(dtype_of(type))
    return float(difference.max(initial=0.0) / np.spacing(largest))
