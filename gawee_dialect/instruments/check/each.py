"""The instrument behind `--check-each`: stop at the first pass that changes what is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.instruments.check.blame import Culprit, find_culprit, find_kernel, where
from gawee_dialect.instruments.check.compare import (
    Difference,
    Tolerance,
    changed_signature,
    compare,
    same_values,
)
from gawee_dialect.instruments.check.each_pass import (
    LARGEST_REPEATED,
    CheckSettings,
    EachPass,
    data_sets,
    size_of,
    up_to,
    warn_of_unchecked,
    without_own_sizes,
)
from gawee_dialect.instruments.check.execute import CannotRun, Engine, Plan, plan_runs
from gawee_dialect.instruments.check.failure import (
    CheckFailure,
    CheckStep,
    Differing,
    blamed_code,
    blamed_name,
    changed_op,
    changed_outputs,
    failure,
    stopped_running,
    summary_table,
)
from gawee_dialect.instruments.check.functions import overwritten_arguments
from gawee_dialect.instruments.check.inputs import EXTREMES, MAGNITUDES, SPECIAL, DataSet
from gawee_dialect.instruments.check.native_run import NativeProgram
from gawee_dialect.instruments.check.rounding import (
    CONSTANTS,
    EPS,
    ORDER,
    Excess,
    Reference,
    decided,
    errors_of,
    excess,
    explained_by,
    in_f64,
    moved_by_last_digits,
    reference_of,
    undecided,
    undecided_text,
    unreached,
    wide,
    with_undecided,
)
from gawee_dialect.instruments.check.static_rules import check_rules
from gawee_dialect.instruments.report import print_table
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.passes.numerics import (
    EXACT,
    REASSOCIATES,
    declared_numerics,
    keeps_special_values,
)

UNSEEN = "what its ops compute natively cannot be seen, and all kernels compute what they did"


@dataclass
class State:
    """A module that was run: a copy of it, how each function ran, and what it returned."""

    module: ModuleOp
    plans: dict[str, Plan]
    outputs: dict[str, Sequence[dict[str, Array]]]
    """By function, for each data set."""

    @property
    def engine(self) -> Engine:
        """What ran the functions; native where any of them did."""
        engines = {plan.engine for plan in self.plans.values()}
        return Engine.NATIVE if Engine.NATIVE in engines else Engine.INTERPRETER

    @property
    def program(self) -> NativeProgram | None:
        """The machine code of the functions that ran natively."""
        return next(filter(None, (plan.program for plan in self.plans.values())), None)

    @cached_property
    def is_of_native_kernels(self) -> bool:
        """Whether kernels ran that were lowered for it, in the order that their schedules say."""
        if self.engine is not Engine.NATIVE:
            return False
        return any(isinstance(op, StructuredKernel) for op in self.module.walk())


class CheckEach(EachPass[CheckStep]):
    """Runs a module before the first pass and after every pass, and compares the outputs.

    Raises CheckFailure from `after_pass`, so that the pipeline stops at the pass that is to blame.
    Each pass of a nested pipeline is checked. What changes nothing in the module is not run again.
    """

    def __init__(self, settings: CheckSettings | None = None, tensors: ModuleOp | None = None):
        """Check passes; `tensors` is what a module of loops was, which can be run in f64."""
        super().__init__(settings)
        self._tensors = tensors
        self._data: dict[str, Sequence[DataSet]] = {}
        self._overwritten: dict[str, tuple[str, ...]] = {}
        self._state: State | None = None
        self._unchecked: list[ModulePass] = []
        self._reference: Reference | None = None
        self._errors: dict[str, Sequence[dict[str, float]]] = {}
        """Of each function's outputs, against the reference, for each data set that it ran on."""
        self._graph: ModuleOp | None = None
        """What the module was on tensors."""
        self._by_digits: dict[tuple[str, int], Mapping[str, float]] = {}
        """How far last digits move the outputs of a function, by data set: where computed."""
        self._begun: list[
            tuple[CheckStep, Mapping[str, Plan], Mapping[str, Sequence[DataSet]]]
        ] = []
        """The modules as they were read, and their rows."""
        self._seen: dict[str, Plan] = {}
        """How each function ran when its values could be seen last."""

    def first_step(self) -> CheckStep:
        return CheckStep("(as it was read)", "")

    def step_of(self, module_pass: ModulePass) -> CheckStep:
        return CheckStep(module_pass.name, str(declared_numerics(module_pass)), note="unchanged")

    def begin(self, module: ModuleOp, step: CheckStep) -> None:
        self._unchecked, self._state, self._reference, self._seen = [], None, None, {}
        self._graph, self._by_digits = self._tensors or module.clone(), {}
        settings = self.settings
        self._data = data_sets(module, self.arguments, settings.seed, settings.arrays)
        self._overwritten = {name: overwritten_arguments(module, name) for name in self.arguments}
        state = self._run_at_first(module, step)
        if state is None and any(each.alone for sets in self._data.values() for each in sets):
            # The least sizes may be another graph: of an axis of 1, say, that is repeated.
            self._data, step.note = without_own_sizes(self._data), ""
            state = self._run_at_first(module, step)
        self._take(state, step)
        if state is not None and not self._is_large:
            self._begun.append((step, state.plans, self._data))

    @property
    def _is_large(self) -> bool:
        return size_of(self.arguments) > LARGEST_REPEATED

    @property
    def _small_graph(self) -> ModuleOp | None:
        """What the module was on tensors, where it can be run again and again."""
        return None if self._is_large else self._graph

    @property
    def has_run(self) -> bool:
        """Whether a module ran, which the next can be compared with."""
        return self._state is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a pass changed the module, which could not be run since."""
        return self._state is None or bool(self._unchecked)

    def note_unreached(self) -> None:
        """Say in the first row which ops no data reaches: a pass may do with them what it likes."""
        for step, plans, data in self._begun:
            ops = unreached(plans, data)
            if ops:
                said = f"no data reaches {', '.join(map(where, ops))}"
                step.note = ", ".join(filter(None, (step.note, said)))
        self._begun.clear()

    def report(self) -> None:
        self.note_unreached()
        print_table(summary_table(self.steps))
        warn_of_unchecked(self.steps)

    def _take(self, state: State | None, step: CheckStep) -> None:
        if state is None:
            return
        if self._state is None:
            self._reference = self._reference_of(state)
            if self._is_large:
                step.note = (
                    f"too large for a second run, and one in f64: {size_of(self.arguments)} numbers"
                )
        self._seen |= {name: plan for name, plan in state.plans.items() if plan.is_observable}
        self._state, step.engine = state, state.engine.value
        reference = None if self._reference is None else self._reference.outputs
        self._errors = {
            name: [*map(errors_of, outputs, reference[name])]
            for name, outputs in state.outputs.items()
            if reference is not None
        }
        step.note = ", ".join(filter(None, (step.note, _blind_spots(state.outputs))))

    def _run_at_first(self, module: ModuleOp, step: CheckStep) -> State | None:
        # A graph as a tracer left it may need a pass before it runs at all.
        try:
            return self._run(module, step)
        except GaweeError as error:
            first = error.diagnostics[0]
            step.note = "; ".join(filter(None, (f"not run: {first.message}", first.hint)))
            step.place = first.place
            return None

    def _run(self, module: ModuleOp, step: CheckStep) -> State | None:
        """Run a copy of the module; None where it is at no level that can be run."""
        copy, last = module.clone(), self._state
        try:
            plans = plan_runs(copy, self._overwritten, last and last.program)
        except CannotRun as error:
            step.note = f"not run: {error.diagnostic.message}"
            step.place = error.diagnostic.place
            return None
        return State(copy, plans, {name: self._outputs(plan) for name, plan in plans.items()})

    def _outputs(self, plan: Plan) -> Sequence[dict[str, Array]]:
        """Run a function; what it returned before, where its machine code is the same."""
        name, last = plan.function, self._state
        if plan.program and last and plan.program is last.plans[name].program:
            return last.outputs[name]
        return plan.run(self._data[name])

    def check_pass(
        self, module_pass: ModulePass, before: ModuleOp, module: ModuleOp, step: CheckStep
    ) -> None:
        step.note = ""
        self._check_run(module_pass, module, step)
        try:
            check_rules(module_pass, before, module, self.arguments)
        except CheckFailure:
            step.note = "breaks a rule"
            raise

    def _check_run(self, module_pass: ModulePass, module: ModuleOp, step: CheckStep) -> None:
        """Run what a pass has changed, and compare with what ran before it."""
        state_before = self._state
        if state_before is None:
            self._take(self._run_at_first(module, step), step)
            self.note_checked(step, is_compared=False, is_waiting=False)
            return
        self._unchecked.append(module_pass)
        try:
            state = self._run(module, step)
        except GaweeError as error:
            raise stopped_running(self._unchecked, error) from error
        self.note_checked(step, is_compared=True, is_waiting=state is None)
        if state is not None:
            step.engine = state.engine.value
            self._compare(state_before, state, step)
            self._check_rounding(state_before, state, step)
            self._take(state, step)
            self._unchecked = []

    def _tolerance(self, before: State, after: State) -> Tolerance:
        """Return what is allowed between two runs.

        It is what the passes between them declare, and at least reassociation where another engine
        runs the module: NumPy's matrix products and native code sum in orders of their own. So do
        kernels that are lowered to be run, by the schedules that they have by then.
        """
        allowed = dict.fromkeys(declared_numerics(each) for each in self._unchecked)
        if before.engine is not after.engine or after.is_of_native_kernels:
            allowed[REASSOCIATES] = None
        return Tolerance(tuple(allowed), self.settings.rtol, self.settings.atol)

    def _compare(self, before: State, after: State, step: CheckStep) -> None:
        for function, expected in before.outputs.items():
            actual = after.outputs[function]
            for index, data in enumerate(self._data[function]):
                changed = changed_signature(actual[index], expected[index])
                if changed is not None:
                    raise changed_outputs(self._unchecked, function, changed)
                if data.name != SPECIAL or all(map(keeps_special_values, self._unchecked)):
                    self._compare_run(before, after, step, (function, index))

    def _compare_run(
        self, before: State, after: State, step: CheckStep, run: tuple[str, int]
    ) -> None:
        """Compare what a function returned for one data set."""
        function, index = run
        expected, actual = before.outputs[function][index], after.outputs[function][index]
        data_sets, plans = up_to(self._data[function], index), (before.plans, after.plans)
        for name, array in expected.items():
            tolerance = self._tolerance_of(before, after, run, name)
            found = None if tolerance is None else compare(actual[name], array, tolerance)
            if found is None or tolerance is None:
                continue
            if found.is_wrong:
                tolerance = self._with_last_digits(tolerance, run, name)
                found = compare(actual[name], array, tolerance) or found
            if found.is_wrong:
                data = data_sets[-1]
                # Bounds that the user gives hold for every element.
                masks = undecided(
                    self._small_graph, function, data, tolerance, digits=not self._is_given
                )
                if name in masks:
                    step.note = undecided_text(name, masks[name])
                    actual = with_undecided(actual, expected, masks)
                    found = compare(actual[name], array, tolerance)
                if found is None:
                    continue
            if data_sets[-1].name not in (MAGNITUDES, EXTREMES, SPECIAL):
                step.add(found)
            if found.is_wrong:
                step.note = f"'{name}'{found.at} is wrong"
                of_function = plans[0][function], plans[1][function], data_sets
                raise self._moved(name, found, of_function, tolerance)

    def _tolerance_of(
        self, before: State, after: State, run: tuple[str, int], output: str
    ) -> Tolerance | None:
        """Return what is allowed of one output; None where no bound is known.

        What cancels inside of a network leaves roundings that its largest output is no measure of:
        the distance from the result in f64 is, where there is one. So is the distance that an
        approximation at each op adds up to. Numbers of all magnitudes have no other measure.
        """
        tolerance = self._tolerance(before, after)
        function, index = run
        if tolerance.allowed == (EXACT,):
            return tolerance
        special = self._data[function][index].name in (MAGNITUDES, EXTREMES)
        if before.outputs[function][index][output].dtype.kind != "f":
            return tolerance
        of_each = 2 * max(each.ulp or 0 for each in tolerance.allowed)
        errors = self._errors.get(function, ())
        if self._reference is None or index >= len(errors) or output not in errors[index]:
            if special:
                return None
            tolerance = tolerance.with_roundings if of_each else tolerance
            return tolerance.of_digits_of_f32 if errors and output in errors[0] else tolerance
        expected = self._reference.outputs[function][index]
        explained = max(ORDER, of_each) * explained_by(errors[index], expected, output)
        return replace(tolerance, explained=explained, finite=special)

    def _with_last_digits(
        self, tolerance: Tolerance, run: tuple[str, int], output: str
    ) -> Tolerance:
        """Return what is allowed where last digits of operands move an output as far as that."""
        if self._is_given or tolerance.allowed == (EXACT,):
            return tolerance
        moved = ORDER * self._last_digits(*run).get(output, 0.0)
        return replace(tolerance, explained=max(tolerance.explained, moved))

    def _last_digits(self, function: str, index: int) -> Mapping[str, float]:
        """Return how far last digits move each output for a data set."""
        key = function, index
        if key not in self._by_digits:
            data = self._data[function][index]
            self._by_digits[key] = moved_by_last_digits(self._small_graph, function, data)
        return self._by_digits[key]

    @property
    def _is_given(self) -> bool:
        """Whether the user says what is allowed."""
        return self.settings.rtol is not None or self.settings.atol is not None

    def _reference_of(self, state: State) -> Reference | None:
        """Run a module in f64, unless the user says what is allowed, or the network is large."""
        if self._is_given or self._is_large:
            return None
        found = reference_of(state.module, self._data)
        if found is None and self._tensors is not None and self._state is None:
            return reference_of(self._tensors, self._data)
        return found

    def _check_rounding(self, before: State, after: State, step: CheckStep) -> None:
        """Compare with what is computed in f64; raises CheckFailure, and notes near misses."""
        old = self._reference
        declared = [declared_numerics(each) for each in self._unchecked]
        if old is None or set(declared) == {EXACT}:
            return
        new = self._reference_of(after)
        self._reference = new or old
        if any(each.ulp is not None for each in declared):
            return
        for name, errors in self._errors.items():
            data = self._data[name][0]
            if new is not None:
                wider, exact = new.outputs[name][0], old.outputs[name][0]
                found = excess(wider, exact, errors[0], CONSTANTS)
                if any(each.is_wrong for each in found):
                    small = self._small_graph
                    graph = None if small is None else in_f64(small)
                    known = _at_least(errors[0], _last_digits_in_f64(graph, name, wide(data)))
                    wider = decided(graph, name, wide(data), wider, exact)
                    found = excess(wider, exact, known, CONSTANTS)
                run = old.plans[name], new.plans[name], (wide(data),)
                self._judge(found, run, step, CONSTANTS * EPS)
            outputs, expected = after.outputs[name][0], (new or old).outputs[name][0]
            found = excess(outputs, expected, errors[0])
            if any(each.is_wrong for each in found):
                known = _at_least(errors[0], self._last_digits(name, 0))
                outputs = decided(self._small_graph, name, data, outputs, expected)
                found = excess(outputs, expected, known)
            run = before.plans[name], after.plans[name], (data,)
            self._judge(found, run, step, ORDER * EPS)

    def _judge(
        self,
        found: Sequence[Excess],
        run: tuple[Plan, Plan, Sequence[DataSet]],
        step: CheckStep,
        rtol: float,
    ) -> None:
        for each in found:
            if not each.is_wrong:
                step.note = f"near miss: {each.text}"
                continue
            step.note = f"'{each.output}' is wrong"
            culprit = self._culprit(run, Tolerance((REASSOCIATES,), rtol, 0.0))
            raise self._blaming(f"moved {each.text}; ", culprit, run, (each.expected, each.actual))

    def _moved(
        self,
        output: str,
        found: Difference,
        run: tuple[Plan, Plan, Sequence[DataSet]],
        tolerance: Tolerance,
    ) -> CheckFailure:
        data_sets = run[2]
        culprit = self._culprit(run, tolerance)
        special = f", on data with {data_sets[-1].name}" if data_sets[-1].name else ""
        message = (
            f"moved output '{output}'{found.at}: expected {found.expected!s}, "
            f"got {found.actual!s}{special}; largest difference {found.size}, "
            f"allowed: {tolerance.text}; "
        )
        return self._blaming(message, culprit, run, (found.expected, found.actual))

    def _culprit(
        self, run: tuple[Plan, Plan, Sequence[DataSet]], tolerance: Tolerance
    ) -> Culprit | None:
        """Return the op that differs; of machine code, the call of the kernel that does."""
        before, after, data_sets = run
        seen = before if before.is_observable else self._seen.get(before.function)
        if after.is_observable or seen is None:
            return find_culprit(before, after, data_sets, tolerance)
        return find_kernel(seen, after, data_sets, tolerance)

    def _blaming(
        self,
        message: str,
        culprit: Culprit | None,
        run: tuple[Plan, Plan, Sequence[DataSet]],
        element: tuple[object, object],
    ) -> CheckFailure:
        """Say which op is to blame, after a message; `element` is what it was, and is."""
        changed = changed_op(run[0], run[1], culprit)
        message += blamed_code(culprit, changed) or UNSEEN
        differing = Differing(blamed_name(culprit, changed), *element)
        op = None if culprit is None else culprit.before
        hint = None if culprit is None else _explanation(culprit)
        return failure(self._unchecked, message, op, hint, differing)


def _last_digits_in_f64(
    graph: ModuleOp | None, function: str, data: DataSet
) -> Mapping[str, float]:
    """Return how far outputs move in f64: by what f16 rounds, which it is in f64 too."""
    moved = moved_by_last_digits(graph, function, data)
    return {name: each * ORDER / CONSTANTS for name, each in moved.items()}


def _at_least(errors: Mapping[str, float], known: Mapping[str, float]) -> Mapping[str, float]:
    return {name: max(error, known.get(name, 0.0)) for name, error in errors.items()}


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


def _blind_spots(outputs: Mapping[str, Sequence[Mapping[str, Array]]]) -> str:
    """Say which outputs show nothing: none at all, or the same number (such as NaN) everywhere."""
    blind = [f"'@{function}' has no outputs" for function, each in outputs.items() if not each[0]]
    blind += [
        f"'{name}' is {array.flat[0]} everywhere"
        for each in outputs.values()
        for name, array in each[0].items()
        if array.size > 1 and same_values(array, np.full_like(array, array.flat[0])).all()
    ]
    return ", ".join(blind)
