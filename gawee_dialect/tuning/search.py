"""The measured search: each distinct kernel in several versions, inside the running network."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from importlib import metadata
from math import inf
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.kernels.algorithm import Algorithm, Direct
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Schedule
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.evaluation.evaluator import Evaluator, Figures
from gawee_dialect.evaluation.search import MakeStrategy, Ranked, Space, search
from gawee_dialect.evaluation.turns import Referee, order_of
from gawee_dialect.instruments.profile import name_of
from gawee_dialect.passes.insertion import Insertion
from gawee_dialect.passes.tensors.assign_schedules import accesses_of
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.schedules.database import NO_CHOICES, Choice, Database, Entry, choice_form
from gawee_dialect.schedules.file import append, read_schedules
from gawee_dialect.schedules.keys import Decision, describe
from gawee_dialect.target.machine import Machine
from gawee_dialect.tuning.candidates import ScheduleSpace, schedules
from gawee_dialect.tuning.lowering import Lowering, ops_by_key
from gawee_dialect.tuning.network import StandaloneKernel, TunedNetwork, computed_by, scheduled

Array = NDArray[np.generic]

PROFILE_RUNS = 3
DIRECT_SCHEDULES = 3
"""Schedules in which the direct algorithm is measured against others."""
SMALLEST_GAIN = 1.02
"""What a candidate has to be faster by than the model's choice: less is noise."""
TOLERANCE = 1e-3
"""By which the outputs of two schedules may differ, as a part of their range: sums in f32."""


@dataclass(frozen=True)
class Settings:
    """What is searched, and for how long."""

    threads: int = 1
    most: int = 8
    """Candidates for each kernel."""
    pattern: str = "*"
    """Of the kernels to tune: of a node's name, or of a description."""
    passes: tuple[Insertion, ...] = ()
    """A user's own, each at its place in the pipeline."""
    strategy: MakeStrategy = Ranked
    """What decides which candidates are measured."""
    seconds: float = inf
    """After which the candidates of a kernel take no further turns."""
    patience: float = 2.0
    """Seconds that the measurements of a kernel may wait for a quiet machine, in all."""


@dataclass(frozen=True)
class Kernel:
    """A distinct kernel of the network, and the nodes that it computes."""

    key: str
    description: str
    nodes: Sequence[str]

    def matches(self, pattern: str) -> bool:
        """Whether the description or a node's name matches a pattern such as `conv*`."""
        return any(fnmatchcase(text, pattern) for text in (self.description, *self.nodes))


@dataclass(frozen=True)
class Outcome:
    """What was found for a kernel; the seconds are those of one call."""

    kernel: Kernel
    entry: Entry
    default_seconds: float
    seconds: float
    candidates: int
    wrong: int
    """Candidates whose output was not that of the others."""
    figures: Sequence[float] = ()
    """The least seconds of each, in the order in which they were first measured."""


class Version:
    """A kernel computed in one way: what is chosen, and its code, compiled when it is measured."""

    def __init__(self, choice: Choice, make: Callable[[], StandaloneKernel]):
        self.choice, self._make = choice, make

    @cached_property
    def code(self) -> StandaloneKernel:
        """The compiled kernel; raises GaweeError."""
        return self._make()


IN_NETWORK = "seconds"


class InNetwork(Evaluator[Version]):
    """The seconds of a call while the whole network runs; a call of `figures` is a round.

    Versions take turns in an order that changes, so that what else the machine does hits all. What
    computes otherwise than `first` is `wrong`: it takes forever, and is not run again.
    """

    def __init__(
        self,
        network: TunedNetwork,
        calls: Sequence[int],
        referee: Referee,
        first: Version | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ):
        """Measure in the place of some calls; outputs are compared where there is a `first`."""
        self._network, self._calls, self._referee = network, calls, referee
        self._first, self._tell = first, tell
        self._round = 0
        self._known: set[Version] = set()
        self.wrong: set[Version] = set()

    def figures(self, candidates: Sequence[Version]) -> Sequence[Figures]:
        for version in candidates:
            if version not in self._known:
                self._add(version)
        self._tell(f"measuring {len(candidates)}")
        self._referee.wait()
        seconds = [inf] * len(candidates)
        for index in order_of(len(candidates), self._round):
            if candidates[index] not in self.wrong:
                seconds[index] = self._network.seconds(candidates[index].code, self._calls)
        self._round += 1
        return [{IN_NETWORK: each} for each in seconds]

    def _add(self, version: Version) -> None:
        self._known.add(version)
        self._tell(f"compiled {len(self._known)}")
        output = version.code.output()
        if self._first is not None and not is_close(output, self._first.code.output()):
            self.wrong.add(version)


