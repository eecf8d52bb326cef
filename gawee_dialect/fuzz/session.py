"""Trials by their numbers: what was tried, and what was found, each cause once.

A finding is written as a test that passes when it is mended: of IR, or of what a module was read
from. Workers try some hundred in a process of its own each, until there is no more time. Where a
process dies, what is known of the trial that it died of is kept, and the others are tried again;
where that is not known, by halves until it is alone.
"""

import gc
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random
from time import monotonic, perf_counter, time
from typing import Generic, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.oracle import SKIPPED, Done, Finding, Skipped
from gawee_dialect.fuzz.random_graph import Settings, TrialGenerator
from gawee_dialect.fuzz.trial import (
    CRASH,
    REFUSED,
    WRONG,
    WRONG_BY_DATA,
    Trial,
    failure_of,
    passes_of,
)
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.reduce.failure import Failure, OutOfTime, time_limit
from gawee_dialect.reduce.reducer import Reducer, count_ops, largest_tensor
from gawee_dialect.universe import all_passes, make_context
from gawee_dialect.workers import Workers

BY_PROOF, BY_DATA = "--prove-each", "--check-each"
CHECKS = {WRONG: BY_PROOF, "crash of a proof": BY_PROOF, CRASH: "", REFUSED: ""}
"""What of gawee-opt shows a finding of each kind; the others are shown by data."""

LINES_OF_MESSAGE = 6


def file_name(finding: Finding) -> str:
    """Return how the name of a test begins, the same for all findings of one cause."""
    cause = sha256(f"{finding.kind} {finding.cause}".encode()).hexdigest()[:10]
    return f"{finding.kind.replace(' ', '_').replace(chr(39), '')}_{cause}"


def files_of_test(trial: Trial, finding: Finding, load: Sequence[str] = ()) -> Mapping[str, bytes]:
    """Return the files of a test by name; the first is the one to look at."""
    name = file_name(finding)
    if trial.origin is not None and trial.is_of_origin(finding):
        return trial.origin.files_of_test(name, trial, finding)
    text = lit_text(trial.module, passes_of(trial.stages), finding, load)
    return {f"{name}.mlir": text.encode()}


def size_text(trial: Trial, finding: Finding) -> str:
    """Say how large what a finding is of is."""
    if trial.origin is not None and trial.is_of_origin(finding):
        return trial.origin.size()
    module = trial.module
    return f"{count_ops(module)} ops, largest tensor {largest_tensor(module)} elements"


def lit_text(
    module: ModuleOp, passes: Sequence[ModulePass], finding: Finding, load: Sequence[str] = ()
) -> str:
    """Return the test's text: the command, what was said, and the module.

    `load` are the files that have the passes, as the test names them.
    """
    module, passes = _as_written(module, passes, finding)
    pipeline = ",".join(str(each.spec()) for each in passes)
    flags = [*(f"--load {path}" for path in load), CHECKS.get(finding.kind, BY_DATA)]
    words = [*filter(None, flags), *([f"-p '{pipeline}'"] if passes else [])]
    said = f"{finding.kind}: {finding.message}".splitlines()[:LINES_OF_MESSAGE]
    lines = [
        f"// RUN: gawee-opt %s {' '.join(words)} | filecheck %s",
        "// CHECK: @main",
        *(f"// {line}".rstrip() for line in said),
        print_mlir(module),
    ]
    return "\n".join(lines)


def _as_written(
    module: ModuleOp, passes: Sequence[ModulePass], finding: Finding
) -> tuple[ModuleOp, Sequence[ModulePass]]:
    """Return a module and passes that gawee-opt has: what others did is in the module.

    What comes after the pass that is wrong is left out.
    """
    names = [each.name for each in passes]
    wrong = finding.cause.partition(":")[0]
    if finding.kind in (WRONG, WRONG_BY_DATA) and wrong in names:
        passes = passes[: names.index(wrong) + 1]
    known: Collection[str] = all_passes()
    own = [index for index, each in enumerate(passes) if each.name not in known]
    if not own:
        return module, passes
    lowered, end = module.clone(), own[-1] + 1
    try:
        run_passes(make_context(), lowered, passes[:end])
    except Exception:  # what is wrong comes first
        return module, [each for each in passes if each.name in known]
    return lowered, passes[end:]


SECONDS = 30.0
"""A graph that takes more of a processor's time is a finding."""

SECONDS_TO_REDUCE, SECONDS_A_TEST = 40.0, 5.0

BETWEEN_COLLECTIONS = 50
"""Of garbage: modules are small, and looked through often they take a tenth of the time."""

SLOW = Finding("slow", "", f"more than {SECONDS:.0f} s of a processor")


