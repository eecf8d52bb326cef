"""Tasks in a process of their own: results, errors, ends and time."""

import os
import signal
import time

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.workers.forked import run_forked


def test_the_result_comes_back_whatever_its_size() -> None:
    assert run_forked(lambda count: b"x" * count, 1_000_000) == b"x" * 1_000_000
    assert run_forked(lambda _: os.getpid(), None) != os.getpid()


def test_a_function_that_raises_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GaweeError, match=r"the process ended with status 1$"):
        run_forked(lambda number: 1 // number, 0)
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_crash_is_not_ours() -> None:
    with pytest.raises(GaweeError, match=r"the process ended with status -9$"):
        run_forked(lambda number: os.kill(os.getpid(), number), signal.SIGKILL)


def test_what_takes_too_long_is_ended() -> None:
    start = time.monotonic()
    with pytest.raises(GaweeError, match=r"took more than 0\.2 s"):
        run_forked(time.sleep, 30, seconds=0.2)
    assert time.monotonic() - start < 10
