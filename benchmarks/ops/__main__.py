"""Measure ops beside PyTorch's, and write the table of docs/ops.md."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "build" / "ops.jsonl"
PAGE = ROOT / "docs" / "ops.md"

KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
"""Make the C library keep large blocks, where they are so when a process starts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, keep the results, write the page; return 1 where an op computes something else."""
    from benchmarks.ops.case import SIZES, Times, measure
    from benchmarks.ops.registry import all_cases
    from benchmarks.ops.table import page

    parser = ArgumentParser(prog="python -m benchmarks.ops", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="parts of names")
    parser.add_argument("--missing", action="store_true", help="only what has no result yet")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each op and size")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    parser.add_argument("--page", type=Path, help="the page to write")
    options = parser.parse_args(arguments)
    lines = options.results.read_text("utf-8").splitlines() if options.results.exists() else []
    known = {(each.case, each.size): each for each in (Times(**json.loads(line)) for line in lines)}
    options.results.parent.mkdir(exist_ok=True, parents=True)
    failed = 0
    for name, case in all_cases().items():
        if options.only and not any(part in name for part in options.only):
            continue
        for index, size in enumerate(SIZES):
            if options.missing and (name, size) in known:
                continue
            try:
                times = known[name, size] = measure(case, index, options.seconds)
            except ValueError as error:
                failed += 1
                print(f"{name}, {size}: {error}", flush=True)
                continue
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(times)) + "\n")
            ours, eager = times.ours * 1e6, times.eager * 1e6
            print(f"{name}, {size}: {ours:.1f} us, {eager:.1f}: {times.ratio:.2f}", flush=True)
    complete = all((name, size) in known for name in all_cases() for size in SIZES)
    if options.page or not options.only or complete:  # some alone leave docs/ as it is
        (options.page or PAGE).write_text(page(known), "utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    if not KEEP_MEMORY.items() <= os.environ.items():
        os.environ.update(KEEP_MEMORY)
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.ops", *sys.argv[1:]])
    sys.exit(main())