@dataclass
class Tried:
    """What came of some trials."""

    drawn: Counter[str] = field(default_factory=Counter[str])
    """How many trials there were, by what is drawn: `graphs`."""
    done: Done = field(default_factory=Counter[str])
    """What was done to how many."""
    found: dict[tuple[str, str], tuple[int, Finding]] = field(
        default_factory=dict[tuple[str, str], tuple[int, Finding]]
    )
    """By cause: the first trial that found it, and what it found."""
    findings: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """By cause, how many trials found it."""

    def add(self, number: int, finding: Finding) -> None:
        """Take a finding in."""
        self.found.setdefault(finding.key, (number, finding))
        self.findings[finding.key] += 1

    def update(self, other: "Tried") -> None:
        """Take in what came of other trials."""
        self.drawn.update(other.drawn)
        self.done.update(other.done)
        self.findings.update(other.findings)
        for key, each in other.found.items():
            self.found[key] = min(self.found.get(key, each), each, key=lambda pair: pair[0])


@dataclass(frozen=True)
class StillThere(Failure):
    """A finding of one cause, on a smaller module."""

    trial: Trial
    finding: Finding

    def describe(self) -> str:
        return f"{self.finding.kind}: {self.finding.cause}"

    def holds(self, module: ModuleOp) -> bool:
        try:
            found = self.trial.find(module, Counter())
        except Skipped:
            return False
        return found is not None and self.finding.is_in(found)


@dataclass(frozen=True)
class Session:
    """Trials that a seed and a number say all of."""

    seed: int
    generators: Sequence[TrialGenerator]
    settings: Settings

    def trial(self, number: int) -> tuple[TrialGenerator, Trial]:
        """Draw the trial of a number."""
        draw = Draw(Random(f"{self.seed} {number}"))
        generator = draw.one_of([each for each in self.generators for _ in range(each.weight)])
        return generator, generator.trial(draw, self.settings)

    def run(
        self,
        numbers: range,
        until: float = float("inf"),
        begun: Callable[[int], None] = lambda number: None,
    ) -> Tried:
        """Try some numbers, up to a time of day; `begun` hears of each."""
        tried = Tried()
        with no_garbage_collection():
            for number in numbers:
                if time() >= until:
                    break
                begun(number)
                found = self._found(number, tried)
                if found is not None:
                    tried.add(number, found)
                if number % BETWEEN_COLLECTIONS == 0:
                    gc.collect()
        return tried

    def _found(self, number: int, tried: Tried) -> Finding | None:
        try:
            generator, trial = self.trial(number)
        except Exception as error:
            found = failure_of(error)
            return Finding(f"{found.kind} while it is drawn", found.cause, found.message)
        tried.drawn[generator.what] += trial.graphs
        return limited(trial, tried.done)

    def reduced(self, number: int, finding: Finding) -> tuple[Trial, Finding]:
        """Return the smallest trial found that has what a trial found, and what is said of it."""
        small = self._smallest(number, finding)
        found = None if finding == SLOW else limited(small, Counter())
        return small, finding if found is None or not finding.is_in(found) else found

    def _smallest(self, number: int, finding: Finding) -> Trial:
        _, trial = self.trial(number)
        if finding == SLOW:
            return trial
        if trial.is_of_origin(finding):
            return with_smaller_origin(trial, finding, monotonic() + SECONDS_TO_REDUCE)
        failure = StillThere(trial, finding)
        copy = trial.module.clone()
        with time_limit(SECONDS, of_processor=True):
            if not failure.holds(copy):
                return trial
        module = Reducer(
            copy,
            failure,
            seconds_a_test=SECONDS_A_TEST,
            deadline=monotonic() + SECONDS_TO_REDUCE,
        ).reduce()
        return replace(trial, module=module)


def limited(trial: Trial, done: Done) -> Finding | None:
    """Return what is wrong with a trial, with too much time too."""
    own: Done = Counter()
    try:
        with time_limit(SECONDS, of_processor=True):
            return trial.find(trial.module, own)
    except Skipped:
        own[SKIPPED] += 1
    except OutOfTime:
        return SLOW
    finally:
        done.update({what: trial.graphs * count for what, count in own.items()})
    return None


def with_smaller_origin(trial: Trial, finding: Finding, deadline: float) -> Trial:
    """Return the smallest trial found until the deadline that differs from its origin too."""
    candidates = _smaller(trial)
    while monotonic() < deadline and (candidate := next(candidates, None)) is not None:
        try:
            found = candidate.differs_from_origin()
        except Skipped:
            continue
        if found is not None and finding.is_in(found):
            trial, candidates = candidate, _smaller(candidate)
    return trial


