"""A module, a pipeline and data: what is tried at once, judged, and tried again to reduce it.

Whether a pipeline keeps what a module computes, and which pass is wrong where it does not:

1. The module and what became of it run on the same data.
2. What differs by more than rounding is proved pass by pass: a proof has no rounding.
3. What is proved, and differs, is checked pass by pass on the data, with a reference in f64: so
   machine code is judged that no proof reaches. What passes that too is rounding that ops made
   large.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from types import MappingProxyType
from typing import Protocol, SupportsFloat

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.dialect.graph.conv import ConvTransposeOp
from gawee_dialect.fuzz.oracle import Done, Finding, Oracle, Skipped
from gawee_dialect.fuzz.random_pipeline import Stage
from gawee_dialect.instruments.check.compare import Tolerance
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.execute import CannotRun, is_array, plan_run
from gawee_dialect.instruments.check.failure import CheckFailure, Differing
from gawee_dialect.instruments.check.inputs import DataSet, arguments_for
from gawee_dialect.instruments.check.rounding import (
    ORDER,
    errors_of,
    explained_by,
    moved_by_last_digits,
    reference_of,
)
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.run import Program
from gawee_dialect.passes.instrument import Instrument, instrumented
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.reduce.failure import signature
from gawee_dialect.universe import make_context

# Zeros that a lowering puts between elements, and multiplies by weights that are NaN or infinite.
#
# A transposed convolution reads its input with zeros in between. As a graph it leaves them out.


class SpecialValues(Interpreter.Listener):
    """Sees whether an op makes NaN or an infinity."""

    def __init__(self) -> None:
        self.are_there = False

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        floats = (each for each in results if is_array(each) and each.dtype.kind == "f")
        self.are_there = self.are_there or not all(np.isfinite(each).all() for each in floats)


def makes_special_values(module: ModuleOp, arrays: Mapping[str, Array]) -> bool:
    """Whether NaN or an infinity is among what the ops of a graph make."""
    seen = SpecialValues()
    try:
        Program(module.clone(), MAIN, (seen,)).run(arrays)
    except GaweeError:
        return False
    return seen.are_there


def is_zero_times_nan(differing: Differing, module: ModuleOp, arrays: Mapping[str, Array]) -> bool:
    """Whether a difference is that of a zero between elements, times what is no finite number."""
    now = differing.actual
    is_nan = isinstance(now, SupportsFloat) and isnan(now)
    of_zeros = differing.op == ConvTransposeOp.name
    return is_nan and of_zeros and makes_special_values(module, arrays)


Arrays = Mapping[str, Array]

TOLERANCE = Tolerance((REASSOCIATES,), finite=True)
MESSAGE = 2000
"""Characters of a message that are kept."""

WRONG, WRONG_BY_DATA = "wrong", "wrong by data"
CRASH, REFUSED, DOES_NOT_RUN = "crash", "refused", "does not run"
ROUNDING = "differ by rounding alone"


def data_for(module: ModuleOp, seed: int, *, whole: bool) -> Arrays:
    """Return what a module is run on; of whole numbers sums are exact in any order."""
    arrays = arguments_for(module, ["main"], seed, {})["main"]
    if not whole:
        return arrays
    return {
        name: np.rint(array) if array.dtype.kind == "f" else array for name, array in arrays.items()
    }


def run(module: ModuleOp, arrays: Arrays) -> dict[str, Array]:
    """Run `@main` at the level that a module has reached; raises GaweeError, CannotRun."""
    (outputs,) = plan_run(module, "main").run((DataSet(arrays),))
    return outputs


def reference(module: ModuleOp, arrays: Arrays) -> Arrays:
    """Return what a module computes as it was drawn; raises Skipped where it does not run."""
    try:
        verify_module(module)
        return run(module.clone(), arrays)
    except (GaweeError, CannotRun) as error:
        raise Skipped(str(error)) from error


def differing(
    actual: Arrays, expected: Arrays, explained: Mapping[str, float] = MappingProxyType({})
) -> str | None:
    """Return the first output that differs by more than rounding, or has another type.

    `explained` is how far outputs may differ for a reason that is known.
    """
    for name, array in expected.items():
        other = actual[name]
        if (other.shape, other.dtype) != (array.shape, array.dtype):
            return f"{name}: {other.dtype}{other.shape}, not {array.dtype}{array.shape}"
        tolerance = replace(TOLERANCE, explained=explained.get(name, 0.0))
        if tolerance.wrong(other, array).any():
            return name
    return None


def rounding_of(module: ModuleOp, arrays: Arrays) -> Mapping[str, float]:
    """Return how far others may be from what a module computes.

    That is by how far it is from itself in f64, and from itself with other last digits. An output
    of f64 that was computed of numbers rounded to f32 has no more digits than these.
    """
    data = DataSet(arrays)
    bounds = dict(moved_by_last_digits(module, MAIN, data))
    found = reference_of(module, {MAIN: [data]})
    if found is not None:
        (in_f64,) = found.outputs[MAIN]
        errors = errors_of(run(module.clone(), arrays), in_f64)
        for name in errors:
            bounds[name] = max(explained_by(errors, in_f64, name), bounds.get(name, 0.0))
    return {name: ORDER * bound for name, bound in bounds.items()}


def judge(
    module: ModuleOp,
    stages: Sequence[Stage],
    arrays: Arrays,
    expected: Arrays,
    done: Done,
    *,
    verified: bool = True,
) -> Finding | None:
    """Return what is wrong with a pipeline on a module, or with what it leaves, if `verified`."""
    lowered = module.clone()
    try:
        for stage in stages:
            run_passes(make_context(), lowered, stage.passes, verify_each=False)
            if not stage.is_run:
                continue
            if differing(run(lowered, arrays), expected) is not None:
                return _explained(module, passes_of(stages), arrays, done)
            done[f"to {stage.name}"] += 1
        if verified:
            verify_module(lowered)
    except Exception as error:
        return _first_failure(module, passes_of(stages)) or failure_of(error)
    return None


def passes_of(stages: Sequence[Stage]) -> Sequence[ModulePass]:
    """Return the passes of a whole pipeline."""
    return [each for stage in stages for each in stage.passes]


def failure_of(error: Exception) -> Finding:
    """Return a finding of what passes, or a run, raised."""
    if isinstance(error, CannotRun):
        return Finding(DOES_NOT_RUN, str(error.diagnostic.message), str(error))
    kind = REFUSED if isinstance(error, GaweeError) else CRASH
    return Finding(kind, signature(error), f"{type(error).__name__}: {error}"[:MESSAGE])


def _first_failure(module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
    """Return what the first pass did that failed, or left what does not verify."""
    try:
        run_passes(make_context(), module.clone(), passes)
    except Exception as error:
        return failure_of(error)
    return None


def _explained(
    module: ModuleOp, passes: Sequence[ModulePass], arrays: Arrays, done: Done
) -> Finding | None:
    """Return which pass is wrong where outputs differ; None where it is rounding."""
    found = proved_wrong(module, passes, arrays) or checked_wrong(module, passes, arrays)
    done[ROUNDING] += found is None
    return found


def proved_wrong(module: ModuleOp, passes: Sequence[ModulePass], arrays: Arrays) -> Finding | None:
    """Return which pass is wrong by a proof, or by data where something is not provable."""
    return _watched(WRONG, module, passes, arrays, ProveEach)


def checked_wrong(module: ModuleOp, passes: Sequence[ModulePass], arrays: Arrays) -> Finding | None:
    """Return which pass is wrong by data, as `--check-each` finds it."""
    return _watched(WRONG_BY_DATA, module, passes, arrays, CheckEach)


def _watched(
    kind: str,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    arrays: Arrays,
    instrument: Callable[[CheckSettings], Instrument],
) -> Finding | None:
    try:
        with instrumented(instrument(CheckSettings(arrays=arrays))):
            run_passes(make_context(), module.clone(), passes, verify_each=False)
    except CheckFailure as error:
        if is_zero_times_nan(error.differing, module, arrays):
            return None
        op = error.differing.op
        cause = error.pass_name if op is None else f"{error.pass_name}: '{op}'"
        return Finding(kind, cause, str(error)[:MESSAGE])
    except Exception as error:
        what = "a proof" if kind == WRONG else "a check"
        message = f"{type(error).__name__}: {error}"[:MESSAGE]
        return Finding(f"crash of {what}", signature(error), message)
    return None


class Origin(Protocol):
    """What a module was read from, and the oracle that runs it."""

    @property
    def kind(self) -> str:
        """Of its findings."""
        ...

    def module(self) -> ModuleOp:
        """Read it; raises GaweeError."""
        ...

    def differs(
        self, module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
    ) -> Finding | None:
        """Compare what the module computes with what it was read from."""
        ...

    def smaller(self) -> Iterator["Origin"]:
        """Yield what is a step smaller, valid or not."""
        ...

    def files_of_test(self, name: str, trial: "Trial", finding: Finding) -> Mapping[str, bytes]:
        """Return the files of a test that fails as long as it differs, by their names."""
        ...

    def size(self) -> str:
        """Say how large it is."""
        ...


@dataclass(frozen=True)
class Trial:
    """What is tried, and how carefully."""

    module: ModuleOp
    stages: Sequence[Stage]
    data_seed: int
    whole: bool = False
    """Whether data is whole numbers."""
    proved: bool = False
    checked: bool = False
    """Whether every pass is proved, or checked by data, though outputs are equal."""
    verified: bool = True
    """Whether what passes leave is verified at the end: LLVM verifies machine code's module too."""
    oracles: Sequence[Oracle] = ()
    origin: Origin | None = None
    graphs: int = 1
    """How many graphs the module has, which have nothing in common."""

    def find(self, module: ModuleOp, done: Done) -> Finding | None:
        """Return what is wrong with the module, or with one in its place; raises Skipped."""
        with np.errstate(all="ignore"):
            arrays, expected = self._data(module)
            found = self._by_others(module, arrays, expected, done)
            data = arrays, expected, done
            found = found or judge(module, self.stages, *data, verified=self.verified)
            return found or self._by_pass(module, arrays, done)

    def is_of_origin(self, finding: Finding) -> bool:
        """Whether a finding is of what the module was read from: no other module has it."""
        return self.origin is not None and finding.kind == self.origin.kind

    def differs_from_origin(self) -> Finding | None:
        """Return how the module differs from what it was read from; raises Skipped."""
        if self.origin is None:
            return None
        with np.errstate(all="ignore"):
            return self.origin.differs(self.module, *self._data(self.module), Counter())

    def _data(self, module: ModuleOp) -> tuple[Arrays, Arrays]:
        """Return what a module is run on, and what it computes; raises Skipped."""
        arrays = data_for(module, self.data_seed, whole=self.whole)
        return arrays, reference(module, arrays)

    def _by_pass(self, module: ModuleOp, arrays: Arrays, done: Done) -> Finding | None:
        passes, found = passes_of(self.stages), None
        if self.proved:
            found = proved_wrong(module, passes, arrays)
            done["proved"] += 1
        if self.checked and found is None:
            found = checked_wrong(module, passes, arrays)
            done["checked by data"] += 1
        return found

    def _by_others(
        self, module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
    ) -> Finding | None:
        if self.origin is not None and module is self.module:
            found = self.origin.differs(module, arrays, expected, done)
            if found is not None:
                return found
        for oracle in self.oracles:
            said = oracle.outputs(module, arrays)
            if said is None:
                continue
            done[oracle.name] += 1
            found = _differs_from(oracle.name, said, module, arrays, expected, done)
            if found is not None:
                return found
        return None


def _differs_from(
    name: str, said: Arrays, module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
) -> Finding | None:
    """Return what an oracle says otherwise, by more than rounding."""
    said = _of_same_type(said, expected)
    if differing(expected, said) is None:
        return None
    wrong = differing(expected, said, rounding_of(module, arrays))
    if wrong is not None:
        message = f"output {wrong}"
        return Finding(f"not {name}'s", _ops_of(module), message, has_all_ops=True)
    done[ROUNDING] += 1
    return None


def _of_same_type(said: Arrays, expected: Arrays) -> Arrays:
    return {name: each for name, each in said.items() if each.dtype == expected[name].dtype}


def _ops_of(module: ModuleOp) -> str:
    """Return the ops of `@main`: which of them is meant, a reduced module shows."""
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    names = {op.name for each in functions for op in each.body.block.ops}
    return " ".join(sorted(names - {"func.return"}))
