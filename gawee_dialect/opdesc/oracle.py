"""Compare what a body says with what a function computes: the smallest use that differs.

compare_with_oracle(ops["conv2d"], lambda x, k, b, s, p: my_conv(x, k, b, s, p))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import ModuleType

import numpy as np

from gawee_dialect.diagnostics import first_line
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.equations.evaluate import Array
from gawee_dialect.hints import isa
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.described_op import BodyOp
from gawee_dialect.opdesc.random_use import Use, random_use

Oracle = Callable[..., object]
"""Takes inputs as arrays and parameters, by their names; returns an array, or a tuple of them."""

TOLERANCE = 1e-4
"""Of the greatest number of an output: sums of f32 in another order."""


@dataclass(frozen=True)
class Difference:
    """A use on which a body and its oracle differ."""

    operator: str
    use: Use
    problem: str

    def __str__(self) -> str:
        return f"operator '{self.operator}' differs from its oracle: {self.problem} ({self.use})"


@dataclass(frozen=True)
class Comparison:
    """How many uses were compared, and the smallest on which there is a difference, if any."""

    uses: int
    difference: Difference | None


def compare_with_oracle(
    op: type[BodyOp] | CompiledOperator,
    oracle: Oracle,
    *,
    uses: int = 20,
    seconds: float = 8,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> Comparison:
    """Compare random uses of an operator with what a function computes, for some seconds at most.

    A use on which the function fails is a difference. Raises GaweeError where no uses are found.
    """
    compiled = op if isinstance(op, CompiledOperator) else op.description()
    name, start = compiled.operator.optype, perf_counter()
    found: Difference | None = None
    done = 0
    while done < uses and (done == 0 or perf_counter() - start < seconds):
        use = random_use(compiled, seed + done)
        done += 1
        problem = _problem(use, oracle, tolerance)
        if problem is not None and (found is None or _size(use) < _size(found.use)):
            found = Difference(name, use, problem)
    return Comparison(done, found)


def oracle_of(module: ModuleType, compiled: CompiledOperator) -> Oracle | None:
    """Return the function of a module that bears an operator's name, None where there is none."""
    function = getattr(module, compiled.operator.optype, None)
    return function if callable(function) else None


def _arrays(found: object) -> Sequence[Array]:
    if isa(found, tuple[object, ...]):
        return [np.asarray(each) for each in found]
    return [np.asarray(found)]


def _problem(use: Use, oracle: Oracle, tolerance: float) -> str | None:
    """Say where outputs differ from what is expected; None where they do not."""
    try:
        expected = _arrays(oracle(**use.inputs, **use.parameters))
    except Exception as error:
        return f"it fails: {first_line(error)}"
    names = use.instance.program.outputs
    if len(expected) != len(names):
        return f"expected {len(expected)} outputs, got {len(names)}"
    for name, got, wanted in zip(names, use.outputs, expected, strict=True):
        if got.shape != wanted.shape:
            shapes = shape_text(wanted.shape), shape_text(got.shape)
            return f"expected '{name}' of shape {shapes[0]}, got {shapes[1]}"
        reach = np.max(np.abs(wanted[np.isfinite(wanted)].astype(np.float64)), initial=1e-30)
        same = np.isclose(got, wanted, rtol=0, atol=tolerance * reach, equal_nan=True)
        if not np.all(same):
            where = tuple(int(axis[0]) for axis in np.nonzero(~same))
            place = f"{name}[{', '.join(map(str, where))}]"
            count = f"{np.count_nonzero(~same)} of {same.size} elements differ"
            return f"expected {place} = {wanted[where]:.6g}, got {got[where]:.6g}; {count}"
    return None


def _size(use: Use) -> int:
    return sum(each.size for each in (*use.inputs.values(), *use.outputs))
