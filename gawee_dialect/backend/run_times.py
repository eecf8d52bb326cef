"""How long a function takes: run until enough is known, the median and the spread told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter

WARM_UP = 2
"""Runs that do not count: the first touches memory for the first time."""


@dataclass(frozen=True)
class RunTimes:
    """The seconds of every run, in order."""

    seconds: Sequence[float]

    @property
    def median(self) -> float:
        """The seconds that half of the runs took at most."""
        return median(self.seconds)

    @property
    def best(self) -> float:
        """The seconds of the shortest run."""
        return min(self.seconds)

    @property
    def spread(self) -> float:
        """The distance of the quartiles in seconds: the middle half of the runs lies within."""
        if len(self.seconds) < 2:
            return 0.0
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        scale, unit = (1e3, "ms") if self.median >= 1e-3 else (1e6, "us")
        return (
            f"median {self.median * scale:.3f} {unit}, spread {self.spread * scale:.3f} {unit}, "
            f"best {self.best * scale:.3f} {unit} of {len(self.seconds)} runs"
        )


def time_runs(function: Callable[[], object], runs: int, least_seconds: float) -> RunTimes:
    """Run a function so many times at least, and for so long at least, after warming up."""
    for _ in range(WARM_UP):
        function()
    seconds: list[float] = []
    begin = perf_counter()
    while len(seconds) < runs or perf_counter() - begin < least_seconds:
        start = perf_counter()
        function()
        seconds.append(perf_counter() - start)
    return RunTimes(seconds)
