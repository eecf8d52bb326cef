"""What makes times lie on a shared machine: other load, and where the processors are.

A virtual machine's processors may be moved to other caches at any time, and nothing in the guest
tells: only the time that a cache line takes from one to the other.
"""

import ctypes
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

from gawee_dialect.backend.jit import NativeModule, Target, compile_object

HANDOVERS = 4000
"""Times that a line goes over in one attempt: less than a scheduler's turn."""

ATTEMPTS = 20

PING_PONG = """
define void @take_turns(ptr %line, i64 %first, i64 %last) {
entry:
  br label %turn
turn:
  %mine = phi i64 [ %first, %entry ], [ %following, %passed ]
  %over = icmp sge i64 %mine, %last
  br i1 %over, label %done, label %wait
wait:
  %seen = load atomic i64, ptr %line acquire, align 8
  %is_mine = icmp eq i64 %seen, %mine
  br i1 %is_mine, label %passed, label %wait
passed:
  %next = add i64 %mine, 1
  store atomic i64 %next, ptr %line release, align 8
  %following = add i64 %mine, 2
  br label %turn
done:
  ret void
}
"""
"""Two threads count together: one the even numbers, one the odd ones."""


def allowed_cpus() -> list[int]:
    """Return the processors that this process may use; none where they are unknown."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class LineLatency:
    """Measures how long a cache line takes between the first two processors."""

    def __init__(self) -> None:
        self._native = NativeModule(compile_object(PING_PONG, Target().resolved()))
        self._take_turns = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self._native.address("take_turns")
        )

    def measure(self) -> float | None:
        """Return nanoseconds a handover, None where there are no two processors."""
        cpus = allowed_cpus()
        if len(cpus) < 2:
            return None
        memory = (ctypes.c_int64 * 32)()
        address = -(-ctypes.addressof(memory) // 128) * 128
        times: list[float] = []
        ready = threading.Barrier(2)

        def take_part(number: int) -> None:
            os.sched_setaffinity(0, {cpus[number]})  # of this thread alone
            for _ in range(ATTEMPTS):
                if number == 0:
                    ctypes.c_int64.from_address(address).value = 0
                ready.wait()
                start = perf_counter()
                self._take_turns(address, number, HANDOVERS)
                if number == 0:
                    times.append((perf_counter() - start) / HANDOVERS * 1e9)
                ready.wait()

        threads = [threading.Thread(target=take_part, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return min(times)  # the others were interrupted


def busy_seconds() -> float:
    """Return how long all processors together were busy since the start; 0 where unknown."""
    path = Path("/proc/stat")
    if not path.exists():
        return 0.0
    ticks = [int(field) for field in path.read_text().splitlines()[0].split()[1:]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def wait_until_quiet(spare: float, patience: float) -> float:
    """Wait until others use no more than some processors; return the seconds waited."""
    start = perf_counter()
    while True:
        before, moment = busy_seconds(), perf_counter()
        sleep(0.1)
        used = (busy_seconds() - before) / (perf_counter() - moment)
        if used <= spare + 0.15 or perf_counter() - start > patience:
            return perf_counter() - start


def _schedule(field: int) -> dict[int, int]:
    """Return a number of each thread of this process: 0 nanoseconds run, 1 waited to run."""
    found: dict[int, int] = {}
    for task in Path("/proc/self/task").glob("*"):
        try:
            found[int(task.name)] = int((task / "schedstat").read_text().split()[field])
        except (OSError, ValueError, IndexError):
            continue
    return found


def delay_seconds() -> float:
    """Return how long threads of this process were ready to run and had no processor."""
    return sum(_schedule(1).values()) * 1e-9


@dataclass
class BusyThreads:
    """Which threads of this process work, found by running something between two looks."""

    before: dict[int, int]

    @staticmethod
    def start() -> "BusyThreads":
        """Take the first look."""
        return BusyThreads(_schedule(0))

    def pin(self, count: int) -> dict[int, float]:
        """Give each of the busiest threads a processor; return its share of the work by that.

        A scheduler may leave two threads on one processor for long, and a memory of which
        processor a thread runs on is worth something.
        """
        worked = {task: ran - self.before.get(task, 0) for task, ran in _schedule(0).items()}
        busiest = sorted(worked, key=lambda task: worked[task], reverse=True)[:count]
        total = sum(worked.values()) or 1
        placed = dict(zip(reversed(allowed_cpus()), busiest, strict=False))
        for cpu, task in placed.items():
            os.sched_setaffinity(task, {cpu})
        return {cpu: round(worked[task] / total, 3) for cpu, task in placed.items()}


def peak_memory() -> int:
    """Return the most bytes of memory that this process ever had; 0 where unknown."""
    path = Path("/proc/self/status")
    if not path.exists():
        return 0
    lines = (line for line in path.read_text().splitlines() if line.startswith("VmHWM"))
    return next((int(line.split()[1]) * 1024 for line in lines), 0)
