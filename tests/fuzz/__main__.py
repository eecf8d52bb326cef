"""python -m tests.fuzz [READER...]: damaged inputs for every reader, within limits; a table.

An input may take 10 s and 1 GB; no file outside of the input's folder may be opened. Workers are
processes: one that ends, or does not answer, is a finding of its own. Exit code 1 for findings.
"""

import argparse
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.workers import Workers
from gawee_dialect.workers.dask_workers import workers_of
from tests.fuzz.reader import Reader
from tests.fuzz.readers import READERS
from tests.fuzz.watched import SECONDS, WAITING, run_watched

PER_READER = 5000
BATCH = 500
"""Inputs between two looks at the clock."""
SHOWN = 4
"""Numbers of a problem that are printed."""
WARM = 40
"""Seeds of a reader that are read in this process, so that workers begin with all imports."""
PATIENCE = 2 * WAITING * SECONDS
"""Seconds after which a worker is stuck in native code, where no alarm reaches it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the readers that the command line names, all by default."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", help=f"of {', '.join(READERS)}")
    parser.add_argument("--inputs", type=int, default=PER_READER, help="of each reader")
    parser.add_argument("--minutes", type=float, help="of each reader, in the place of --inputs")
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of Dask: its workers read")
    arguments = parser.parse_args(argv)
    with workers_of(arguments.scheduler) as workers:
        return _run(arguments, workers)


def _run(arguments: argparse.Namespace, workers: Workers) -> int:
    found = 0
    for name in arguments.readers or READERS:
        reader = READERS[name]
        missing = [package for package in reader.needs if find_spec(package) is None]
        if missing:
            print(f"{name}: skipped, there is no {', '.join(missing)}", flush=True)
            continue
        start = time.monotonic()
        end = None if arguments.minutes is None else start + 60 * arguments.minutes
        findings, inputs = _tried_until(end, name, arguments.first, arguments.inputs, workers)
        for problem, numbers_of_it in _by_problem(findings).items():
            which = ", ".join(map(str, numbers_of_it[:SHOWN]))
            print(f"  {len(numbers_of_it)} times, numbers {which}: {problem}")
        seconds = time.monotonic() - start
        counts = f"{inputs} inputs, {len(findings)} findings, {seconds:.0f} s"
        print(f"{name}: {counts}", flush=True)
        found += len(findings)
    return 1 if found else 0


def _tried_until(
    end: float | None, name: str, first: int, inputs: int, workers: Workers
) -> tuple[dict[int, str], int]:
    """Try some inputs, or as many as there is time for; return what is wrong, and how many."""
    findings: dict[int, str] = {}
    number, last = first, first + inputs
    while number < last if end is None else time.monotonic() < end:
        stop = number + BATCH * workers.places
        stop = stop if end is not None else min(stop, last)
        tasks = [(name, each, min(each + BATCH, stop)) for each in range(number, stop, BATCH)]
        for done in workers.run(_batch, tasks, quiet=False):
            lost = {tasks[done.number][1]: f"end: the worker's batch: {done.error}"}
            findings |= lost if done.result is None else done.result
        number = stop
    return dict(sorted(findings.items())), number - first


def _batch(task: tuple[str, int, int]) -> dict[int, str]:
    """Try the inputs of a reader from one number up to another."""
    name, first, stop = task
    return tried(READERS[name], range(first, stop))


def _by_problem(findings: Mapping[int, str]) -> dict[str, list[int]]:
    """Return the numbers of each problem; those of one line of the source are one."""
    found: dict[str, list[int]] = {}
    first: dict[str, str] = {}
    for number, problem in findings.items():
        cause = f"{problem.partition(': ')[0]} {problem.rpartition(', ')[2]}"
        found.setdefault(first.setdefault(cause, problem), []).append(number)
    return found


def tried(reader: Reader, numbers: range) -> dict[int, str]:
    """Return what is wrong, by the number of the input."""
    for seed in reader.seeds[
        :: 1 + len(reader.seeds) // WARM
    ]:  # imports and tables are this process's, which workers begin with
        _warm_up(reader, seed)
    for number in range(WARM):  # so are the tables of what damages inputs
        reader.damaged(number)
    findings: dict[int, str] = {}
    while numbers:
        numbers = _one_worker(reader, numbers, findings)
    return findings


def _warm_up(reader: Reader, seed: bytes) -> None:
    with suppress(GaweeError), TemporaryDirectory() as folder:
        reader.then(reader.read(seed, Path(folder)))


def _one_worker(reader: Reader, numbers: range, findings: dict[int, str]) -> range:
    """Try inputs in a process until it ends or is stuck; return those that are left."""
    source, output = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(source)
        try:
            run_watched(reader, numbers, output)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(output)
    last, text, stuck = numbers.start, b"", False
    while True:
        ready, _, _ = select([source], [], [], PATIENCE)
        piece = os.read(source, 1 << 16) if ready else b""
        if not piece:
            stuck = not ready
            break
        *lines, text = (text + piece).split(b"\n")
        for line in lines:
            number, what, problem = (
                line.decode(errors="replace").split(" ", 2)
                if (line.count(b" ") > 1)
                else (*line.decode().split(" "), "")
            )
            last = int(number) + (what == "ended")
            if problem:
                findings[int(number)] = problem
    os.close(source)
    if stuck:
        os.kill(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    if last < numbers.stop:
        ending = "does not answer" if stuck else f"the process ended with status {status}"
        findings[last] = f"end: {ending}"
    return range(last + 1, numbers.stop)


if __name__ == "__main__":
    sys.exit(main())
