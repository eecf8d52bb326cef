"""Tasks in a process of their own: results, errors, ends and time."""

import os
import signal
import time

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.workers import ForkedWorkers, run_forked


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


def test_some_tasks_run_at_a_time_and_each_ends_by_itself() -> None:
    tasks = [1, 2, 0, 4]

    done = {each.number: each for each in ForkedWorkers(3).run(seconds_of, tasks, quiet=False)}

    assert {number: each.result for number, each in done.items()} == {
        0: 1.0,
        1: 0.5,
        2: None,
        3: 0.25,
    }
    assert done[2].error == "the process ended with status 1"


def seconds_of(number: int) -> float:
    return 1 / number


def test_of_some_tasks_the_one_that_takes_too_long_is_ended() -> None:
    workers = ForkedWorkers(2, seconds=1.0)

    done = {each.number: each.error for each in workers.run(time.sleep, [0, 60], quiet=False)}

    assert done == {0: None, 1: "it took too long"}


def test_tasks_that_are_left_end_with_who_asked() -> None:
    tasks = ForkedWorkers(2).run(time.sleep, [0, 60], quiet=False)
    start = time.monotonic()

    assert next(iter(tasks)).number == 0
    tasks.close()

    assert time.monotonic() - start < 10
