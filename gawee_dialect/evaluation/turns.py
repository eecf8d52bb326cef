"""How long functions take: what is compared takes turns, in rounds, on a quiet machine.

The order of turns changes with the round. What disturbs the machine for a while disturbs all that
take turns. A turn that was disturbed itself is repeated.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING

from gawee_dialect.evaluation.machine import (
    LineLatency,
    allowed_cpus,
    busy_seconds,
    delay_seconds,
    wait_until_quiet,
)
from gawee_dialect.evaluation.statistics import Ratio, noise_of, spread_of, typical
from gawee_dialect.parameters.given_inputs import random_inputs

if TYPE_CHECKING:
    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.parameters.given_inputs import Inputs


MOST_RUNS = 2000
"""Of a turn."""

FEWEST_RUNS = 3
"""Of a turn whose time is up."""

LEAST_SECONDS = 0.25
"""Of a turn that has enough runs."""

USED_BY_OTHERS = 0.2
"""Processors that others may use beyond those that are spare."""

DELAYED = 0.05
"""The part of a turn that threads may be ready to run and have no processor."""


@dataclass(frozen=True)
class Turn:
    """What one turn measured."""

    seconds: Sequence[float]
    """Of each run."""

    wall: float
    cpu: float
    """Seconds that this process used of all processors."""

    delay: float
    """The part of the time that its threads waited for a processor."""

    @property
    def best(self) -> float:
        """The round's figure: the seconds of the shortest run.

        What disturbs can only add to a time (Chen and Revels, Robust benchmarking in noisy
        environments, 2016). Neighbours of a virtual machine are not seen from inside: medians of
        turns of a quarter of a millisecond went up and down by 60 % on one, their minima by 1 %.
        """
        return min(self.seconds)


@dataclass(frozen=True)
class Judged:
    """A turn that counts, and what is known of the machine meanwhile."""

    turn: Turn
    other_load: float = 0.0
    """Processors that other programs used."""

    line_ns: float | None = None
    """How long a cache line took between processors; None where it was not measured."""

    repeated: int = 0
    """Turns before it that were disturbed."""

    is_disturbed: bool = False
    """Whether it was disturbed too, and no retry was left."""


def time_turn(
    run: Callable[[], object],
    runs: int,
    most_seconds: float,
    *,
    warm_up: int = 1,
    least_seconds: float = LEAST_SECONDS,
) -> Turn:
    """Run a function some times, fewer where that takes longer than `most_seconds`.

    A turn lasts at least `least_seconds`; the runs of the warm-up do not count.
    """
    for _ in range(warm_up):
        run()
    delay, cpu, start = delay_seconds(), process_time(), perf_counter()
    seconds: list[float] = []
    while len(seconds) < max(MOST_RUNS, runs):
        begin = perf_counter()
        run()
        end = perf_counter()
        seconds.append(end - begin)
        enough = len(seconds) >= runs and end - start >= least_seconds
        if enough or (end - start > most_seconds and len(seconds) >= FEWEST_RUNS):
            break
    wall = perf_counter() - start
    return Turn(seconds, wall, process_time() - cpu, (delay_seconds() - delay) / wall)


def order_of(count: int, number: int) -> Sequence[int]:
    """Return the order of the turns in a round, as indices; `number` is the round's.

    The first one changes, and so does the direction: none always follows the same one.
    """
    first = number // 2 % max(1, count)
    order = [*range(first, count), *range(first)]
    return order if number % 2 == 0 else order[::-1]


def orders(count: int, rounds: int) -> Iterator[Sequence[int]]:
    """Yield the order of the turns in each round."""
    return (order_of(count, number) for number in range(rounds))


@dataclass
class Referee:
    """Says when a turn may begin, and whether it counts.

    `threads` are those of what runs; other processors may be used by others. `patience` is how many
    seconds each turn waits for a quiet machine, `total_patience` all of them together. With `near`,
    a turn in which a cache line took more nanoseconds between processors is disturbed too; `line`
    measures it.
    """

    threads: int = 1
    patience: float = 60.0
    retries: int = 3
    near: float = 0.0
    line: LineLatency | None = None
    total_patience: float = float("inf")

    @property
    def spare(self) -> int:
        """Processors that others may use without disturbing."""
        return max(0, len(allowed_cpus()) - self.threads)

    def line_ns(self) -> float | None:
        """Measure how far apart the processors are, where several threads share data."""
        return self.line.measure() if self.line is not None and self.threads > 1 else None

    def is_far(self, line: float | None) -> bool:
        """Whether a line takes longer than `near` allows."""
        return line is not None and 0 < self.near < line

    def wait(self) -> float | None:
        """Wait for a quiet machine, with near processors if so chosen; returns line_ns."""
        start = perf_counter()
        patience = min(self.patience, self.total_patience)
        if patience > 0:
            wait_until_quiet(self.spare, patience)
        line = self.line_ns()
        while self.is_far(line) and perf_counter() - start < patience:
            sleep(0.5)
            line = self.line_ns()
        self.total_patience -= perf_counter() - start
        return line

    def judge(self, take: Callable[[], Turn | None]) -> Judged | None:
        """Have a turn taken; repeat what was disturbed, keep the last try in any case.

        Returns None where `take` does: what should run is no longer there.
        """
        repeated = 0
        while True:
            line, busy = self.wait(), busy_seconds()
            turn = take()
            if turn is None:
                return None
            load = max(0.0, (busy_seconds() - busy - turn.cpu) / turn.wall)
            after = self.line_ns()
            line = None if line is None or after is None else max(line, after)
            disturbed = self.is_far(line) or self._is_disturbed(turn, load)
            if not disturbed or repeated == self.retries:
                return Judged(turn, load, line, repeated, disturbed)
            repeated += 1

    def _is_disturbed(self, turn: Turn, load: float) -> bool:
        crowded = load > self.spare + USED_BY_OTHERS
        return crowded or (turn.delay > DELAYED and load > USED_BY_OTHERS / 2)


def take_turns(
    subjects: Sequence[Callable[[], Turn]], rounds: int, referee: Referee
) -> list[list[Judged]]:
    """Have each subject take a turn in every round; returns the turns of each."""
    taken: list[list[Judged]] = [[] for _ in subjects]
    for order in orders(len(subjects), rounds):
        for index in order:
            judged = referee.judge(subjects[index])
            if judged is not None:
                taken[index].append(judged)
    return taken


def least_seconds(
    calls: Sequence[Callable[[], object]], rounds: int, *, most_seconds: float = float("inf")
) -> list[float]:
    """Call functions in turns, one run a turn; returns the least seconds of each.

    No further round begins after `most_seconds`, but for the first three.
    """
    best = [float("inf")] * len(calls)
    start = perf_counter()
    for number, order in enumerate(orders(len(calls), rounds)):
        if number >= FEWEST_RUNS and perf_counter() - start > most_seconds:
            break
        for index in order:
            begin = perf_counter()
            calls[index]()
            best[index] = min(best[index], perf_counter() - begin)
    return best


WARM_UP = 2
"""Runs of a turn that do not count: the first touches memory for the first time."""

ROUNDS = 5
"""Turns that the runs of one benchmark are dealt out to."""


@dataclass(frozen=True)
class RunTimes:
    """The seconds of every run, by round."""

    turns: Sequence[Judged]

    @cached_property
    def seconds(self) -> Sequence[float]:
        """The seconds of every run, in order."""
        return [each for judged in self.turns for each in judged.turn.seconds]

    @property
    def rounds(self) -> Sequence[float]:
        """The seconds of each round's shortest run."""
        return [judged.turn.best for judged in self.turns]

    @property
    def median(self) -> float:
        """The seconds that half of the runs took at most."""
        return median(self.seconds)

    @property
    def typical(self) -> float:
        """The seconds to compare: what rounds have in common, without the extreme ones."""
        return typical(self.rounds)

    @property
    def best(self) -> float:
        """The seconds of the shortest run."""
        return min(self.seconds)

    @property
    def spread(self) -> float:
        """The distance of the quartiles in seconds: the middle half of the runs lies within."""
        return spread_of(self.seconds)

    @property
    def noise(self) -> float:
        """By which part two measurements like this one may differ; infinite for one round."""
        return noise_of(self.rounds)

    @property
    def disturbed(self) -> int:
        """Turns that other programs disturbed, and that count since no retry was left."""
        return sum(judged.is_disturbed for judged in self.turns)

    def ratio_to(self, base: "RunTimes") -> Ratio:
        """Return how many times longer this takes than what took turns with it."""
        return Ratio.of_pairs(base.rounds, self.rounds)

    def __repr__(self) -> str:
        scale, unit = (1e3, "ms") if self.median >= 1e-3 else (1e6, "us")
        noise = f"noise {self.noise:.1%}" if len(self.turns) > 1 else "noise unknown"
        return (
            f"median {self.median * scale:.3f} {unit}, spread {self.spread * scale:.3f} {unit}, "
            f"{noise}, best {self.best * scale:.3f} {unit} of {len(self.seconds)} runs"
        )


def time_runs(
    function: Callable[[], object], runs: int, least_seconds: float, referee: Referee | None = None
) -> RunTimes:
    """Run a function so many times at least, and for so long at least, in rounds.

    A referee says when a round may begin, and whether it counts; without one all do.
    """
    rounds = min(ROUNDS, runs)
    each, least = -(-runs // rounds), least_seconds / rounds

    def turn() -> Turn:
        return time_turn(function, each, float("inf"), warm_up=WARM_UP, least_seconds=least)

    (turns,) = take_turns([turn], rounds, referee or Referee(patience=0, retries=0))
    return RunTimes(turns)


def benchmark(
    compiled: "CompiledModel",
    inputs: "Inputs | None",
    runs: int,
    least_seconds: float,
    patience: float,
) -> RunTimes:
    """Run a network as `time_runs` does, on random inputs unless some are given."""
    given = random_inputs(compiled.inputs) if inputs is None else inputs
    referee = Referee(compiled.num_threads, retries=1, total_patience=patience)
    return time_runs(lambda: compiled.run(given), runs, least_seconds, referee)
