"""How long each new length of text takes until `torch.compile(dynamic=True)` has run it.

The network is as large as MiniLM: 6 layers of width 384 and 12 heads, with random weights. The
cache is empty at the start, so the first length takes as long as compiling. One code is for all
lengths, so another one takes a call.

With `--background` each length has code of its own, and calls are made one after the other while a
process compiles: after how many seconds the code was *ready*, how long the *first* call took, and
then calls by PyTorch. Either takes less than a minute on a quiet machine.
"""

import os
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from datetime import date
from statistics import median
from time import perf_counter

from benchmarks.timing import console, processor

LENGTHS = (64, 100, 37, 51, 128, 77)
SIZES = (6, 384, 12)
"""Layers, width and heads."""


def measure(lengths: Sequence[int]) -> None:
    """Run a network on texts of some lengths, and print a row for each."""
    import torch

    from benchmarks.models import Bert

    torch.manual_seed(0)
    model = Bert(*SIZES).eval().requires_grad_(False)
    fast = torch.compile(model, backend="gawee", dynamic=True)
    for length in lengths:
        ids = torch.randint(0, 30522, (1, length))
        start = perf_counter()
        with torch.no_grad():
            got = fast(ids)
        seconds = perf_counter() - start
        with torch.no_grad():
            difference = (got - model(ids)).abs().max().item()
        console.print(f"| {length} | {seconds:.2f} | {difference:.1e} |")


def measure_calls(lengths: Sequence[int]) -> None:
    """Call a network again and again while a process compiles it; print a row for each length."""
    import torch

    from benchmarks.models import Bert
    from gawee_dialect import wait_until_compiled

    torch.manual_seed(0)
    model = Bert(*SIZES).eval().requires_grad_(False)
    fast = torch.compile(model, backend="gawee", dynamic=True, options={"background": True})

    def seconds(ids: torch.Tensor) -> float:
        start = perf_counter()
        with torch.no_grad():
            fast(ids)
        return perf_counter() - start

    for length in lengths:
        ids = torch.randint(0, 30522, (1, length))
        start = perf_counter()
        calls = [seconds(ids)]
        while not wait_until_compiled(0):
            calls.append(seconds(ids))
        ready = perf_counter() - start
        native = median(seconds(ids) for _ in range(10))
        first, *others = (1000 * call for call in calls)
        later = others or [first]  # the code was ready before the first call ended
        row = (
            length,
            f"{ready:.1f}",
            *(f"{each:.0f}" for each in (first, median(later), max(later))),
        )
        console.print(f"| {' | '.join(map(str, row))} | {1000 * native:.1f} |")


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(
        prog="python -m benchmarks.lengths",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="tokens of a text")
    parser.add_argument("--background", action="store_true", help="call meanwhile")
    arguments = parser.parse_args()
    columns = ("length", "seconds", "max difference")
    if arguments.background:
        columns = ("length", "ready, s", "first, ms", "median, ms", "worst, ms", "native, ms")
    console.print(f"{processor()}, {os.cpu_count()} processors, {date.today()}\n")
    console.print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GAWEE_CACHE_DIR"] = folder
        (measure_calls if arguments.background else measure)(arguments.lengths)


if __name__ == "__main__":
    main()
