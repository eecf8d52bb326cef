"""Tasks are done by several processes, each once, and what goes wrong in a copy is told here."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from mmap import mmap

import pytest

from gawee_dialect.backend.batched import call_in_threads
from gawee_dialect.workers import shared_tasks
from gawee_dialect.workers.shared_tasks import IDLE_THREADS, may_fork, run_apart, run_shared


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork whatever threads the tests before have left."""
    if sys.platform != "linux":
        pytest.skip("forks on Linux")
    monkeypatch.setattr(shared_tasks, "may_fork", lambda: True)


def square(number: int) -> tuple[int, int]:
    time.sleep(0.005)  # so that one process does not do all
    return number * number, os.getpid()


@pytest.mark.parametrize("processes", [1, 2, 3, 100])
@pytest.mark.parametrize("count", [0, 1, 2, 17])
def test_results_are_in_the_order_of_the_tasks(count: int, processes: int) -> None:
    results = run_shared(square, range(count), processes)

    assert [result for result, _ in results] == [number * number for number in range(count)]


@pytest.mark.usefixtures("forks")
def test_several_processes_do_them() -> None:
    here, begun = os.getpid(), mmap(-1, 2)  # memory that all of them share

    def wait_for_others(_: int) -> int:
        own = int(os.getpid() == here)
        begun[own] = 1
        late = time.monotonic() + 60
        while not begun[1 - own] and time.monotonic() < late:
            time.sleep(0.001)
        return os.getpid()

    done_by = set(run_shared(wait_for_others, range(60), 3))

    assert here in done_by
    assert 2 <= len(done_by) <= 3


@pytest.mark.usefixtures("forks")
def test_results_may_be_larger_than_a_pipe() -> None:
    results = run_shared(lambda number: bytes([number]) * 300_000, range(9), 2)

    assert results == [bytes([number]) * 300_000 for number in range(9)]


def test_a_library_with_threads_of_its_own_warns_nobody() -> None:
    if sys.platform != "linux":
        pytest.skip("forks on Linux")
    script = """
import os, warnings
os.register_at_fork(before=lambda: warnings.warn("os.fork() was called", RuntimeWarning))
from gawee_dialect.workers.shared_tasks import run_shared
print(run_shared(abs, [-1, -2, -3], 2))
"""
    ran = subprocess.run(
        [sys.executable, "-W", "always", "-c", script], capture_output=True, text=True, check=True
    )

    assert (ran.stdout, ran.stderr) == ("[1, 2, 3]\n", "")


def test_an_error_is_raised_here() -> None:
    def fail(number: int) -> int:
        time.sleep(0.002)
        if number == 11:
            raise ValueError(f"task {number}")
        return number

    with pytest.raises(ValueError, match="task 11"):
        run_shared(fail, range(20), 2)


@pytest.mark.usefixtures("forks")
def test_what_a_copy_did_not_finish_is_done_again() -> None:
    here = os.getpid()

    def dies_elsewhere(number: int) -> int:
        time.sleep(0.002)
        if os.getpid() != here and number > 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number + 1

    assert run_shared(dies_elsewhere, range(20), 3) == list(range(1, 21))


@pytest.mark.usefixtures("forks")
def test_where_no_process_can_be_started_this_one_does_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)

    assert {process for _, process in run_shared(square, range(8), 4)} == {os.getpid()}


@pytest.mark.usefixtures("forks")
def test_a_process_that_ignores_its_children_has_all_results() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        results = run_shared(square, range(12), 3)
    finally:
        signal.signal(signal.SIGCHLD, before)

    assert [result for result, _ in results] == [number * number for number in range(12)]


@pytest.mark.usefixtures("forks")
def test_no_copy_outlives_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    here, fork, copies = os.getpid(), os.fork, list[int]()

    def noted_fork() -> int:
        copies.append(fork())
        return copies[-1]

    monkeypatch.setattr(os, "fork", noted_fork)

    def waits_elsewhere(_: int) -> None:
        if os.getpid() == here:
            raise KeyboardInterrupt
        time.sleep(60)

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_shared(waits_elsewhere, range(9), 2)

    assert time.monotonic() - start < 30
    assert copies
    for copy in copies:
        with pytest.raises(ChildProcessError):  # it is no child any more
            os.waitpid(copy, os.WNOHANG)


def test_a_process_with_threads_does_all_itself() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert not may_fork()
        assert {process for _, process in run_shared(square, range(8), 4)} == {os.getpid()}
    finally:
        stop.set()
        thread.join()


def test_threads_that_hold_nothing_are_no_reason_to_do_all_itself() -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    tqdm(range(3), disable=False, file=io.StringIO()).close()  # as PyTorch does when it traces
    call_in_threads(lambda: None, 2)
    names = {thread.name for thread in threading.enumerate()}

    assert tqdm.monitor.name in names
    assert any(name.startswith("gawee-images") for name in names)
    others = [each for each in names if not each.startswith(IDLE_THREADS)]
    assert may_fork() == (others == [threading.current_thread().name])


def test_a_process_may_be_told_to_do_all_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_tasks, "_one_process", threading.Event())
    shared_tasks.stay_one_process()

    assert {process for _, process in run_shared(square, range(8), 4)} == {os.getpid()}


def test_more_tasks_than_a_pipe_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_tasks, "MOST_TASKS", 5)

    results = run_shared(lambda _: os.getpid(), range(6), 4)

    assert set(results) == {os.getpid()}


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files by /proc")
def test_nothing_stays_open() -> None:
    before = os.listdir("/proc/self/fd")
    run_shared(square, range(6), 3)

    assert os.listdir("/proc/self/fd") == before


@pytest.mark.usefixtures("forks")
def test_a_copy_does_a_task_apart() -> None:
    result, process = run_apart(square, 7) or (0, os.getpid())

    assert result == 49
    assert process != os.getpid()


@pytest.mark.usefixtures("forks")
def test_what_a_copy_cannot_do_has_no_result() -> None:
    before = os.listdir("/proc/self/fd")

    assert run_apart(lambda divisor: 1 // divisor, 0) is None
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.usefixtures("forks")
def test_this_process_does_something_else_meanwhile() -> None:
    done = list[int]()
    result, process = run_apart(square, 7, lambda: done.append(os.getpid())) or (0, 0)

    assert result == 49
    assert done == [os.getpid()] != [process]


@pytest.mark.usefixtures("forks")
def test_what_goes_wrong_meanwhile_leaves_nothing_open() -> None:
    before = os.listdir("/proc/self/fd")

    with pytest.raises(ZeroDivisionError):
        run_apart(square, 7, lambda: 1 // 0)
    assert os.listdir("/proc/self/fd") == before


def test_without_copies_there_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_tasks, "may_fork", lambda: False)
    done = list[str]()

    assert run_apart(square, 7, lambda: done.append("meanwhile")) is None
    assert not done
