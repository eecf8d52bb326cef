"""The instrument behind `--prove-each`: stop at the first pass that changes what is computed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from rich.table import Table
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.instruments.check.blame import Culprit, find_culprit, where
from gawee_dialect.instruments.check.compare import Tolerance, changed_signature
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import (
    CheckSettings,
    EachPass,
    size_of,
    up_to,
    warn_of_unchecked,
    without_own_sizes,
)
from gawee_dialect.instruments.check.failure import (
    ChangedOp,
    CheckFailure,
    Differing,
    blamed_code,
    blamed_name,
    changed_op,
    changed_outputs,
    failure,
    stopped_running,
)
from gawee_dialect.instruments.check.functions import (
    INDEX,
    ArraySpec,
    argument_specs,
    overwritten_arguments,
)
from gawee_dialect.instruments.check.inputs import (
    EXTREMES,
    MAGNITUDES,
    DataSet,
    arguments_for,
    array_of_extremes,
    array_of_magnitudes,
    has_extremes,
    sets_of_sizes,
)
from gawee_dialect.instruments.check.static_rules import check_rules
from gawee_dialect.instruments.prove.degrees import Degrees
from gawee_dialect.instruments.prove.inputs import (
    JUMPS,
    WRONG_INDICES,
    array_of_jumps,
    has_jumps,
    index_checks,
    with_wrong_indices,
    without_new,
)
from gawee_dialect.instruments.prove.known import KnownOps
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.plan import ExactPlan, exact_plan, word_array
from gawee_dialect.instruments.prove.residues import (
    NotProvable,
    Residues,
    computed_by,
    primes_of,
)
from gawee_dialect.instruments.prove.run import drawn
from gawee_dialect.instruments.report import print_table
from gawee_dialect.interpreter.arrays import Array, attribute_value, dtype_of
from gawee_dialect.passes.numerics import EXACT, FOLDS_CONSTANTS, declared_numerics

# How far constants are that a pass has folded in floats from what the ops computed.

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


# The table that a proof ends with: what is known of each pass.


class Verdict(StrEnum):
    """What is known of a pass."""

    RUN = ""
    UNCHANGED = "unchanged"
    PROVED = "proved"
    INTEGERS = "checked"
    ASSUMED = "assumed"
    CHECKED = "checked by data"
    WRONG = "wrong"


@dataclass
class ProofStep:
    """A pass, what is known of it, and what that rests on."""

    name: str
    verdict: Verdict
    note: str = ""
    seconds: float = 0.0
    place: str | None = None
    degrees: Degrees | None = None
    """Of the numbers that were compared since the last row that has them."""
    is_checked: bool = True
    """Of a pass that is not proved: whether its outputs could be checked by data."""


def summary_table(steps: Sequence[ProofStep]) -> Table:
    """Return a table for `rich.print`: a row for each pass."""
    table = Table(title="In exact arithmetic, after each pass", title_justify="left")
    table.add_column("pass", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("degree", justify="right")
    table.add_column("by chance", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("", overflow="fold")
    for step in steps:
        unchecked = "" if step.is_checked else "; could not be checked by data either"
        counted = step.degrees
        degree = "" if counted is None else str(max(counted.degree, counted.inner))
        chance = "" if counted is None else str(counted)
        seconds, note = f"{step.seconds:.2f}", f"{step.note}{unchecked}"
        table.add_row(step.name, step.verdict.value, degree, chance, seconds, note)
    return table


LARGEST_REPEATED = 1_000_000
"""The most inputs and weights of a network that is run by a second seed."""

SCALES = (1e-2, 1.0, 30.0)
"""Of what is run by the second seed: a float64 holds the exponentials of such numbers."""


@dataclass
class State:
    """A module that was run on exact numbers: how each function ran, and what it returned."""

    plans: dict[str, ExactPlan]
    outputs: dict[str, Sequence[dict[str, Array]]]
    """By function, for each data set."""


@dataclass(frozen=True)
class Moved:
    """An output that is another number than it was: where, and by which op."""

    function: str
    output: str
    index: tuple[int, ...]
    expected: object
    actual: object
    data_sets: Sequence[DataSet]
    """Those that the function ran on so far; it is another number on the last of them."""
    culprit: Culprit | None
    changed: ChangedOp | None
    """The first op of machine code that the pass changed."""


class ProveEach(EachPass[ProofStep]):
    """Runs a module on exact numbers before the first pass and after every pass.

    Raises CheckFailure from `after_pass` where an output is another number. What has no meaning on
    exact numbers, and what a pass declares to approximate, is checked by data, as CheckEach does.
    """

    def __init__(self, settings: CheckSettings | None = None):
        super().__init__(settings)
        self._residues = Residues(primes_of(self.settings.seed))
        self._overwritten: dict[str, tuple[str, ...]] = {}
        self._data: dict[str, Sequence[DataSet]] = {}
        self._known = KnownOps()
        self._same: tuple[State | None, State | None] = None, None
        """The first and the last of the modules whose numbers are the same."""
        self._proved_since: list[ProofStep] = []
        """The passes between them."""
        self._state: State | NotProvable | None = None
        self._last: State | None = None
        """The last that ran on exact numbers."""
        self._unproved: list[ModulePass] = []
        """The passes since then."""
        self._check: CheckEach | None = None
        """A check that saw the last pass, or waits for a module that runs."""
        self._first: ModuleOp | None = None
        self._whole: set[str] = set()
        """The arguments with whose integers something is computed."""

    def first_step(self) -> ProofStep:
        return ProofStep("(as it was read)", Verdict.RUN)

    def step_of(self, module_pass: ModulePass) -> ProofStep:
        return ProofStep(module_pass.name, Verdict.UNCHANGED)

    def begin(self, module: ModuleOp, step: ProofStep) -> None:
        with computed_by(self._residues):
            self._begin(module, step)

    def _begin(self, module: ModuleOp, step: ProofStep) -> None:
        self.count_degrees()  # of a module before this one, while its data are known
        self._overwritten = {name: overwritten_arguments(module, name) for name in self.arguments}
        self._whole = set()
        self._data = _drawn(self._data_sets(module), self.settings.seed)
        self._first, self._state = module.clone(), None
        self._state, self._last = self._run_at_first(module), None
        if isinstance(self._state, NotProvable):
            self._data = without_own_sizes(self._data)
            self._state = self._run_at_first(module)
        self._unproved, self._check = [], None
        self._same_from(self._state if isinstance(self._state, State) else None)
        step.note = _reason(self._state)
        if not step.note and size_of(self.arguments) > LARGEST_REPEATED:
            step.note = "too large for a second seed: one seed alone"

    def _data_sets(self, module: ModuleOp) -> dict[str, Sequence[DataSet]]:
        """Return numbers as usual, and of other magnitudes, which reach what clamps leave out."""
        usual, settings = self.arguments, self.settings
        first = {name: (DataSet(each),) for name, each in usual.items()}
        if size_of(usual) > LARGEST_REPEATED:
            return {**first}
        draw = _with_largest_in_tails
        second = arguments_for(module, usual, settings.seed + 1, settings.arrays, draw)
        return {
            name: (
                *each,
                DataSet(second[name], name=MAGNITUDES),
                *self._extremes(module, name),
                *self._with_jumps(module, name),
                *sets_of_sizes(module, name, usual[name], settings.seed, settings.arrays),
                *with_wrong_indices(module, name, each[0]),
            )
            for name, each in first.items()
        }

    def _extremes(self, module: ModuleOp, name: str) -> Iterator[DataSet]:
        """Yield data with extreme integers, where there are integers that may be so."""
        specs = argument_specs(module, name)
        self._whole |= {
            spec.name for spec in specs if spec.dtype.kind in "iu" and spec.use != INDEX
        }
        if has_extremes(specs):
            yield self._data_set(module, name, array_of_extremes, EXTREMES)

    def _with_jumps(self, module: ModuleOp, name: str) -> Iterator[DataSet]:
        """Yield data of `array_of_jumps`, where something jumps."""
        if has_jumps(module):
            yield self._data_set(module, name, array_of_jumps, JUMPS)

    def _data_set(
        self, module: ModuleOp, name: str, draw: Callable[[ArraySpec, int], Array], what: str
    ) -> DataSet:
        settings = self.settings
        made = arguments_for(module, (name,), settings.seed, settings.arrays, draw)
        return DataSet(made[name], name=what)

    def check_pass(
        self, module_pass: ModulePass, before: ModuleOp, module: ModuleOp, step: ProofStep
    ) -> None:
        try:
            last = self._state
            with computed_by(self._residues):
                self._prove(module_pass, before, module, step)
            same = _same_functions(last, self._state)
            check_rules(module_pass, before, module, self.arguments, same)
        except CheckFailure:
            step.verdict = Verdict.WRONG
            raise

    def count_degrees(self) -> None:
        """Count the degrees of the first and the last of the modules whose numbers are the same.

        The row of the last pass that was proved of them has these.
        """
        first, last = self._same
        steps, self._proved_since = self._proved_since, []
        if first is None or last is None or not steps:
            return
        with computed_by(self._residues):
            counted = [self._degrees(each) for each in (first, last)]
        if counted[0] is not None and counted[1] is not None:
            steps[-1].degrees = counted[0].joined(counted[1])

    def report(self) -> None:
        self.count_degrees()
        print_table(summary_table(self.steps))
        warn_of_unchecked(self.steps)

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
        copy = self._before = module.clone()  # which the next pass is compared with
        self._known.begin()
        plans = {
            name: exact_plan(copy, name, self.settings.seed, self._overwritten[name], self._known)
            for name in self.arguments
        }
        data = {name: self._defined_data(copy, name) for name in plans}
        return State(plans, {name: self._outputs(plan, data[name]) for name, plan in plans.items()})

    def _outputs(self, plan: ExactPlan, data: Sequence[DataSet]) -> Sequence[dict[str, Array]]:
        """Run a function; what it returned before, where its machine code is the same."""
        last = self._state
        if isinstance(last, State) and plan.computes_as(last.plans[plan.function]):
            outputs = last.outputs[plan.function]
            if len(outputs) == len(data):
                return outputs
        return plan.run(data)

    def _degrees(self, state: State) -> Degrees | None:
        """Count the degrees of what functions return; None where that would take too long."""
        if size_of(self.arguments) > LARGEST_REPEATED:
            return None
        found = Degrees()
        try:
            for name, plan in state.plans.items():
                found = found.joined(plan.degrees(self._data[name][0]))
        except (GaweeError, NotProvable):  # by other branches, which roundings alone decide
            return None
        return found

    def _defined_data(self, module: ModuleOp, function: str) -> Sequence[DataSet]:
        """Return what a function is run on; indices out of range where it checks them."""
        data = self._data[function]
        if index_checks(module, function):
            return data
        return [each for each in data if each.name != WRONG_INDICES]

    def _prove(
        self, module_pass: ModulePass, was: ModuleOp, module: ModuleOp, step: ProofStep
    ) -> None:
        before = self._state
        if isinstance(before, State):
            self._last, self._unproved = before, []
        try:
            after = self._run(module)
        except NotProvable as error:
            self._not_proved(module_pass, was, module, step, error)
            return
        except GaweeError as error:
            if isinstance(before, State):
                raise stopped_running([module_pass], error) from error
            reason = NotProvable(error.diagnostics[0])
            self._not_proved(module_pass, was, module, step, reason)
            return
        self._state = after
        if not isinstance(before, State):
            self._go_back(module_pass, was, module, step, after, _reason(before))
            return
        moved = self._moved(module_pass, before, after)
        if moved is None:
            if self._check is not None and not self._check.is_waiting:
                self._check = None  # it did not see this pass
            self._proved(step, after, "")
            return
        assumed = self._assumption(module_pass, before, after, moved)
        if assumed is None:
            raise _failure(module_pass, moved)
        self._check_by_data(module_pass, was, module, step)
        step.verdict, step.note = Verdict.ASSUMED, assumed
        self._same_from(after)

    def _proved(self, step: ProofStep, after: State, note: str) -> None:
        """Give a pass the verdict on equal numbers: where integers are data, it holds for these."""
        self._same = self._same[0], after
        self._proved_since.append(step)
        step.verdict, step.note = Verdict.PROVED, note
        if self._whole:
            names = ", ".join(f"'{each}'" for each in sorted(self._whole))
            about = f"integers of {names} are data"
            step.verdict, step.note = Verdict.INTEGERS, "; ".join(filter(None, (note, about)))

    def _same_from(self, state: State | None) -> None:
        """Begin with other numbers than those of the modules so far."""
        self.count_degrees()
        self._same = state, state

    def _not_proved(
        self,
        module_pass: ModulePass,
        was: ModuleOp,
        module: ModuleOp,
        step: ProofStep,
        reason: NotProvable,
    ) -> None:
        """Check what has no exact meaning by data."""
        self._state = reason
        self._unproved.append(module_pass)
        self._check_by_data(module_pass, was, module, step)
        step.verdict, step.note = Verdict.CHECKED, _reason(reason)

    def _go_back(
        self,
        module_pass: ModulePass,
        was: ModuleOp,
        module: ModuleOp,
        step: ProofStep,
        after: State,
        reason: str,
    ) -> None:
        """Compare with the last module that ran on exact numbers, and by data where that differs.

        What had no exact meaning between them may have rounded: a difference alone is no error.
        """
        last = self._last
        self._check_by_data(module_pass, was, module, step)
        if last is not None and self._moved(module_pass, last, after) is None:
            passes = ", ".join(f"'{each.name}'" for each in self._unproved)
            self._proved(step, after, f"together with {passes}")
            self.note_checked(step, is_compared=True, is_waiting=False)
            return
        step.verdict, step.note = Verdict.CHECKED, f"before it: {reason}"
        self._same_from(after)

    def _check_by_data(
        self, module_pass: ModulePass, was: ModuleOp, module: ModuleOp, step: ProofStep
    ) -> None:
        """Check a pass as `--check-each` does, from the last module on that ran.

        Raises CheckFailure, which names the passes since then too.
        """
        if self._check is None:
            self._check = CheckEach(self.settings, self._first)
        else:
            self._check.go_on_with(was)
        check = self._check
        check.before_pass(module_pass, was)
        has_run = check.has_run
        check.after_pass(module_pass, module)
        self.note_checked(step, is_compared=has_run, is_waiting=check.is_waiting)

    def _assumption(
        self, module_pass: ModulePass, before: State, after: State, moved: Moved
    ) -> str | None:
        """Return the identity beyond exact arithmetic that explains a difference, if one does."""
        declared = declared_numerics(module_pass)
        if declared.ulp is not None or declared == FOLDS_CONSTANTS:
            return f"declared: {declared}"
        if moved.culprit is None:
            return None
        plan = before.plans[moved.function]
        folded = folded_by(moved.culprit, after.plans[moved.function])
        errors = [folding_error(plan, moved.data_sets, each) for each in folded]
        known = [error for error in errors if error is not None]
        if not known or len(known) < len(errors) or max(known) > MOST_ULP:
            return None
        within = f"within {max(*known, 0.1):.1f} ulp"
        ops = ", ".join(where(each.before) for each in folded)
        return f"constants are folded in floats, {within}: {ops}"

    def _moved(self, module_pass: ModulePass, before: State, after: State) -> Moved | None:
        """Return the first output that is another number, and why."""
        for function, runs in before.outputs.items():
            for index, (expected, actual) in enumerate(
                zip(runs, after.outputs[function], strict=False)
            ):
                found = _different(module_pass, function, expected, actual)
                if found is None:
                    continue
                name, at = found
                old, new = _number(expected[name], at), _number(actual[name], at)
                data = up_to(self._data[function], index)
                plans = before.plans[function], after.plans[function]
                culprit = find_culprit(*plans, data, Tolerance((EXACT,)))
                changed = changed_op(*plans, culprit)
                return Moved(function, name, at, old, new, data, culprit, changed)
        return None


def _same_functions(last: State | NotProvable | None, now: State | NotProvable | None) -> set[str]:
    """Return the names of functions that say what they did, of those that run natively."""
    if not isinstance(last, State) or not isinstance(now, State):
        return set()
    pairs = ((plan, last.plans[name]) for name, plan in now.plans.items())
    return set[str]().union(*(plan.same_functions(other) for plan, other in pairs))


def _drawn(data: Mapping[str, Sequence[DataSet]], seed: int) -> dict[str, Sequence[DataSet]]:
    """Draw the numbers of each data set, by a seed of its own: once, for all passes.

    What is the same array at sizes of their own is drawn once for all of these.
    """
    found: dict[str, Sequence[DataSet]] = {}
    for function, sets in data.items():
        kept: dict[int, Array] = {}
        found[function] = [
            _drawn_set(each, seed + index, kept if each.alone else {})
            for index, each in enumerate(sets)
        ]
    return found


def _drawn_set(data: DataSet, seed: int, kept: dict[int, Array]) -> DataSet:
    for each in data.arrays.values():
        if id(each) not in kept:
            kept[id(each)] = drawn(each, seed)
    return replace(data, arrays={name: kept[id(each)] for name, each in data.arrays.items()})


def _with_largest_in_tails(spec: ArraySpec, seed: int) -> Array:
    """Draw numbers of SCALES; the largest of a row is its last, of every other row one before.

    Every third row has its largest twice. So a maximum shows whether a loop over vectors forgets
    its tail, or takes all for tails.
    """
    array = array_of_magnitudes(spec, seed, SCALES, ("number", "weight"))
    if spec.use != "number" or spec.dtype.kind != "f" or not array.size or not array.ndim:
        return array
    rows = array.reshape(-1, array.shape[-1])
    every, largest = np.arange(len(rows)), rows.argmax(axis=1)
    size = rows.shape[1]
    wanted = np.where(every % 2 == 0, size - 1, 3 * size // 4)
    rows[every, largest], rows[every, wanted] = rows[every, wanted], rows[every, largest]
    ties = every % 3 == 2  # the largest twice: a search finds either
    rows[every[ties], size // 3] = rows[every[ties], wanted[ties]]
    return array


def _different(
    module_pass: ModulePass,
    function: str,
    expected: Mapping[str, Array],
    actual: Mapping[str, Array],
) -> tuple[str, tuple[int, ...]] | None:
    """Return the first output that differs, and where; raises CheckFailure for other outputs."""
    were = {name: word_array(each) for name, each in expected.items()}
    in_words = {name: word_array(each) for name, each in without_new(actual, were).items()}
    changed = changed_signature(in_words, were)
    if changed is not None:
        raise changed_outputs([module_pass], function, changed)
    for name, array in were.items():
        different = np.argwhere(in_words[name] != array)
        if len(different):
            return name, tuple(int(each) for each in different[0])
    return None


def _number(array: object, index: tuple[int, ...]) -> object:
    """Return what an element is near to, for messages."""
    return (array.value if isinstance(array, Numbers) else np.asarray(array))[index]


def _reason(state: State | NotProvable | None) -> str:
    if not isinstance(state, NotProvable):
        return ""
    return f"not provable: {state.diagnostic.message}"


def _failure(module_pass: ModulePass, moved: Moved) -> CheckFailure:
    culprit = moved.culprit
    at = f" at [{', '.join(map(str, moved.index))}]" if moved.index else ""
    data = moved.data_sets[-1]
    sizes = f" for {data.name}" if data.alone else ""
    numbers = f"expected {moved.expected!s}, got {moved.actual!s}"
    message = (
        f"moved output '{moved.output}'{at}{sizes}: {numbers}, "
        f"which are different numbers in exact arithmetic; {_blamed(moved)}"
    )
    op = None if culprit is None else culprit.before
    differing = Differing(blamed_name(culprit, moved.changed), moved.expected, moved.actual)
    return failure([module_pass], message, op, _hint(culprit), differing)


def _blamed(moved: Moved) -> str:
    unseen = "what its ops compute natively cannot be seen"
    return blamed_code(moved.culprit, moved.changed) or unseen


def _hint(culprit: Culprit | None) -> str | None:
    if culprit is None or not culprit.gone:
        return None
    return "the pass removed " + ", ".join(where(op) for op in culprit.gone)