class Phase:
    """The search for one decision about all kernels of a network."""

    def __init__(self, tuner: "Tuner", decision: Decision):
        self.tuner = tuner
        self.decision = decision
        lowering = tuner.lowering
        self.with_layouts = lowering.with_layouts(tuner.database)
        self._scheduled = lowering.scheduled(self.with_layouts, tuner.database)
        with_choice = lowering.with_choice()
        self.kernels: list[Kernel] = []
        """The distinct kernels that run each time, not once to prepare weights."""
        for key, ops in ops_by_key(self._scheduled, decision).items():
            first = with_choice[key] if decision is Decision.ALGORITHM else ops[0]
            if isinstance(first, KernelOp):
                nodes = [name_of(op) for op in ops]
                self.kernels.append(Kernel(key, describe(first), nodes))
        processor, threads = lowering.processor, tuner.settings.threads
        self.known = [
            kernel
            for kernel in self.kernels
            if tuner.database.has_measured(kernel.key, processor.cpu, threads)
        ]
        """What the database has results for already."""

    @cached_property
    def network(self) -> TunedNetwork:
        """The network that kernels are measured in; it is compiled only where one is."""
        tuner = self.tuner
        settings = tuner.settings
        return TunedNetwork(
            self._scheduled, tuner.parameters, tuner.inputs, settings.threads, settings.passes
        )

    @property
    def chosen(self) -> list[Kernel]:
        """The kernels to tune, in the order of the network."""
        pattern = self.tuner.settings.pattern
        return [each for each in self.kernels if each not in self.known and each.matches(pattern)]

    @cached_property
    def todo(self) -> list[Kernel]:
        """The kernels to tune, from the one that takes the most time on."""

        def total(kernel: Kernel) -> float:
            return self.seconds[kernel.key] * len(self.calls(kernel))

        return sorted((each for each in self.chosen if each.key in self.seconds), key=total)[::-1]

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        """The seconds of a call of each kernel to tune, by key, before anything is tuned."""
        if not self.chosen:
            return {}
        times = self.network.times(PROFILE_RUNS)
        calls = {kernel.key: self.calls(kernel) for kernel in self.chosen}
        return {key: mean(times[each] for each in found) for key, found in calls.items() if found}

    def calls(self, kernel: Kernel) -> list[int]:
        """Return the positions of a kernel's calls in the network."""
        return self.network.calls_of(self.decision, kernel.key)

    def tune(self, kernel: Kernel, tell: Callable[[str], None]) -> Outcome:
        """Measure the candidates for a kernel, and add the best to the database.

        `tell` gets the progress as text. Raises GaweeError where a candidate cannot be compiled.
        """
        settings = self.tuner.settings
        space = self.space(kernel)
        first = space.candidate(space.start)
        referee = Referee(settings.threads, total_patience=settings.patience)
        compared = first if self.decision is Decision.SCHEDULE else None
        calls = self.calls(kernel)
        in_network = InNetwork(self.network, calls, referee, compared, tell)
        best = search(
            space,
            in_network,
            IN_NETWORK,
            settings.strategy,
            budget=settings.most,
            seconds=settings.seconds,
        )
        found = [(space.candidate(point).choice, seconds) for point, seconds in best.items()]
        default = min(seconds for choice, seconds in found if choice == first.choice)
        chosen, seconds = min(found, key=lambda each: each[1])
        if seconds * SMALLEST_GAIN >= default:
            chosen, seconds = first.choice, default
        entry = self.tuner.keep(kernel, chosen, default, seconds)
        figures, wrong = list(best.values()), len(in_network.wrong)
        return Outcome(kernel, entry, default, seconds, len(best), wrong, figures)

    # Candidates.

    def space(self, kernel: Kernel) -> Space[Version]:
        """Return the versions of a kernel; the search starts from the model's choice."""
        if self.decision is Decision.ALGORITHM:
            return Space(_given, {"version": self._algorithms(kernel)})
        (op, *_) = ops_by_key(self.with_layouts, self.decision)[kernel.key]
        assert isinstance(op, KernelOp)
        accesses = accesses_of(op, ParameterAnalysis())
        space = ScheduleSpace(accesses, self.tuner.lowering.processor)
        return space.map(
            lambda schedule: Version(schedule, partial(self._as_scheduled, op, accesses, schedule))
        )

    def _as_scheduled(
        self, op: KernelOp, accesses: KernelAccesses, schedule: Schedule
    ) -> StandaloneKernel:
        known = [operand.is_parameter for operand in accesses.inputs]
        return self._compiled(scheduled(op, known, schedule))

    def _algorithms(self, kernel: Kernel) -> Sequence[Version]:
        tuner = self.tuner
        original = tuner.lowering.with_choice()[kernel.key]
        found: list[Version] = []
        for choice in tuner.lowering.algorithms(original, tuner.settings.most):
            (op, *_) = ops_by_key(tuner.variant(choice), Decision.ALGORITHM)[kernel.key]
            if not isinstance(op, KernelOp):
                found.append(Version(choice, partial(self._as_computed, op, choice)))
                continue
            accesses = accesses_of(op, ParameterAnalysis())
            for each in schedules(accesses, tuner.lowering.processor, DIRECT_SCHEDULES):
                found.append(Version(choice, partial(self._as_scheduled, op, accesses, each)))
        return found

    def _as_computed(self, op: StructuredKernel, choice: Algorithm) -> StandaloneKernel:
        return self._compiled(computed_by(op, choice))

    def _compiled(self, module: ModuleOp) -> StandaloneKernel:
        return StandaloneKernel(module, self.tuner.settings.threads)


