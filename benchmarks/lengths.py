"""How long another length of text takes until `torch.compile(dynamic=True)` has run it.

The network is as large as MiniLM: 6 layers of width 384 and 12 heads, with random weights. Each
length is new when it comes, the cache is empty at the start. *Weights* are the megabytes that were
packed for this length, and how many of them no length before has.
"""

import os
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import date
from time import perf_counter

from benchmarks.timing import console, processor

LENGTHS = (64, 100, 37, 51, 128, 77)


def measure(lengths: Sequence[int]) -> None:
    """Run a network on texts of some lengths, and print a row for each."""
    import torch

    from benchmarks.models import Bert
    from gawee_dialect.pytorch import dynamo

    made: list[dynamo.CompiledModel] = []

    class Noted(dynamo.CompiledModel):
        """A model that the table asks what it packed."""

        def __init__(self, *args: object, **kwargs: object):
            super().__init__(*args, **kwargs)
            made.append(self)

    dynamo.CompiledModel = Noted
    torch.manual_seed(0)
    model = Bert(6, 384, 12).eval().requires_grad_(False)
    fast = torch.compile(model, backend="gawee", dynamic=True)
    seen: set[int] = set()
    for length in lengths:
        ids = torch.randint(0, 30522, (1, length))
        start = perf_counter()
        with torch.no_grad():
            got = fast(ids)
        seconds = perf_counter() - start
        with torch.no_grad():
            difference = (got - model(ids)).abs().max().item()
        arrays = {each.ctypes.data: each.nbytes for each in made[-1].prepared_values().values()}
        new = sum(size for place, size in arrays.items() if place not in seen)
        seen |= arrays.keys()
        packed = f"{sum(arrays.values()) / 1e6:.1f} | {new / 1e6:.1f}"
        console.print(f"| {length} | {seconds:.2f} | {packed} | {difference:.1e} |")


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    arguments = parser.parse_args()
    console.print(f"{processor()}, {os.cpu_count()} processors, {date.today()}\n")
    console.print("| length | seconds | weights, MB | new, MB | max difference |")
    console.print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GAWEE_CACHE_DIR"] = folder
        measure(arguments.lengths)


if __name__ == "__main__":
    main()
