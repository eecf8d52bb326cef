"""The results of `benchmarks.compare --json` as a table in Markdown.

`python -m benchmarks.results_table results.json` prints one row for each network and number of
threads: the median milliseconds of every engine, and the best other engine's over ours. It
measures nothing, and takes a second.
"""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gawee_dialect.hints import isa

OURS = "gawee"

KEYS = {"model", "threads", "engine"}
"""What every row has."""

Row = Mapping[str, object]


def read_rows(path: Path) -> Sequence[Row]:
    """Return what the comparison wrote, one object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def given_rows(text: str) -> Sequence[Row]:
    """Read the file that a command line names; raises ArgumentTypeError for another one."""
    try:
        rows = read_rows(Path(text))
    except OSError as error:
        raise ArgumentTypeError(f"cannot read '{text}': {error.strerror}") from None
    except ValueError as error:
        raise ArgumentTypeError(f"'{text}' is not what compare --json writes: {error}") from None
    if not rows or not all(isa(row, dict[str, object]) and row.keys() >= KEYS for row in rows):
        raise ArgumentTypeError(f"'{text}' is not what compare --json writes")
    return rows


def table(rows: Iterable[Row]) -> str:
    """Return the table; a dash stands for an engine that did not run.

    With `--target`, an engine that was not held to it says so.
    """
    cells: dict[tuple[object, object], dict[object, Row]] = {}
    engines: dict[object, object] = {}
    for row in rows:
        cells.setdefault((row["model"], row["threads"]), {})[row["engine"]] = row
        held = row.get("is_held", True)
        engines[row["engine"]] = row["engine"] if held else f"{row['engine']} (not held)"
    head = [
        "model",
        "threads",
        *map(str, engines.values()),
        "best peer / gawee",
        "% of limit",
        "difference",
    ]
    lines = [line(head), line("---" for _ in head)]
    for (model, threads), found in cells.items():
        ours = found.get(OURS)
        times = [cell(found.get(engine), "median_ms", ".1f") for engine in engines]
        facts = [
            cell(ours, "ratio_to_best_peer", ".2f"),
            cell(ours, "percent_of_limit", ".0f"),
            cell(ours, "difference", ".0e"),
        ]
        lines.append(line([str(model), str(threads), *times, *facts]))
    return "\n".join(lines)


def line(cells: Iterable[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def cell(row: Row | None, key: str, form: str) -> str:
    """Return a number of a row, a dash where there is none."""
    value = None if row is None else row.get(key)
    return format(value, form) if isinstance(value, int | float) else "-"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a file of results."""
    parser = ArgumentParser(prog="python -m benchmarks.results_table", description=__doc__)
    help = "what benchmarks.compare --json wrote"
    parser.add_argument("results", type=given_rows, metavar="FILE", help=help)
    sys.stdout.write(table(parser.parse_args(arguments).results) + "\n")


if __name__ == "__main__":
    main()
