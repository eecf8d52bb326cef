"""The times of ops as a page of the documentation."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from math import exp, log

from benchmarks.ops.case import SIZES, Times
from benchmarks.ops.registry import FAMILIES, WITHOUT_TWIN
from benchmarks.timing import processor
from gawee_dialect.target.machine import find_processor

SLOWER = 0.9
"""The ratio from which on an op counts as slower than PyTorch's."""

HEAD = """# Ops beside PyTorch's

Microseconds of a call on one thread, the least of calls that took turns with PyTorch's eager op,
and how many times faster ours is (below 1: slower). Of {count} measurements the geometric mean is
{mean:.2f}; in {slower} ours takes over 10 % longer.

Measured on {date}, {processor}; torch {torch}. The C library keeps what is freed
(`MALLOC_MMAP_MAX_` and `MALLOC_TRIM_THRESHOLD_`): otherwise PyTorch pays for fresh pages of large
results. Operands named last are weights where the op has any: known before calls, and prepared.

```sh
python -m benchmarks.ops
python -m benchmarks.ops --only softmax sort
```

The first measures every op and writes this page. The second measures some, and writes their rows
anew where the results of all others are in `build/`.
"""


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers; 1 of none."""
    return exp(sum(map(log, ratios)) / len(ratios)) if ratios else 1.0


def page(results: Mapping[tuple[str, str], Times]) -> str:
    """Return the page; a dash stands for what was not measured."""
    ratios = [each.ratio for each in results.values()]
    lines = [
        HEAD.format(
            count=len(ratios),
            mean=geometric_mean(ratios),
            slower=sum(ratio < SLOWER for ratio in ratios),
            date=date.today().isoformat(),
            processor=f"{processor()} ({find_processor('host').cpu})",
            torch=version("torch"),
        )
    ]
    for family, cases in FAMILIES.items():
        rows = [
            {size: results[case.name, size] for size in SIZES if (case.name, size) in results}
            for case in cases
        ]
        lines += [f"## {family}", "", *_table(row for row in rows if row), ""]
    lines += ["## Not measured", "", "| op | why |", "|---|---|"]
    lines += [f"| `{op}` | {why} |" for op, why in WITHOUT_TWIN.items()]
    return "\n".join(lines) + "\n"


def _table(rows: Iterable[Mapping[str, Times]]) -> list[str]:
    heads = [part for size in SIZES for part in (f"{size}, us", "times faster")]
    lines = [_line(["op", *heads, "largest operands"]), _line(["---"] * (len(heads) + 2))]
    means: list[float] = []
    for row in rows:
        cells = [part for size in SIZES for part in _cells(row.get(size))]
        *_, last = row.values()
        lines.append(_line([last.case, *cells, last.shapes]))
        means += [each.ratio for each in row.values()]
    mean = f"{geometric_mean(means):.2f}"
    return [*lines, _line(["**geometric mean**", *["", ""] * (len(SIZES) - 1), "", mean, ""])]


def _cells(times: Times | None) -> tuple[str, str]:
    if times is None:
        return "-", "-"
    ratio = f"{times.ratio:.2f}"
    return f"{times.ours * 1e6:.1f}", f"**{ratio}**" if times.ratio < SLOWER else ratio


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
