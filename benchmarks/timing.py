"""Repeated measurements, and how they are shown."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table

console = Console(highlight=False)


@dataclass(frozen=True)
class Measurement:
    """Seconds of every run of one thing."""

    name: str
    seconds: Sequence[float]


def measure(name: str, function: Callable[[], object], runs: int, warmup: int = 1) -> Measurement:
    """Time some runs of a function after a warm-up that does not count."""
    for _ in range(warmup):
        function()
    seconds: list[float] = []
    for _ in range(runs):
        start = perf_counter()
        function()
        seconds.append(perf_counter() - start)
    return Measurement(name, seconds)


def print_measurements(title: str, measurements: Sequence[Measurement]) -> None:
    """Print minimum, median and maximum; the median is what to quote."""
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for heading in ("runs", "min s", "median s", "max s"):
        table.add_column(heading, justify="right")
    for each in measurements:
        numbers = (min(each.seconds), median(each.seconds), max(each.seconds))
        table.add_row(each.name, str(len(each.seconds)), *(f"{number:.3f}" for number in numbers))
    console.print(table)


def processor() -> str:
    """Return the processor's name, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def processor_seconds() -> float:
    """Return the seconds that processors worked for this process, and for its ended children."""
    return sum(os.times()[:4])
