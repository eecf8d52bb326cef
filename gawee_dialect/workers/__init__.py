"""Workers for many tasks: this process, or others on other machines, by one interface."""

import os
import pickle
import signal
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from select import select
from time import monotonic
from typing import Generic, TypeVar

from gawee_dialect.diagnostics import GaweeError

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


# Tasks in children of this process: their main thread has signals, and their end is not ours.


CHUNK = 1 << 16


def run_forked(
    function: Callable[[Task], Result], task: Task, *, seconds: float = float("inf")
) -> Result:
    """Return what a function makes of a task in a forked process.

    Raises GaweeError where the process ends without a result, which a function that raises does
    too, and where it takes longer than `seconds`.
    """
    child = _Child.of(0, function, task, seconds)
    while not child.has_ended:
        _wait_for([child])
    if child.is_late:
        raise GaweeError(f"took more than {seconds:g} s")
    if child.status != 0:
        raise GaweeError(f"the process ended with status {child.status}")
    return pickle.loads(child.text)


@dataclass(frozen=True)
class ForkedWorkers(Workers):
    """Runs each task in a process of its own, some at a time.

    A process that ends without a result, or takes longer than `seconds`, is an error of its task.
    """

    count: int
    seconds: float = float("inf")

    @property
    def places(self) -> int:
        return self.count

    def run(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], *, quiet: bool
    ) -> Generator[Done[Result], None, None]:
        most, left, running = 1 if quiet else self.count, [*enumerate(tasks)], list[_Child]()
        try:
            while left or running:
                while left and len(running) < most:
                    number, task = left.pop(0)
                    running.append(_Child.of(number, function, task, self.seconds))
                _wait_for(running)
                ended = [child for child in running if child.has_ended]
                running = [child for child in running if not child.has_ended]
                for child in ended:
                    error = child.error
                    result = None if error is not None else pickle.loads(child.text)
                    yield Done(child.number, result, error)
        finally:
            for child in running:
                child.kill()


@dataclass
class _Child:
    """A process that works on a task, and what it has answered so far."""

    number: int
    process: int
    source: int
    deadline: float
    pieces: list[bytes] = field(default_factory=list[bytes])
    status: int | None = None
    is_late: bool = False

    @staticmethod
    def of(number: int, function: Callable[[Task], object], task: Task, seconds: float) -> "_Child":
        source, output = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(source)
            _answer(output, function, task)
        os.close(output)
        return _Child(number, process, source, monotonic() + seconds)

    @property
    def has_ended(self) -> bool:
        return self.status is not None

    @property
    def error(self) -> str | None:
        """Why there is no result."""
        if self.is_late:
            return "it took too long"
        if self.status is not None and self.status < 0:
            return f"the process was stopped by {signal.Signals(-self.status).name}"
        return f"the process ended with status {self.status}" if self.status else None

    @property
    def text(self) -> bytes:
        return b"".join(self.pieces)

    def read(self) -> None:
        """Take what is there to read; nothing is the end."""
        piece = os.read(self.source, CHUNK)
        if piece:
            self.pieces.append(piece)
        else:
            self._end()

    def kill(self) -> None:
        """End the process."""
        os.kill(self.process, signal.SIGKILL)
        self._end()

    def _end(self) -> None:
        os.close(self.source)
        _, status = os.waitpid(self.process, 0)
        self.status = os.waitstatus_to_exitcode(status)


def _wait_for(children: Sequence[_Child]) -> None:
    """Read what any of some processes has answered; end those that took too long."""
    left = min(child.deadline for child in children) - monotonic()
    sources = [child.source for child in children]
    ready, _, _ = select(sources, [], [], max(0.0, left) if left < 1e9 else None)
    for child in children:
        if child.source in ready:
            child.read()
        elif monotonic() > child.deadline:
            child.is_late = True
            child.kill()


def _answer(output: int, function: Callable[[Task], object], task: Task) -> None:
    """Write the result, and end this process whatever happens."""
    try:
        with os.fdopen(output, "wb") as file:
            pickle.dump(function(task), file)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
