"""How long a function takes: rounds of runs, the median, the spread, and the noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING

from gawee_dialect.evaluation.statistics import Ratio, noise_of, spread_of, typical
from gawee_dialect.evaluation.turns import Judged, Referee, Turn, take_turns, time_turn
from gawee_dialect.parameters.given_inputs import random_inputs

if TYPE_CHECKING:
    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.parameters.given_inputs import Inputs

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