def _smaller(trial: Trial) -> Iterator[Trial]:
    assert trial.origin is not None
    for origin in trial.origin.smaller():
        try:
            yield replace(trial, module=origin.module(), origin=origin)
        except GaweeError:  # it is of no model that can be read
            continue


# What is said of trials: how many, what was done to them, and what is wrong.


LINES = 4
"""Of a message."""


def summary(tried: Tried, seconds: float) -> str:
    """Return what was tried, and what was done to how many, in one line."""
    what = " and ".join(f"{count} {each}" for each, count in sorted(tried.drawn.items()))
    counts = sorted(tried.done.items(), key=lambda count: -count[1])
    parts = ", ".join(f"{count} {name}" for name, count in counts if count)
    rate = tried.drawn.total() / max(seconds, 1e-9)
    causes = len(tried.found)
    wrong = f"{causes} cause{'' if causes == 1 else 's'} of findings" if causes else "no findings"
    return f"{what or 'nothing'} in {seconds:.0f} s, {rate:.1f} a second: {parts}; {wrong}"


def finding_text(tried: Tried, number: int, finding: Finding) -> str:
    """Return what is said of one cause."""
    lines = [
        f"{finding.kind}: {finding.cause}".rstrip(": "),
        f"  in {tried.findings[finding.key]}, the first is number {number}",
        *(f"  {line}" for line in finding.message.splitlines()[:LINES]),
    ]
    return "\n".join(lines)


def progress_lines(seconds: float) -> Callable[[Tried], None]:
    """Return what prints to standard error: each new cause, and every so many seconds the summary.

    So a run that is stopped before its end has said what it found.
    """
    started = last = perf_counter()
    told = set[tuple[str, str]]()

    def tell(tried: Tried) -> None:
        nonlocal last
        new = [key for key in tried.found if key not in told]
        told.update(new)
        for key in new:
            print(finding_text(tried, *tried.found[key]), file=sys.stderr, flush=True)
        if perf_counter() - last > seconds:
            last = perf_counter()
            print(summary(tried, last - started), file=sys.stderr, flush=True)

    return tell


Task = TypeVar("Task")

SPAN, LARGEST_SPAN = 200, 1000
"""Trials of one process: it begins by loading, and finding out again, what others have."""

SPANS_AT_ONCE = 4
"""Spans for each worker that are handed out together."""

KILLED = "kills the process"


@dataclass
class Hunt(Generic[Task]):
    """Trials from a number on."""

    workers: Workers
    task_of: Callable[[range], Task]
    function: Callable[[Task], Tried]
    begun: Callable[[Task], int | None]
    """What began last of a task that did not come to an end."""
    until: float = float("inf")
    """The time of day at which no more begin."""
    progress: Callable[[Tried], None] = lambda tried: None
    span: int = SPAN
    tried: Tried = field(default_factory=Tried)

    def run(self, numbers: range) -> Tried:
        """Try all numbers, or as many as there is time for; raises GaweeError."""
        share = len(numbers) // (SPANS_AT_ONCE * self.workers.places)
        size = min(max(self.span, share), LARGEST_SPAN // SPAN * self.span)
        at_once = size * SPANS_AT_ONCE * self.workers.places
        for start in range(numbers.start, numbers.stop, at_once):
            if time() >= self.until:
                break
            spans = [*_spans(range(start, min(start + at_once, numbers.stop)), size)]
            while spans:
                spans = self._try(spans)
        return self.tried

    def _try(self, spans: list[range]) -> list[range]:
        """Try some spans; returns what is left of those that did not come to an end."""
        again: list[range] = []
        tasks = [self.task_of(span) for span in spans]
        for done in self.workers.run(self.function, tasks, quiet=False):
            span = spans[done.number]
            if done.result is not None:
                self.tried.update(done.result)
            else:
                killer = span.start if len(span) == 1 else self.begun(tasks[done.number])
                again += self._without(span, killer, done.error or "")
            self.progress(self.tried)
        return again

    def _without(self, span: range, killer: int | None, error: str) -> Sequence[range]:
        """Note what a process died of; returns what is to be tried again."""
        if killer is None:
            return [*_spans(span, -(-len(span) // 2))]
        self.tried.add(killer, Finding(KILLED, error, error))
        left = range(span.start, killer), range(killer + 1, span.stop)
        return [each for each in left if each]


def _spans(numbers: range, count: int) -> Iterator[range]:
    """Yield runs of numbers, of so many each."""
    for start in range(numbers.start, numbers.stop, count):
        yield range(start, min(start + count, numbers.stop))
