"""Tries random graphs with random pipelines, and prints what was tried and what is wrong."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from tests.graph_fuzz.session import fuzz


def main() -> int:
    """Return 1 where something is wrong."""
    parser = ArgumentParser(prog="python -m tests.graph_fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--graphs", type=int, default=1_000_000, help="at most so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--findings", type=Path, help="a folder for a test of each cause")
    options = parser.parse_args()
    session = fuzz(options.minutes, options.graphs, options.seed, options.findings)
    for (kind, cause), message in session.found.items():
        print(f"{kind}: {cause}\n  {message[:400]}")
    for what, count in sorted(session.counts.items()):
        print(f"{what}: {count}")
    print(f"graphs a second: {session.counts['graphs'] / max(1, session.counts['seconds']):.1f}")
    return int(bool(session.found))


if __name__ == "__main__":
    sys.exit(main())
