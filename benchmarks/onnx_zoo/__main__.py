"""Check the .onnx files of the zoo, a few at a time, and write the table of docs/onnx_zoo.md.

    python -m benchmarks.onnx_zoo                     # models of onnx and of the zoo of PyTorch
    python -m benchmarks.onnx_zoo --packages          # files of wheels, for docs/onnx_files.md
    python -m benchmarks.onnx_zoo --packages silero   # some, by parts of names: leave the page

Each is exported or fetched, read, compiled, and compared with ONNX Runtime, in a process of its
own. In the mean a model compiles in 6 s of one processor, a file in 4 s. What was found is kept in
build/; `--missing` goes on where a run was stopped. The exit code is 1 where one computes something
else.
"""

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from benchmarks.onnx_zoo.check import check
from benchmarks.onnx_zoo.models import onnx_zoo
from benchmarks.onnx_zoo.packages import packaged_files
from benchmarks.onnx_zoo.table import HEAD, PACKAGES, page
from benchmarks.zoo.__main__ import LIBRARIES, choose, read_results, run_zoo
from benchmarks.zoo.check import Result
from benchmarks.zoo.libraries import import_library
from gawee_dialect.flag_values import positive

ROOT = Path(__file__).resolve().parent.parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, keep the results, write the page; return 1 where a network computes something else."""
    parser = ArgumentParser(
        prog="python -m benchmarks.onnx_zoo",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="parts of names; all networks without them")
    parser.add_argument("--jobs", type=positive, default=1, help="how many networks at a time")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for each")
    parser.add_argument("--missing", action="store_true", help="only what has no result yet")
    parser.add_argument("--measure", action="store_true", help="time calls as well")
    parser.add_argument("--packages", action="store_true", help="the files of packages instead")
    options = parser.parse_args(arguments)
    name, head = ("onnx_files", PACKAGES) if options.packages else ("onnx_zoo", HEAD)
    kept = ROOT / "build" / f"{name}.jsonl"
    known = read_results(kept) if options.missing else {}
    networks = packaged_files() if options.packages else onnx_zoo()
    chosen = [each for each in choose(networks, options.names) if each.name not in known]
    for library in LIBRARIES if chosen and not options.packages else ():
        import_library(library)
    kept.parent.mkdir(exist_ok=True)
    checked = partial(check, measure=options.measure)
    for result in run_zoo(chosen, options.jobs, options.timeout, checked, Result):
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        figures = f"{result.difference:.1e}, compiled in {result.compile_seconds:.0f} s"
        print(f"{result.name}: {result.verdict}: {result.reason or figures}", flush=True)
    results = read_results(kept)
    checked_ones = [results[name] for name in networks if name in results]
    if not options.names or len(checked_ones) == len(networks):  # some alone leave the page
        written = ROOT / "docs" / f"{name}.md"
        written.write_text(page(checked_ones, len(networks), head), "utf-8")
    return int(any(each.verdict == "wrong" for each in results.values()))


if __name__ == "__main__":
    sys.exit(main())
