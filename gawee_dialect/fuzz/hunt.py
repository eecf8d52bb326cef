"""Many trials by workers: each some hundred in a process of its own, until there is no more time.

Where a process dies, what is known of the trial that it died of is kept, and the others are tried
again; where that is not known, by halves until it is alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Generic, TypeVar

from gawee_dialect.fuzz.oracle import Finding
from gawee_dialect.fuzz.session import Tried
from gawee_dialect.workers import Workers

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
