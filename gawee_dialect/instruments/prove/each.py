"""The instrument behind `--prove-each`: stop at the first pass that changes what is computed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.instruments.check.blame import Culprit, find_culprit, where
from gawee_dialect.instruments.check.compare import Tolerance, changed_signature
from gawee_dialect.instruments.check.each import CheckEach, CheckFailure, CheckSettings
from gawee_dialect.instruments.check.functions import public_functions
from gawee_dialect.instruments.check.inputs import arguments_for
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.plan import ExactPlan, exact_plan, word_array
from gawee_dialect.instruments.prove.run import NotProvable
from gawee_dialect.instruments.prove.summary import Step, Verdict, summary_table
from gawee_dialect.instruments.report import print_table
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.locations import node_name, place
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.numerics import EXACT, declared_numerics
from gawee_dialect.passes.pass_manager import Pipeline


@dataclass
class State:
    """A module that was run on exact numbers: how each function ran, and what it returned."""

    plans: dict[str, ExactPlan]
    outputs: dict[str, dict[str, Array]]


@dataclass(frozen=True)
class Moved:
    """An output that is another number than it was: where, and by which op."""

    function: str
    output: str
    index: tuple[int, ...]
    expected: object
    actual: object
    culprit: Culprit | None


class ProveEach(Instrument):
    """Runs a module on exact numbers before the first pass and after every pass.

    Raises CheckFailure from `after_pass` where an output is another number. What has no meaning on
    exact numbers, and what a pass declares to approximate, is checked by data, as CheckEach does.
    """

    def __init__(self, settings: CheckSettings | None = None):
        self.settings = settings or CheckSettings()
        self.steps: list[Step] = []
        self._module: ModuleOp | None = None
        self._arguments: dict[str, dict[str, Array]] = {}
        self._state: State | NotProvable | None = None
        self._before: ModuleOp | None = None

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self._start(module)

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if isinstance(module_pass, Pipeline):
            return
        if self._module is not module:  # passes run by hand, without a tool around them
            self._start(module)
        self._before = module.clone()

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if isinstance(module_pass, Pipeline):
            return  # each of its passes has been looked at
        assert self._before is not None
        started = perf_counter()
        step = Step(module_pass.name, Verdict.UNCHANGED)
        self.steps.append(step)
        try:
            if not module.is_structurally_equivalent(self._before):
                self._prove(module_pass, self._before, module, step)
        except CheckFailure:
            step.verdict = Verdict.WRONG
            raise
        finally:
            step.seconds = perf_counter() - started

    def report(self) -> None:
        print_table(summary_table(self.steps))

    def _start(self, module: ModuleOp) -> None:
        functions = public_functions(module)
        if not functions:
            raise GaweeError("expected a public function to run, got none in the module")
        self._module = module
        settings = self.settings
        self._arguments = arguments_for(module, functions, settings.seed, settings.arrays)
        started = perf_counter()
        self._state = self._run_at_first(module)
        step = Step("(as it was read)", Verdict.RUN, _reason(self._state))
        step.seconds = perf_counter() - started
        self.steps.append(step)

    def _run_at_first(self, module: ModuleOp) -> State | NotProvable:
        # A graph as a tracer left it may need a pass before it runs at all.
        try:
            return self._run(module)
        except NotProvable as error:
            return error
        except GaweeError as error:
            return NotProvable(error.diagnostics[0])

    def _run(self, module: ModuleOp) -> State:
        """Run a copy of the module; raises NotProvable, and GaweeError where it goes wrong."""
        copy = module.clone()
        plans = {name: exact_plan(copy, name, self.settings.seed) for name in self._arguments}
        return State(plans, {name: plan.run(self._arguments[name]) for name, plan in plans.items()})

    def _prove(self, module_pass: ModulePass, was: ModuleOp, module: ModuleOp, step: Step) -> None:
        before = self._state
        try:
            after = self._run(module)
        except NotProvable as error:
            self._state = error
            self._check_by_data(module_pass, was, module, step)
            step.verdict, step.note = Verdict.CHECKED, _reason(error)
            return
        except GaweeError as error:
            if isinstance(before, State):
                raise self._stopped_running(module_pass, error) from error
            self._state = NotProvable(error.diagnostics[0])
            return
        self._state = after
        if not isinstance(before, State):
            self._check_by_data(module_pass, was, module, step)
            step.verdict, step.note = Verdict.CHECKED, f"before it: {_reason(before)}"
            return
        moved = self._moved(module_pass, before, after)
        if moved is None:
            step.verdict = Verdict.PROVED
            return
        assumed = _assumption(module_pass, moved)
        if assumed is None:
            raise _failure(module_pass, moved)
        self._check_by_data(module_pass, was, module, step)
        step.verdict, step.note = Verdict.ASSUMED, assumed

    def _check_by_data(
        self, module_pass: ModulePass, was: ModuleOp, module: ModuleOp, step: Step
    ) -> None:
        """Check a pass as `--check-each` does; raises CheckFailure."""
        check = CheckEach(self.settings)
        check.before_pass(module_pass, was)
        check.after_pass(module_pass, module)
        step.is_checked = not check.is_waiting

    def _moved(self, module_pass: ModulePass, before: State, after: State) -> Moved | None:
        """Return the first output that is another number, and why."""
        for function, expected in before.outputs.items():
            actual = after.outputs[function]
            in_words = {name: word_array(each) for name, each in actual.items()}
            were = {name: word_array(each) for name, each in expected.items()}
            changed = changed_signature(in_words, were)
            if changed is not None:
                message = f"expected {changed[0]}, got {changed[1]}"
                raise CheckFailure(
                    module_pass.name,
                    Diagnostic(
                        f"pass '{module_pass.name}' changed the outputs of '@{function}': {message}"
                    ),
                )
            for name, array in were.items():
                different = np.argwhere(in_words[name] != array)
                if not len(different):
                    continue
                index = tuple(int(each) for each in different[0])
                old, new = _number(expected[name], index), _number(actual[name], index)
                culprit = find_culprit(
                    before.plans[function],
                    after.plans[function],
                    self._arguments[function],
                    Tolerance((EXACT,)),
                )
                return Moved(function, name, index, old, new, culprit)
        return None

    def _stopped_running(self, module_pass: ModulePass, error: GaweeError) -> CheckFailure:
        """Blame the pass for a program that ran before it and does not run after it."""
        first = error.diagnostics[0]
        message = f"pass '{module_pass.name}' left a module that cannot be run: {first.message}"
        return CheckFailure(module_pass.name, replace(first, message=message))


def _number(array: object, index: tuple[int, ...]) -> object:
    """Return what an element is near to, for messages."""
    return (array.value if isinstance(array, Numbers) else np.asarray(array))[index]


def _reason(state: State | NotProvable | None) -> str:
    if not isinstance(state, NotProvable):
        return ""
    return f"not provable: {state.diagnostic.message}"


def _assumption(module_pass: ModulePass, moved: Moved) -> str | None:
    """Return the identity beyond exact arithmetic that explains a difference, if one does."""
    declared = declared_numerics(module_pass)
    if declared.ulp is not None:
        return f"declared: {declared}"
    culprit, constants = moved.culprit, ConstantOp | arith.ConstantOp
    if culprit is None or isinstance(culprit.before, constants):
        return None
    if isinstance(culprit.after, constants):
        return f"constants are folded in floats: {where(culprit.before)}"
    return None


def _failure(module_pass: ModulePass, moved: Moved) -> CheckFailure:
    culprit = moved.culprit
    at = f" at [{', '.join(map(str, moved.index))}]" if moved.index else ""
    numbers = f"expected {moved.expected!s}, got {moved.actual!s}"
    message = (
        f"pass '{module_pass.name}' moved output '{moved.output}'{at}: {numbers}, "
        f"which are different numbers in exact arithmetic; {_blamed(culprit)}"
    )
    op: Operation | None = None if culprit is None else culprit.before
    return CheckFailure(
        module_pass.name,
        Diagnostic(
            message,
            None if op is None else place(op.location),
            None if op is None else node_name(op.location),
            _hint(culprit),
        ),
    )


def _blamed(culprit: Culprit | None) -> str:
    if culprit is None or culprit.difference is None:
        return "no op differs: the function returns another value"
    return f"first op that differs: {culprit.describe()}"


def _hint(culprit: Culprit | None) -> str | None:
    if culprit is None or not culprit.gone:
        return None
    return "the pass removed " + ", ".join(where(op) for op in culprit.gone)
