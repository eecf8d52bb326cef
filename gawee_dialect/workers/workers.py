"""Tasks that do not depend on each other, and the workers that run them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Done(Generic[Result]):
    """A task that ended: its number, and its result or why there is none."""

    number: int
    result: Result | None
    error: str | None = None


class Workers(ABC):
    """Runs a function on tasks.

    What is measured needs a quiet place: a worker that runs one such task at a time, and nothing
    else meanwhile.
    """

    @abstractmethod
    def run(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], *, quiet: bool
    ) -> Iterator[Done[Result]]:
        """Yield the tasks as they end, in any order; raises GaweeError where none can run."""

    @property
    @abstractmethod
    def places(self) -> int:
        """How many tasks that are not quiet run at a time."""


class ThisProcess(Workers):
    """Runs tasks here, one after another."""

    @property
    def places(self) -> int:
        return 1

    def run(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], *, quiet: bool
    ) -> Iterator[Done[Result]]:
        for number, task in enumerate(tasks):
            yield Done(number, function(task))
