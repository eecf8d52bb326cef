"""What checks and proofs of every pass share: data to run on, and the module before each pass."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Generic, Protocol, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.analysis.open_sizes import specialized
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.check.functions import (
    argument_specs,
    public_functions,
    written_sizes,
)
from gawee_dialect.instruments.check.inputs import (
    EXTREMES,
    MAGNITUDES,
    SPECIAL,
    TIES,
    DataSet,
    arguments_for,
    array_of_extremes,
    array_of_magnitudes,
    array_with_special_values,
    array_with_ties,
    has_extremes,
    sets_of_sizes,
)
from gawee_dialect.instruments.report import Unchecked
from gawee_dialect.interpreter.arrays import Array, Unwritten
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.upstream.equivalence import are_equivalent


class TimedStep(Protocol):
    """A row of the table that a check ends with."""

    name: str
    note: str
    seconds: float
    place: str | None
    """Of what the note is about."""
    is_checked: bool
    """Whether what the pass left was compared with what was there before it."""


def warn_of_unchecked(steps: Iterable[TimedStep]) -> None:
    """Warn of each pass that could not be checked."""
    for step in steps:
        if not step.is_checked:
            reason = f": {step.note}" if step.note else ""
            text = f"pass '{step.name}' could not be checked{reason}"
            warnings.warn(Unchecked(text, step.place), stacklevel=2)


StepT = TypeVar("StepT", bound=TimedStep)


@dataclass(frozen=True)
class CheckSettings:
    """What a check runs on, and what it allows; see `Tolerance` for the defaults."""

    seed: int = 0
    rtol: float | None = None
    atol: float | None = None
    arrays: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Inputs and parameters by name; the others are seeded."""


class EachPass(Instrument, ABC, Generic[StepT]):
    """Runs a module before the first pass and after every pass that changed it.

    A check raises CheckFailure from `after_pass`, so that the pipeline stops at the pass that is to
    blame. Each pass of a nested pipeline is looked at.
    """

    def __init__(self, settings: CheckSettings | None = None):
        self.settings = settings or CheckSettings()
        self.steps: list[StepT] = []
        self.arguments: dict[str, dict[str, Array]] = {}
        """What each function is run on, by its name and the argument's."""
        self._module: ModuleOp | None = None
        self._before: ModuleOp | None = None
        """A copy of the module, as the last pass that changed it left it."""
        self._waiting_steps: list[StepT] = []
        """The rows of passes that are checked when a module runs again."""

    @abstractmethod
    def first_step(self) -> StepT:
        """Make the row of the module as it was read."""

    @abstractmethod
    def step_of(self, module_pass: ModulePass) -> StepT:
        """Make the row of a pass, which says `unchanged` until it is checked."""

    @abstractmethod
    def begin(self, module: ModuleOp, step: StepT) -> None:
        """Run the module as it was read; it may be at no level that can be run."""

    @abstractmethod
    def check_pass(
        self, module_pass: ModulePass, before: ModuleOp, module: ModuleOp, step: StepT
    ) -> None:
        """Run what a pass has changed, and compare; raises CheckFailure."""

    def note_checked(self, step: StepT, *, is_compared: bool, is_waiting: bool) -> None:
        """Note of a pass's row whether it was compared; those that waited for it are, too."""
        step.is_checked = is_compared and not is_waiting
        if step.is_checked:
            for each in self._waiting_steps:
                each.is_checked = True
        if not is_waiting:
            self._waiting_steps.clear()
        elif is_compared:
            self._waiting_steps.append(step)

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self._start(module)

    def go_on_with(self, copy: ModuleOp) -> None:
        """Take a copy of the module that was run last for it."""
        self._module, self._before = copy, None

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if isinstance(module_pass, Pipeline):
            return
        if self._module is not module:  # passes run by hand, without a tool around them
            self._start(module)
        if self._before is None:
            self._before = module.clone()

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if isinstance(module_pass, Pipeline):
            return  # each of its passes has been looked at
        assert self._before is not None
        started = perf_counter()
        step = self.step_of(module_pass)
        self.steps.append(step)
        try:
            if not are_equivalent(module, self._before, {}):
                before, self._before = self._before, None
                before = self._at_written_sizes(before, module)
                self.check_pass(module_pass, before, module, step)
        finally:
            step.seconds = perf_counter() - started

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._before = None

    def _start(self, module: ModuleOp) -> None:
        functions = public_functions(module)
        if not functions:
            raise GaweeError("expected a public function to run, got none in the module")
        self._module, self._before = module, None
        step = self.first_step()
        self.steps.append(step)
        self._begin_at(module, functions, step)

    def _begin_at(self, module: ModuleOp, functions: Sequence[str], step: StepT) -> None:
        settings = self.settings
        self.arguments = arguments_for(module, functions, settings.seed, settings.arrays)
        started = perf_counter()
        self.begin(module, step)
        step.seconds = perf_counter() - started

    def _at_written_sizes(self, before: ModuleOp, module: ModuleOp) -> ModuleOp:
        """Return what was before a pass, at the numbers that it wrote for open sizes.

        That has been run then, on data of these sizes: a row of its own says so.
        """
        sizes = written_sizes(before, module, self.arguments)
        if not sizes:
            return before
        before = specialized(before, sizes, some=True)
        step = self.first_step()
        step.name = f"(at {', '.join(f'{name} = {size}' for name, size in sizes.items())})"
        self.steps.insert(-1, step)
        self._begin_at(before, [*self.arguments], step)
        return before


