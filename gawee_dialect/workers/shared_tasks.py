"""Tasks that this process shares with forked copies of itself: an idle one takes the next task.

A copy has all that this process has, so that tasks need not be written down; results are pickled.
"""

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Generic

from gawee_dialect.workers import Result, Task

SIZE = 2
"""Bytes of a task's number in the pipe that all take theirs from; reads of them are never torn."""

MOST_TASKS = 16384
"""What a pipe holds on Linux before the first read."""


IDLE_THREADS = ("tqdm_monitor", "gawee-images")
"""How threads are called that hold nothing that a copy needs: most of the time they wait.

The first is there as soon as PyTorch traced a graph, which draws a bar of progress.
"""


_one_process = threading.Event()


def stay_one_process() -> None:
    """Have this process do all tasks itself from now on."""
    _one_process.set()


def may_fork() -> bool:
    """Whether a copy of this process works: there only the thread that forked goes on."""
    if sys.platform != "linux" or _one_process.is_set():
        return False
    others = set(threading.enumerate()) - {threading.current_thread()}
    return all(thread.name.startswith(IDLE_THREADS) for thread in others)


def run_shared(
    function: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> list[Result]:
    """Return what a function makes of each task, with so many processes at work.

    What a copy could not do is done again here, so that what the function raises is raised here.
    """
    copies = min(processes, len(tasks)) - 1
    if copies < 1 or len(tasks) > MOST_TASKS or not may_fork():
        return [function(task) for task in tasks]
    with os.fdopen(_numbers(len(tasks)), "rb", buffering=0) as numbers:
        started = _all_started(function, tasks, numbers, copies)
        try:
            results = _run_next(function, tasks, numbers)
            for copy in started:
                results |= copy.results()
        finally:
            for copy in started:
                copy.end()
    return [
        results[index] if index in results else function(task) for index, task in enumerate(tasks)
    ]


def run_apart(
    function: Callable[[Task], Result],
    task: Task,
    meanwhile: Callable[[], object] = lambda: None,
) -> Result | None:
    """Return what a copy of this process makes of a task: its memory goes away with the copy.

    This process does something else `meanwhile`. None where it cannot be copied, or the copy could
    not do it.
    """
    if not may_fork():
        return None
    with os.fdopen(_numbers(1), "rb", buffering=0) as numbers:
        started = _all_started(function, (task,), numbers, 1)
        try:
            if started:
                meanwhile()
            results = [copy.results() for copy in started]
        finally:
            for copy in started:
                copy.end()
    return results[0].get(0) if results else None


def _numbers(count: int) -> int:
    """Return the end of a pipe that numbers can be read from, to the last."""
    numbers, output = os.pipe()
    with os.fdopen(output, "wb") as file:
        file.write(b"".join(number.to_bytes(SIZE, "little") for number in range(count)))
    return numbers


def _run_next(
    function: Callable[[Task], Result], tasks: Sequence[Task], numbers: BinaryIO
) -> dict[int, Result]:
    """Do tasks until none is left."""
    results: dict[int, Result] = {}
    while number := numbers.read(SIZE):
        index = int.from_bytes(number, "little")
        results[index] = function(tasks[index])
    return results


@dataclass
class _Copy(Generic[Result]):
    """A forked process."""

    process: int
    output: BinaryIO
    """A file, since a pipe is full before this process has time to read."""

    running: bool = True

    def results(self) -> Mapping[int, Result]:
        """Wait for the end; return what was done, nothing where that was not all."""
        try:
            _, status = os.waitpid(self.process, 0)
        except ChildProcessError:  # a process that ignores SIGCHLD gets no status
            status = None
        self.running = False
        if status != 0:
            return {}
        self.output.seek(0)
        return pickle.load(self.output)

    def end(self) -> None:
        """End the process, and drop what it did."""
        with suppress(ChildProcessError, ProcessLookupError):
            if self.running:
                os.kill(self.process, signal.SIGKILL)
                os.waitpid(self.process, 0)
        self.output.close()


def _all_started(
    function: Callable[[Task], Result], tasks: Sequence[Task], numbers: BinaryIO, copies: int
) -> list[_Copy[Result]]:
    """Start copies, as many as the system allows."""
    started: list[_Copy[Result]] = []
    for _ in range(copies):
        try:
            started.append(_started(function, tasks, numbers))
        except OSError:  # no memory, no process, or no place for a file is left
            break
    return started


def _started(
    function: Callable[[Task], Result], tasks: Sequence[Task], numbers: BinaryIO
) -> _Copy[Result]:
    """Start a copy that does tasks until none is left."""
    output = os.fdopen(os.memfd_create("gawee-results"), "w+b")
    with warnings.catch_warnings():
        # Python and JAX warn where other libraries have threads: the copy calls none of these.
        for category in (DeprecationWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        process = os.fork()
    if process:
        return _Copy(process, output)
    try:
        pickle.dump(_run_next(function, tasks, numbers), output)
        output.flush()
        os._exit(0)
    finally:
        os._exit(1)  # the parent repeats the tasks, and reports what failed
