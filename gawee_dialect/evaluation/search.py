"""A search for the best of some candidates: a strategy suggests, an evaluator measures.

class Random(Strategy):
    def __init__(self, count):
        super().__init__(count)
        self.left = random.sample(range(count), 3)

    def suggest(self):
        return Trial((self.left.pop(),)) if self.left else None
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeVar

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.evaluation.evaluator import Evaluator

Candidate = TypeVar("Candidate")


@dataclass(frozen=True)
class Trial:
    """Candidates to measure next, by number, in turns: so many rounds."""

    candidates: Sequence[int]
    rounds: int = 1


class Strategy(ABC):
    """What decides which candidates are measured; made anew for each search."""

    def __init__(self, count: int):
        """Begin a search among so many candidates; number 0 is what is chosen without one."""
        self.count = count
        self.best: dict[int, float] = {}
        """The least figure of each candidate that was measured."""

    @abstractmethod
    def suggest(self) -> Trial | None:
        """Return what to measure next, None where the search is over."""

    def observe(self, measured: Mapping[int, float]) -> None:
        """Hear what was measured: the figure of each candidate of the last trial."""
        for candidate, figure in measured.items():
            self.best[candidate] = min(figure, self.best.get(candidate, inf))


MakeStrategy = Callable[[int], Strategy]
"""From the number of candidates to a strategy: its class, as a rule."""

FIRST_ROUNDS, SECOND_ROUNDS = 3, 7
"""Rounds with all candidates, and with those that are left."""
FINALISTS = 3


class Finals(Strategy):
    """Measure all a few times, then the fastest and the first more often."""

    def __init__(self, count: int):
        super().__init__(count)
        self._next = 0

    def suggest(self) -> Trial | None:
        self._next += 1
        if self._next == 1:
            return Trial(range(self.count), FIRST_ROUNDS)
        if self._next == 2:
            fastest = sorted(range(1, self.count), key=lambda each: self.best[each])
            return Trial([0, *fastest[:FINALISTS]], SECOND_ROUNDS)
        return None


def search(
    candidates: Sequence[Candidate],
    evaluator: Evaluator[Candidate],
    objective: str,
    strategy: MakeStrategy = Finals,
) -> Sequence[float]:
    """Return the least figure of each candidate, infinite for those never measured.

    Raises GaweeError where a strategy suggests a candidate that there is not, or an evaluator does
    not measure the objective.
    """
    best = [inf] * len(candidates)
    chosen = strategy(len(candidates))
    while (trial := chosen.suggest()) is not None:
        unknown = [each for each in trial.candidates if not 0 <= each < len(candidates)]
        if unknown:
            raise GaweeError(
                f"expected a strategy to suggest candidates 0 to {len(candidates) - 1}, "
                f"got {unknown[0]}"
            )
        for _ in range(trial.rounds):
            asked = list(trial.candidates)
            found = evaluator.figures([candidates[each] for each in asked])
            figures = [_number(each, objective) for each in found]
            measured = dict(zip(asked, figures, strict=True))
            chosen.observe(measured)
            best = [min(old, measured.get(each, inf)) for each, old in enumerate(best)]
    return best


def _number(figures: Mapping[str, object], objective: str) -> float:
    value = figures.get(objective)
    if not isinstance(value, int | float):
        names = ", ".join(figures) or "none"
        raise GaweeError(f"expected a number '{objective}' of the evaluator, got {names}")
    return float(value)