def _no_kernel(pattern: str, known: Mapping[str, Sequence[str]]) -> GaweeError:
    """Return the error of a pattern that matches no kernel; known: nodes by description."""
    if not known:
        return GaweeError(f"expected a kernel that matches '{pattern}', got no kernel to tune")
    description, nodes = next(iter(known.items()))
    example = "', or by its node '".join((description, *nodes[:1]))
    names = [name for each, found in known.items() for name in (each, *found)]
    hint = did_you_mean(pattern, names, f"a kernel is known by what it computes, '{example}'")
    message = f"expected one of {len(known)} kernels to match '{pattern}', got none"
    return GaweeError(Diagnostic(message, hint=hint))


def _given(version: Version) -> Version:
    return version


def is_close(output: Array, expected: Array) -> bool:
    """Whether two outputs are one but for rounding; halos of infinity, and NaN, are equal."""
    values, wanted = output.astype(np.float64), expected.astype(np.float64)
    same = (values == wanted) | (np.isnan(values) & np.isnan(wanted))
    finite = np.isfinite(wanted)
    scale = float(np.abs(wanted[finite]).max(initial=0)) or 1.0
    near = np.isclose(values, wanted, rtol=0, atol=TOLERANCE * scale)
    return bool((same | near).all())


class Tuner:
    """Finds the fastest choices for a network's kernels, and keeps them in a file."""

    def __init__(
        self,
        module: ModuleOp,
        parameters: Mapping[str, Array],
        inputs: Mapping[str, Array],
        path: str | Path,
        settings: Settings,
    ):
        """Read what the file has already; raises OSError and GaweeError."""
        self.parameters, self.inputs, self.settings = parameters, inputs, settings
        self.path = Path(path)
        self.path.touch()
        self.database = read_schedules(self.path)
        self.lowering = Lowering(module, Machine(num_threads=settings.threads), settings.passes)
        self._variants: dict[tuple[str, object], ModuleOp] = {}

    def phases(self) -> Iterator[Phase]:
        """Yield the searches in their order: algorithms decide on layouts, and so on schedules.

        The next one is made when the one before it is done, and builds on its results. Raises
        GaweeError where no kernel is to be tuned.
        """
        seen: dict[str, Sequence[str]] = {}
        matched, pattern = False, self.settings.pattern
        for decision in Decision:
            phase = Phase(self, decision)
            seen |= {kernel.description: kernel.nodes for kernel in phase.kernels}
            matched = matched or any(each.matches(pattern) for each in phase.kernels)
            yield phase
        if not matched:
            raise _no_kernel(pattern, seen)

    def variant(self, choice: Algorithm) -> ModuleOp:
        """Return the network before schedules, with one algorithm for all kernels that it is for.

        Choices that look the same from outside a kernel share a network.
        """
        wanted = choice.name, choice.seen_outside
        if wanted not in self._variants:
            cpu = self.lowering.processor.cpu
            entries: list[Entry] = []
            for key, op in self.lowering.with_choice().items():
                possible = self.lowering.algorithms(op, None)
                like = (each for each in possible if (each.name, each.seen_outside) == wanted)
                entries.append(Entry(key, cpu, next(like, Direct())))
            self._variants[wanted] = self.lowering.with_layouts(Database(entries))
        return self._variants[wanted]

    def keep(self, kernel: Kernel, choice: Choice, default: float, seconds: float) -> Entry:
        """Write what was found for a kernel into the file; raises OSError."""
        facts: dict[str, object] = {
            "kernel": kernel.description,
            "nodes": list(dict.fromkeys(kernel.nodes)),
            "seconds": _rounded(seconds),
            "default_seconds": _rounded(default),
            "versions": versions(),
        }
        cpu = self.lowering.processor.cpu
        entry = Entry(kernel.key, cpu, choice, "", self.settings.threads, facts)
        self.add(entry)
        return entry

    def add(self, entry: Entry) -> None:
        """Write a line into the file; raises OSError."""
        append(self.path, entry)
        self.database = self.database.plus(entry)