# On which data a check runs each function: one run after the other, in one memory.

Arguments = Mapping[str, Mapping[str, Array]]
"""What each function is run on, by its name and the argument's."""

LARGEST_REPEATED = 4_000_000
"""The most inputs and weights of a network that runs more than once, and in f64."""

DRAWS = (
    (TIES, array_with_ties, Unwritten.LARGEST),
    (MAGNITUDES, array_of_magnitudes, Unwritten.SIGNALLING),
    (SPECIAL, array_with_special_values, Unwritten.LARGEST),
)
"""Data beside the usual ones, and what memory holds when a run on them begins."""


def size_of(arguments: Arguments) -> int:
    """Return how many numbers the functions take, weights included."""
    return sum(array.size for each in arguments.values() for array in each.values())


def data_sets(
    module: ModuleOp, usual: Arguments, seed: int, given: Mapping[str, Array]
) -> dict[str, Sequence[DataSet]]:
    """Return what each function is run on: numbers as usual, those of DRAWS, and other sizes.

    A large network runs on the usual numbers alone.
    """
    found = {name: [DataSet(each, Unwritten.SIGNALLING)] for name, each in usual.items()}
    if size_of(usual) <= LARGEST_REPEATED:
        for what, draw, unwritten in DRAWS:
            for name, arrays in arguments_for(module, usual, seed, given, draw).items():
                found[name].append(DataSet(arrays, unwritten, what))
        extremes = arguments_for(module, usual, seed, given, array_of_extremes)
        for name, arrays in extremes.items():
            if has_extremes(argument_specs(module, name)):
                # Those with NaN are last: they have no reference in f64.
                found[name].insert(-1, DataSet(arrays, Unwritten.LARGEST, EXTREMES))
        for name, arrays in usual.items():
            found[name][-1:-1] = sets_of_sizes(module, name, arrays, seed, given)
    return {**found}


def up_to(data: Sequence[DataSet], index: int) -> Sequence[DataSet]:
    """Return the data set that shows an error, after those whose runs may have a part in it."""
    return data[index : index + 1] if data[index].alone else data[: index + 1]


def without_own_sizes(data: Mapping[str, Sequence[DataSet]]) -> dict[str, Sequence[DataSet]]:
    """Return the data sets that all have the same sizes."""
    return {name: [each for each in sets if not each.alone] for name, sets in data.items()}
