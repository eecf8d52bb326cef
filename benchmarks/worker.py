"""The process of one engine and one network: makes it ready, then runs it when told.

It is started by benchmarks.compare, reads one JSON list [runs, seconds] a line, and answers each
with one JSON object a line.
"""

import io
import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from time import perf_counter

START = perf_counter()

import numpy as np  # noqa: E402  the start is measured

from benchmarks.engines import Absent, Run, Task, start_engine  # noqa: E402
from gawee_dialect.evaluation.machine import BusyThreads, peak_memory  # noqa: E402
from gawee_dialect.evaluation.turns import time_turn  # noqa: E402


def _array(value: object) -> np.ndarray:
    detach = getattr(value, "detach", lambda: value)
    return np.asarray(detach())


def warm_up(run: Run, seconds: float = 0.3) -> None:
    """Run at least five times, and for some time."""
    start, runs = perf_counter(), 0
    while runs < 5 or perf_counter() - start < seconds:
        run()
        runs += 1
        if perf_counter() - start > 30 * seconds:
            return


def prepare(name: str, task: Task, *, pin: bool) -> tuple[Run, dict[str, object]]:
    """Make an engine ready and check its output; returns what is known of it then."""
    run = start_engine(name, task)
    begin = perf_counter()
    output = _array(run())
    first = perf_counter()
    expected = np.load(task.folder / "y.npy")
    info: dict[str, object] = {
        "first_ms": (first - begin) * 1e3,
        "start_to_first_s": first - START,
        "difference": float(np.abs(output - expected).max() / np.ptp(expected)),
        **{f"{step}_s": seconds for step, seconds in task.seconds.items()},
    }
    warm_up(run)
    if pin and task.threads > 1 and hasattr(os, "sched_setaffinity"):
        threads = BusyThreads.start()
        warm_up(run, 0.2)
        info["work_by_processor"] = threads.pin(task.threads)
    info["memory_mb"] = peak_memory() / 2**20
    return run, info


def main() -> None:
    """Serve one engine."""
    parser = ArgumentParser(description=__doc__)
    for option in ("--engine", "--model", "--folder"):
        parser.add_argument(option, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--no-pin", action="store_true")
    arguments = parser.parse_args()
    # Engines print to standard output what they like; the answers go where it was.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), 1)
    task = Task(arguments.model, arguments.threads, Path(arguments.folder))
    try:
        run, info = prepare(arguments.engine, task, pin=not arguments.no_pin)
    except Absent as reason:
        _answer(answers, {"absent": str(reason)})
        return
    except Exception as error:  # whatever an engine raises: it is named, and the others go on
        _answer(answers, {"absent": f"{type(error).__name__}: {str(error).strip()[:300]}"})
        return
    _answer(answers, info)
    for line in sys.stdin:
        turn = time_turn(run, *json.loads(line))
        _answer(answers, {**vars(turn), "ms": [each * 1e3 for each in turn.seconds]})


def _answer(answers: io.TextIOBase, form: dict[str, object]) -> None:
    answers.write(json.dumps(form) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
