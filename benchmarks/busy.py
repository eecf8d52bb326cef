"""Engines on a machine that others keep busy: mean and 99th percentile of a run, by load.

`python -m benchmarks.busy` starts some programs that never wait, and lets engines take turns
beside them, with a thread a processor. It prints the mean and the 99th percentile of a run, and
takes about four minutes.
"""

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.compare import OURS, Contender, prepared
from benchmarks.engines import ENGINES
from benchmarks.list_values import names
from benchmarks.timing import processor
from gawee_dialect.evaluation.machine import wait_until_quiet
from gawee_dialect.evaluation.turns import orders
from gawee_dialect.flag_values import not_negative, positive
from gawee_dialect.target.host import physical_cores

LOADS = (0, 1, 2, 4)
"""How many other programs there are."""

SPIN = "while True: pass"


@contextmanager
def busy_programs(count: int) -> Generator[None]:
    """Run some programs that use a processor each, while a with block runs."""
    programs = [subprocess.Popen([sys.executable, "-S", "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def take_turns(
    contenders: Sequence[Contender], load: int, rounds: int, runs: int, seconds: float
) -> None:
    """Let every engine run beside some busy programs, in turns."""
    for order in orders(len(contenders), rounds):
        for contender in (contenders[index] for index in order):
            wait_until_quiet(0, 3)
            with busy_programs(load):
                turn = contender.ask(runs, seconds)
            if turn is None:
                raise SystemExit(f"{contender.engine}: its process ended")
            contender.rounds.append([each * 1e3 for each in turn.seconds])


def lines(engines: Sequence[str], rows: Sequence[dict[str, object]]) -> Iterator[str]:
    """Yield the table, in Markdown: a load a row, mean and 99th percentile of each engine."""
    heads = [f"{engine} {figure}" for engine in engines for figure in ("mean", "p99")]
    yield "| " + " | ".join(["busy programs", *heads]) + " |"
    yield "|" + " --- |" * (1 + len(heads))
    for load in dict.fromkeys(row["load"] for row in rows):
        own = {row["engine"]: row for row in rows if row["load"] == load}
        cells = [f"{own[name][key]:.2f}" for name in engines for key in ("mean_ms", "p99_ms")]
        yield "| " + " | ".join([str(load), *cells]) + " |"


def measured(arguments: Namespace, folder: Path) -> list[dict[str, object]]:
    """Measure all engines at all loads; returns an object a row."""
    flops = prepared(arguments.model, folder)
    contenders = [
        Contender(name, arguments.model, arguments.threads, flops) for name in arguments.engines
    ]
    for contender in contenders:
        contender.start(folder, pin=False)  # busy programs move what is pinned nowhere
        if contender.absent is not None:
            raise SystemExit(f"{contender.engine}: {contender.absent}")
    rows: list[dict[str, object]] = []
    for load in arguments.loads:
        take_turns(contenders, load, arguments.rounds, arguments.runs, arguments.seconds)
        for contender in contenders:
            times, contender.rounds = contender.times, []
            rows.append(
                {
                    "load": load,
                    "engine": contender.engine,
                    "mean_ms": mean(times),
                    "p99_ms": float(np.percentile(times, 99)),
                    "worst_ms": max(times),
                    "runs": len(times),
                }
            )
    for contender in contenders:
        contender.stop()
    return rows


def loads(text: str) -> list[int]:
    """Read numbers of programs; raises ArgumentTypeError."""
    return [not_negative(part) for part in text.split(",")]


def main() -> None:
    """Measure, and print the table."""
    from benchmarks.models import MODELS

    parser = ArgumentParser(
        prog="python -m benchmarks.busy",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--model",
        choices=tuple(MODELS),
        default="mobilenetv2",
        metavar="MODEL",
        help=", ".join(MODELS),
    )
    add("--threads", type=positive, default=physical_cores(), help="(default: one a core)")
    add(
        "--engines",
        type=names(list(ENGINES)),
        default=[OURS, "onnxruntime"],
        help="such as gawee,openvino",
    )
    add("--loads", type=loads, default=LOADS, help="numbers of busy programs (default: 0,1,2,4)")
    add("--rounds", type=int, default=4, help="turns of each engine at each load")
    add("--runs", type=int, default=100, help="runs a turn, at least")
    add("--seconds", type=float, default=6, help="after which fewer runs will do")
    add("--json", help="append one object a line to this file")
    arguments = parser.parse_args()
    print(f"{processor()}, {len(os.sched_getaffinity(0))} processors; milliseconds a run")
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(arguments, Path(folder))
    print("\n".join(lines(arguments.engines, rows)))
    if arguments.json:
        with open(arguments.json, "a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
