"""The instrument behind `--check-each`: stop at the first pass that changes what is computed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.check.blame import Culprit, find_culprit, where
from gawee_dialect.instruments.check.compare import (
    Difference,
    Tolerance,
    changed_signature,
    compare,
    same_values,
)
from gawee_dialect.instruments.check.each_pass import CheckSettings, EachPass
from gawee_dialect.instruments.check.execute import CannotRun, Engine, Plan, plan_run
from gawee_dialect.instruments.check.failure import (
    CheckFailure,
    blamed_op,
    changed_outputs,
    failure,
    stopped_running,
)
from gawee_dialect.instruments.check.functions import overwritten_arguments
from gawee_dialect.instruments.check.summary import Step, summary_table
from gawee_dialect.instruments.report import print_table
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.passes.numerics import REASSOCIATES, declared_numerics


@dataclass
class State:
    """A module that was run: a copy of it, how each function ran, and what it returned."""

    module: ModuleOp
    plans: dict[str, Plan]
    outputs: dict[str, dict[str, Array]]

    @property
    def engine(self) -> Engine:
        """What ran the functions; native where any of them did."""
        engines = {plan.engine for plan in self.plans.values()}
        return Engine.NATIVE if Engine.NATIVE in engines else Engine.INTERPRETER


class CheckEach(EachPass[Step]):
    """Runs a module before the first pass and after every pass, and compares the outputs.

    Raises CheckFailure from `after_pass`, so that the pipeline stops at the pass that is to blame.
    Each pass of a nested pipeline is checked. What changes nothing in the module is not run again.
    """

    def __init__(self, settings: CheckSettings | None = None):
        super().__init__(settings)
        self._overwritten: dict[str, tuple[str, ...]] = {}
        self._state: State | None = None
        self._unchecked: list[ModulePass] = []

    def first_step(self) -> Step:
        return Step("(as it was read)", "")

    def step_of(self, module_pass: ModulePass) -> Step:
        return Step(module_pass.name, str(declared_numerics(module_pass)), note="unchanged")

    def begin(self, module: ModuleOp, step: Step) -> None:
        self._unchecked, self._state = [], None
        self._overwritten = {name: overwritten_arguments(module, name) for name in self.arguments}
        self._take(self._run_at_first(module, step), step)

    @property
    def is_waiting(self) -> bool:
        """Whether a pass changed the module, which could not be run since."""
        return self._state is None or bool(self._unchecked)

    def report(self) -> None:
        print_table(summary_table(self.steps))

    def _take(self, state: State | None, step: Step) -> None:
        if state is None:
            return
        self._state, step.engine = state, state.engine.value
        step.note = _blind_spots(state.outputs)

    def _run_at_first(self, module: ModuleOp, step: Step) -> State | None:
        # A graph as a tracer left it may need a pass before it runs at all.
        try:
            return self._run(module, step)
        except GaweeError as error:
            step.note = f"not run: {error.diagnostics[0].message}"
            return None

    def _run(self, module: ModuleOp, step: Step) -> State | None:
        """Run a copy of the module; None where it is at no level that can be run."""
        copy = module.clone()
        try:
            plans = {name: plan_run(copy, name, self._overwritten[name]) for name in self.arguments}
        except CannotRun as error:
            step.note = f"not run: {error.diagnostic.message}"
            return None
        outputs = {name: plan.run(self.arguments[name]) for name, plan in plans.items()}
        return State(copy, plans, outputs)

    def check_pass(
        self, module_pass: ModulePass, before: ModuleOp, module: ModuleOp, step: Step
    ) -> None:
        step.note = ""
        state_before = self._state
        if state_before is None:
            self._take(self._run_at_first(module, step), step)
            return
        self._unchecked.append(module_pass)
        try:
            state = self._run(module, step)
        except GaweeError as error:
            raise stopped_running(self._unchecked, error) from error
        if state is not None:
            step.engine = state.engine.value
            self._compare(state_before, state, step)
            self._take(state, step)
            self._unchecked = []

    def _tolerance(self, before: State, after: State) -> Tolerance:
        """Return what is allowed between two runs.

        It is what the passes between them declare, and at least reassociation where another engine
        runs the module: NumPy's matrix products and native code sum in orders of their own.
        """
        allowed = dict.fromkeys(declared_numerics(each) for each in self._unchecked)
        if before.engine is not after.engine:
            allowed[REASSOCIATES] = None
        return Tolerance(tuple(allowed), self.settings.rtol, self.settings.atol)

    def _compare(self, before: State, after: State, step: Step) -> None:
        tolerance = self._tolerance(before, after)
        for function, expected in before.outputs.items():
            actual = after.outputs[function]
            changed = changed_signature(actual, expected)
            if changed is not None:
                raise changed_outputs(self._unchecked, function, changed)
            for name, array in expected.items():
                found = compare(actual[name], array, tolerance)
                if found is None:
                    continue
                step.add(found)
                if found.is_wrong:
                    step.note = f"'{name}'{found.at} is wrong"
                    raise self._moved(name, found, function, before, after)

    def _moved(
        self, output: str, found: Difference, function: str, before: State, after: State
    ) -> CheckFailure:
        tolerance = self._tolerance(before, after)
        culprit = find_culprit(
            before.plans[function], after.plans[function], self.arguments[function], tolerance
        )
        message = (
            f"moved output '{output}'{found.at}: expected {found.expected!s}, "
            f"got {found.actual!s}; largest difference {found.size}, "
            f"allowed: {tolerance.text}; {_blamed(culprit)}"
        )
        if culprit is None:
            return failure(self._unchecked, message)
        return failure(self._unchecked, message, culprit.before, _explanation(culprit))


def _blamed(culprit: Culprit | None) -> str:
    if culprit is None:
        return "what its ops compute natively cannot be seen"
    return blamed_op(culprit)


def _explanation(culprit: Culprit) -> str | None:
    parts: list[str] = []
    found = culprit.difference
    if found is not None:
        parts.append(
            f"the op's value{found.at} was {found.expected!s} and is {found.actual!s}, "
            f"largest difference {found.size}"
        )
    if culprit.gone:
        parts.append("the pass removed " + ", ".join(where(op) for op in culprit.gone))
    return "; ".join(parts) or None


def _blind_spots(outputs: Mapping[str, Mapping[str, Array]]) -> str:
    """Say which outputs tell nothing: none at all, or the same number (such as NaN) everywhere."""
    blind = [f"'@{function}' has no outputs" for function, each in outputs.items() if not each]
    blind += [
        f"'{name}' is {array.flat[0]} everywhere"
        for each in outputs.values()
        for name, array in each.items()
        if array.size > 1 and same_values(array, np.full_like(array, array.flat[0])).all()
    ]
    return ", ".join(blind)
