"""A task in a child of this process: its main thread has signals, and its end is not ours."""

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from select import select
from time import monotonic
from typing import TypeVar

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.workers.workers import Task

Result = TypeVar("Result")

CHUNK = 1 << 16


def run_forked(
    function: Callable[[Task], Result], task: Task, *, seconds: float = float("inf")
) -> Result:
    """Return what a function makes of a task in a forked process.

    Raises GaweeError where the process ends without a result, which a function that raises does
    too, and where it takes longer than `seconds`.
    """
    source, output = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _answer(output, function, task)
    os.close(output)
    with os.fdopen(source, "rb", buffering=0) as answers:
        text, in_time = _read_all(answers.fileno(), monotonic() + seconds)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not in_time:
        raise GaweeError(f"took more than {seconds:g} s")
    if status != 0:
        raise GaweeError(f"the process ended with status {os.waitstatus_to_exitcode(status)}")
    return pickle.loads(text)


def _answer(output: int, function: Callable[[Task], Result], task: Task) -> None:
    """Write the result, and end this process whatever happens."""
    try:
        with os.fdopen(output, "wb") as file:
            pickle.dump(function(task), file)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _read_all(source: int, end: float) -> tuple[bytes, bool]:
    """Return what was written until it was closed, and whether that was before the end."""
    pieces: list[bytes] = []
    while True:
        left = end - monotonic()
        ready, _, _ = select([source], [], [], max(0.0, left) if left < 1e9 else None)
        if not ready:
            return b"", False
        piece = os.read(source, CHUNK)
        if not piece:
            return b"".join(pieces), True
        pieces.append(piece)
