"""The pool of threads: which thread does which part, what waits, and how it ends."""

import ctypes
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gawee_dialect.backend import openmp
from gawee_dialect.backend.jit import initialize
from gawee_dialect.backend.thread_pool import PARTS, ThreadPool
from tests.effort import FULL

SECONDS = 20
"""After which a test has failed: nothing here takes one of them."""

Part = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Team:
    """The pool as compiled code sees it: parts of the work are calls of a Python function."""

    def __init__(self, pool: ThreadPool):
        """Find the functions."""
        start = ctypes.CFUNCTYPE(None, Part, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
        number = ctypes.CFUNCTYPE(ctypes.c_int)
        self._start = start(pool.address("GOMP_parallel"))
        self.number = number(pool.address("omp_get_thread_num"))
        self.count = number(pool.address("omp_get_num_threads"))

    def run(self, part: Callable[[], None], threads: int) -> None:
        """Call a function for every part, by some threads."""
        self._start(Part(lambda _: part()), None, threads, 0)


@pytest.fixture
def team() -> Team:
    initialize()
    pool = openmp._started_pool()
    if pool is None:
        pytest.skip("needs futexes")
    return Team(pool)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_part_is_done_once(team: Team, threads: int) -> None:
    parts: list[tuple[int, int]] = []

    for _ in range(20):
        parts.clear()
        team.run(lambda: parts.append((team.number(), team.count())), threads)

        count = PARTS * threads if threads > 1 else 1
        assert sorted(parts) == [(number, count) for number in range(count)]


def test_nobody_waits_for_what_a_thread_has_not_begun(team: Team) -> None:
    caller = threading.get_ident()
    begun, all_others_done = threading.Event(), threading.Event()
    by_caller: list[int] = []
    by_helper: list[int] = []

    def part() -> None:
        if threading.get_ident() != caller:
            by_helper.append(team.number())
            begun.set()
            assert all_others_done.wait(SECONDS)
            return
        assert begun.wait(SECONDS)
        by_caller.append(team.number())
        if len(by_caller) == 2 * PARTS - 1:
            all_others_done.set()

    team.run(part, 2)

    assert len(by_helper) == 1
    assert len(by_caller) == 2 * PARTS - 1


def test_a_thread_begins_with_parts_of_its_own(team: Team) -> None:
    caller = threading.get_ident()
    both_begun = threading.Barrier(2)
    firsts: dict[bool, int] = {}

    def part() -> None:
        is_caller = threading.get_ident() == caller
        if is_caller not in firsts:
            firsts[is_caller] = team.number()
            both_begun.wait(SECONDS)

    team.run(part, 2)

    assert firsts == {True: 0, False: PARTS}


def test_a_second_caller_at_the_same_time_works_alone(team: Team) -> None:
    counts: list[int] = []

    def other() -> None:
        team.run(lambda: counts.append(team.count()), 2)

    def part() -> None:
        if team.number() == 0:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join(SECONDS)

    team.run(part, 2)

    assert counts == [1]


def test_a_team_in_a_team_is_its_caller_alone(team: Team) -> None:
    seen: list[tuple[int, ...]] = []

    def part() -> None:
        outer = team.number(), team.count()
        inner: list[int] = []
        team.run(lambda: inner.append(team.count()), 2)
        seen.append((*inner, *outer, team.number()))

    team.run(part, 2)

    assert sorted(seen) == [(1, number, 2 * PARTS, number) for number in range(2 * PARTS)]


def test_threads_that_have_nothing_to_do_sleep(team: Team) -> None:
    team.run(lambda: None, 4)
    time.sleep(0.1)
    before = time.process_time()

    time.sleep(0.3)

    assert time.process_time() - before < 0.1  # one that watches would have used 0.3 s


def test_sleeping_threads_take_part_again(team: Team) -> None:
    for _ in range(5):
        time.sleep(0.05)
        both_begun = threading.Barrier(2)
        seen: set[int] = set()

        def part(both_begun: threading.Barrier = both_begun, seen: set[int] = seen) -> None:
            if threading.get_ident() not in seen:
                seen.add(threading.get_ident())
                both_begun.wait(SECONDS)

        team.run(part, 2)

        assert len(seen) == 2


AT_THE_END = """
import threading
from tests.backend.parallel_loops import *
model = CompiledModel(llvm_module(ROWS), num_threads=3)
model(**INPUTS)
def call():
    while True:
        model(**INPUTS)
for _ in range(2):
    threading.Thread(target=call, daemon=True).start()
print("over")
"""


def test_a_process_ends_while_teams_work() -> None:
    for _ in range(3 if FULL else 1):
        done = subprocess.run(
            [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")


STARTED = """
import sys
from gawee_dialect.backend import openmp
from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.backend.jit import initialize
from gawee_dialect.backend.thread_pool import keep_code, new_code
from tests.backend.test_thread_pool import Team

initialize()
openmp.start_threads()
print(len(new_code), CompileCache().folder.exists())
if sys.argv[1:] == ["keep"]:
    keep_code(CompileCache())
team, parts = Team(openmp._started_pool()), []
team.run(lambda: parts.append(team.number()), 2)
print(len(new_code), sorted(parts) == [*range(len(parts))])
"""


def test_code_is_compiled_once_and_kept_where_that_may_be(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / "cache"))

    def started(*arguments: str) -> list[str]:
        command = [sys.executable, "-c", STARTED, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert started() == ["1 False", "1 True"]
    assert not (tmp_path / "cache").exists()
    assert started("keep") == ["1 False", "0 True"]
    assert started() == ["0 True", "0 True"]
