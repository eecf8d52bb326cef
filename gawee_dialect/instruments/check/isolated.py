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

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.interpreter.arrays import Array

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


def run_isolated(run: Callable[[], dict[str, Array]]) -> dict[str, Array]:
    """Run a function that returns arrays in a copy of this process, and return the arrays.

    Raises GaweeError where the copy dies, naming the signal. Where the system cannot copy
    processes, or this process is expendable, the function runs in this one.
    """
    if sys.platform == "win32" or _expendable.get():
        return run()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _send_and_exit(run, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
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
        stream.write(str(error).encode())
        return 1
    arrays = {f"output{index}": array for index, array in enumerate(outputs.values())}
    data = io.BytesIO()
    np.savez(data, names=np.array(list(outputs), dtype=np.str_), allow_pickle=False, **arrays)
    stream.write(data.getvalue())
    return 0