def choices_of(
    module: ModuleOp, database: Database = NO_CHOICES, passes: Sequence[Insertion] = ()
) -> Iterator[Entry]:
    """Yield what is chosen for each distinct kernel of a network, with these choices or none.

    Nothing is measured: these are lines to start a file of one's own from.
    """
    lowering = Lowering(module, Machine(), passes)
    with_layouts = lowering.with_layouts(database)
    final = lowering.scheduled(with_layouts, database)
    cpu = lowering.processor.cpu
    described = {key: describe(op) for key, op in lowering.with_choice().items()}
    for key, ops in ops_by_key(with_layouts, Decision.ALGORITHM).items():
        yield Entry(key, cpu, ops[0].algorithm, facts=_facts(described[key], ops))
    for key, ops in ops_by_key(final, Decision.SCHEDULE).items():
        op = ops[0]
        if isinstance(op, KernelOp) and op.schedule is not None:
            yield Entry(key, cpu, op.schedule.data, facts=_facts(describe(op), ops))


def _facts(description: str, ops: Iterable[StructuredKernel]) -> dict[str, object]:
    return {"kernel": description, "nodes": list(dict.fromkeys(name_of(op) for op in ops))}


def versions() -> dict[str, str]:
    """Return the versions of what compiles kernels."""
    found: dict[str, str] = {}
    for name in ("gawee-dialect", "xdsl", "llvmlite"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # run from its source
    return found


def shown(choice: Choice) -> str:
    """Return a choice in a few words."""
    return str(choice_form(choice)["schedule"]) if isinstance(choice, Schedule) else str(choice)


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.4g}")
