"""Compile the networks, a few at a time, and write the table of docs/torch_compile.md."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.torch_compile.check import CompiledNetwork, check
from benchmarks.torch_compile.networks import others
from benchmarks.torch_compile.table import page, summary
from benchmarks.zoo.__main__ import LIBRARIES, ROOT, choose, run_zoo
from benchmarks.zoo.libraries import import_library
from benchmarks.zoo.networks import zoo

RESULTS = ROOT / "build" / "torch_compile.jsonl"
PAGE = ROOT / "docs" / "torch_compile.md"
MORE_LIBRARIES = (*LIBRARIES, "torchaudio", "diffusers")


def read_results(path: Path = RESULTS) -> dict[str, CompiledNetwork]:
    """Return the latest result of every network."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    results = (CompiledNetwork(**json.loads(line)) for line in lines)
    return {each.name: each for each in results}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile, keep the results, write the page; return 1 where a network raised or is wrong."""
    parser = ArgumentParser(prog="python -m benchmarks.torch_compile", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; all networks without them")
    parser.add_argument("--jobs", type=int, default=1, help="how many networks at a time")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for each")
    parser.add_argument("--missing", action="store_true", help="only what has no result yet")
    parser.add_argument("--page", action="store_true", help="write docs/torch_compile.md")
    options = parser.parse_args(arguments)
    networks = {**others(), **zoo()}
    known = {n: r for n, r in read_results().items() if r.modes} if options.missing else {}
    chosen = [each for each in choose(networks, options.names) if each.name not in known]
    missing: set[str] = set()
    for library in MORE_LIBRARIES if chosen else ():
        try:
            import_library(library)
        except (ImportError, OSError) as error:
            missing.add(library)
            print(f"without {library}: {error}", file=sys.stderr)
    chosen = [each for each in chosen if each.library not in missing]
    RESULTS.parent.mkdir(exist_ok=True)
    for result in run_zoo(chosen, options.jobs, options.timeout, check, CompiledNetwork):
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        print(summary(result), flush=True)
    results = [each for name, each in read_results().items() if name in networks]
    if options.page:
        PAGE.write_text(page(results), encoding="utf-8")
    return int(any(mode["reason"] for each in results for mode in each.modes.values()))


if __name__ == "__main__":
    sys.exit(main())
