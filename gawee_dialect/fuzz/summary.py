"""What is said of trials: how many, what was done to them, and what is wrong."""

import sys
from collections.abc import Callable
from time import perf_counter

from gawee_dialect.fuzz.oracle import Finding
from gawee_dialect.fuzz.session import Tried

LINES = 4
"""Of a message."""


def summary(tried: Tried, seconds: float) -> str:
    """Return what was tried, and what was done to how many, in one line."""
    what = " and ".join(f"{count} {each}" for each, count in sorted(tried.drawn.items()))
    counts = sorted(tried.done.items(), key=lambda count: -count[1])
    parts = ", ".join(f"{count} {name}" for name, count in counts if count)
    rate = tried.drawn.total() / max(seconds, 1e-9)
    causes = len(tried.found)
    wrong = f"{causes} cause{'' if causes == 1 else 's'} of findings" if causes else "no findings"
    return f"{what or 'nothing'} in {seconds:.0f} s, {rate:.1f} a second: {parts}; {wrong}"


def finding_text(tried: Tried, number: int, finding: Finding) -> str:
    """Return what is said of one cause."""
    lines = [
        f"{finding.kind}: {finding.cause}".rstrip(": "),
        f"  in {tried.findings[finding.key]}, the first is number {number}",
        *(f"  {line}" for line in finding.message.splitlines()[:LINES]),
    ]
    return "\n".join(lines)


def progress_lines(seconds: float) -> Callable[[Tried], None]:
    """Return what prints to standard error: each new cause, and every so many seconds the summary.

    So a run that is stopped before its end has said what it found.
    """
    started = last = perf_counter()
    told = set[tuple[str, str]]()

    def tell(tried: Tried) -> None:
        nonlocal last
        new = [key for key in tried.found if key not in told]
        told.update(new)
        for key in new:
            print(finding_text(tried, *tried.found[key]), file=sys.stderr, flush=True)
        if perf_counter() - last > seconds:
            last = perf_counter()
            print(summary(tried, last - started), file=sys.stderr, flush=True)

    return tell
