"""What rounding explains: how far f32 outputs may be from those of the same module in f64."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.check.compare import magnitude
from gawee_dialect.instruments.check.execute import CannotRun, Plan, plan_run
from gawee_dialect.instruments.check.in_f64 import arrays_in_f64, in_f64
from gawee_dialect.instruments.check.inputs import SPECIAL, DataSet
from gawee_dialect.interpreter.arrays import Array

ORDER = 16
"""How much larger the error of a sum in another order may be: sums of thousands of terms one after
the other against NumPy's, which add up blocks; Winograd's tiles against either."""

CONSTANTS = 4
"""The same of two modules in f64, which differ by constants that were rounded to f32."""

NEAR = 2
"""A pass that uses more than one part in so many of what it may is a near miss."""

EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Reference:
    """A module that was run in f64: how each function ran, and what it returned for each data set.

    Data sets with NaN and infinities are left out: they come last.
    """

    plans: Mapping[str, Plan]
    outputs: Mapping[str, Sequence[Mapping[str, Array]]]


def reference_of(module: ModuleOp, data: Mapping[str, Sequence[DataSet]]) -> Reference | None:
    """Run the functions of a module in f64; None where it is at no level that can be."""
    copy = in_f64(module)
    if copy is None:
        return None
    try:
        plans = {name: plan_run(copy, name) for name in data}
        outputs = {
            name: plan.run([wide(each) for each in data[name] if each.name != SPECIAL])
            for name, plan in plans.items()
        }
    except (CannotRun, GaweeError):
        return None
    return Reference(plans, outputs)


def wide(data: DataSet) -> DataSet:
    """Return a data set with f64 for f32."""
    return DataSet(arrays_in_f64(data.arrays), data.unwritten)


def explained_by(errors: Mapping[str, float], outputs: Mapping[str, Array], name: str) -> float:
    """Return how far roundings at every op move an output: its error, and one rounding of it."""
    return errors[name] + EPS * magnitude(outputs[name])


@dataclass(frozen=True)
class Excess:
    """An output that is further from another than rounding explains, or nearly so."""

    output: str
    index: tuple[int, ...]
    expected: float
    actual: float
    distance: float
    allowed: float

    @property
    def is_wrong(self) -> bool:
        """Whether rounding does not explain it."""
        return self.distance > self.allowed

    @property
    def text(self) -> str:
        """Where, and how far: `output 'y' at [0, 3]: expected 1.5, got 1.6, 0.1 apart, ...`."""
        at = f" at [{', '.join(map(str, self.index))}]" if self.index else ""
        return (
            f"output '{self.output}'{at}: expected {self.expected:.9g}, got {self.actual:.9g}, "
            f"{self.distance:.2g} apart, where rounding explains {self.allowed:.2g}"
        )


def excess(
    outputs: Mapping[str, Array],
    reference: Mapping[str, Array],
    errors: Mapping[str, float],
    order: int = ORDER,
) -> Sequence[Excess]:
    """Return the outputs that use a good part of what rounding explains, or more than that.

    That is `order` times the error before the pass, and so many roundings of the largest magnitude.
    """
    found: list[Excess] = []
    for name, expected in reference.items():
        if name not in errors or outputs[name].shape != expected.shape:
            continue
        distance = _distance(outputs[name], expected)
        index = tuple(map(int, np.unravel_index(int(np.argmax(distance)), distance.shape)))
        allowed = order * explained_by(errors, reference, name)
        largest = float(distance[index])
        if largest > allowed / NEAR:
            values = float(np.asarray(expected)[index]), float(np.asarray(outputs[name])[index])
            found.append(Excess(name, index, *values, largest, allowed))
    return found


def errors_of(outputs: Mapping[str, Array], reference: Mapping[str, Array]) -> dict[str, float]:
    """Return how far outputs are from those in f64, by name: those of f32, and wider ones that
    were computed of numbers rounded to f32."""
    errors: dict[str, float] = {}
    for name, expected in reference.items():
        dtype = outputs[name].dtype
        if expected.dtype != np.float64 or not expected.size:
            continue
        error = float(_distance(outputs[name], expected).max(initial=0.0))
        if dtype == np.float32 or (dtype == np.float64 and error > 0):
            errors[name] = error
    return errors


def _distance(left: Array, right: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return |left - right| in f64, 0 where either is not finite."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(first - second)
    return np.where(np.isfinite(first) & np.isfinite(second), distance, 0.0)
