"""Run machine code where it can do no harm: a wrong pass may make it write anywhere."""

import faulthandler
import io
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.interpreter.arrays import Array

MOST_SECONDS = 300
"""Of processors: machine code that is called once and takes longer has a loop without end."""

_expendable: ContextVar[bool] = ContextVar("expendable", default=False)


@contextmanager
def expendable_process() -> Generator[None]:
    """Run machine code in this process, for the time of a with block: its end is no harm.

    A copy of a process takes longer than most runs.
    """
    token = _expendable.set(True)
    try:
        yield
    finally:
        _expendable.reset(token)


def run_isolated(
    run: Callable[[], dict[str, Array]], seconds: int = MOST_SECONDS
) -> dict[str, Array]:
    """Run a function that returns arrays in a copy of this process, and return the arrays.

    Raises GaweeError where the copy dies, naming the signal, or does not end in `seconds` of
    processors. Where the system cannot copy processes, or this one is expendable, the function
    runs in this one.
    """
    if sys.platform == "win32" or _expendable.get():
        return run()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _send_and_exit(run, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGPROF:
        message = f"native code has not ended after {seconds} s of processor time"
        raise GaweeError(Diagnostic(message, hint="give data for which its loops end"))
    if code < 0:
        raise GaweeError(f"native code was stopped by {signal.Signals(-code).name}")
    if code > 0:
        raise GaweeError(data.decode() or f"native code ended with exit code {code}")
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        names = [str(name) for name in archive["names"]]
        return {name: archive[f"output{index}"] for index, name in enumerate(names)}


def _send_and_exit(run: Callable[[], dict[str, Array]], writing: int) -> None:
    # The copy must not go on as a second compiler: it leaves here, whatever happens.
    faulthandler.disable()  # a crash is reported by its signal, not by a traceback of ours
    code = 1
    try:
        with os.fdopen(writing, "wb") as stream:
            code = _send(run, stream)
    finally:
        os._exit(code)


def _send(run: Callable[[], dict[str, Array]], stream: io.BufferedWriter) -> int:
    try:
        outputs = run()
    except Exception as error:
        stream.write(str(error).removeprefix("error: ").encode())
        return 1
    arrays = {f"output{index}": array for index, array in enumerate(outputs.values())}
    data = io.BytesIO()
    np.savez(data, names=np.array(list(outputs), dtype=np.str_), allow_pickle=False, **arrays)
    stream.write(data.getvalue())
    return 0
