"""The page of docs/ about networks in int8, from what `benchmarks.compare` wrote.

    python -m benchmarks.compare --precision int8 --threads 1,2 --json int8.json
    python -m benchmarks.int8_page int8.json

It measures nothing, and takes a second. Results of all networks, threads and engines are written to
docs/int8.md; what stands there behind the line of the tables' end is kept. Those of a part are
printed, or written where `--page` says.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import product
from pathlib import Path

from benchmarks.results_table import Row, cell, given_rows, line
from benchmarks.timing import processor

PAGE = Path(__file__).parent.parent / "docs" / "int8.md"
END = "<!-- int8: end of what benchmarks.int8_page writes -->"
OURS = "gawee"
PEERS = ("onnxruntime", "openvino")
ACTIVATIONS: Mapping[str, str] = {"unsigned": "u8", "signed": "s8"}
"""Endings of names of networks by what their activations are."""
NETWORKS = ("resnet18", "resnet50", "mobilenetv2", "bert-small")
PRODUCT = "product1024"
"""A product of integers alone, of this many rows, columns and steps."""
THREADS = (1, 2)
PART_OF_LIMIT = 85.0
"""Percent of what the instruction allows that a product of integers should reach."""
LEAST: Mapping[str, tuple[float, float]] = {"resnet18": (1.1, 1.1)}
"""How much faster than the best peer a network should be: without products of bytes, and with."""
LEAST_OF_OTHERS = (1.15, 1.1)
MOST_OF_SIGNED = (1.05, 1.02)
"""The time with signed activations over that with unsigned ones, likewise."""

HEAD = """# Networks in int8

One file for all engines: ONNX Runtime's `quantize_static` in QDQ form, a scale for each filter,
ranges from eight seeded inputs. `u8` has unsigned activations, `s8` signed ones, which are that
function's default. The error is the largest difference to the output in f32 as a part of its range.

```sh
python -m benchmarks.compare --precision int8 --threads 1,2 --json int8.json
python -m benchmarks.int8_page int8.json
```

{day}, {processor}, median milliseconds.
"""


def _by_engine(rows: Iterable[Row]) -> dict[tuple[str, object], dict[str, Row]]:
    found: dict[tuple[str, object], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((str(row["model"]), row["threads"]), {})[str(row["engine"])] = row
    return found


def _time(row: Row | None) -> float | None:
    value = None if row is None else row.get("median_ms")
    return value if isinstance(value, float) else None


def _with_byte_products(row: Row) -> bool:
    return int(str(row["products_a_multiply_add"])) > 2


def _verdict(value: float | None, *, least: float = 0.0, most: float = 1e9) -> str:
    if value is None:
        return "-"
    return "yes" if least <= value <= most else "no"


def networks(rows: Iterable[Row]) -> Iterable[str]:
    """Yield the lines of the table of networks: times, errors, and how far ahead we are."""
    names = (OURS, *PEERS)
    errors = [f"error of {name}" for name in names]
    head = ["network", "threads", *names, "best peer / gawee", "at least", "met", *errors]
    yield line(head)
    yield line("---" for _ in head)
    for (model, threads), engines in _by_engine(rows).items():
        network, _, activations = model.partition(":")
        ours = engines.get(OURS)
        if network == PRODUCT or ours is None:
            continue
        least = ""
        ratio = ours.get("ratio_to_best_peer")
        if activations == "u8":
            pair = LEAST.get(network.partition("@")[0], LEAST_OF_OTHERS)
            least = f"{pair[_with_byte_products(ours)]:.2f}"
        met = _verdict(ratio, least=float(least)) if least and isinstance(ratio, float) else ""
        times = [cell(engines.get(name), "median_ms", ".2f") for name in names]
        far = [cell(engines.get(name), "difference", ".3f") for name in names]
        ahead = cell(ours, "ratio_to_best_peer", ".2f")
        yield line([model, str(threads), *times, ahead, least, met, *far])


def signed(rows: Iterable[Row]) -> Iterable[str]:
    """Yield the lines of the table of signed activations over unsigned ones."""
    found = _by_engine(rows)
    head = [
        "network",
        "threads",
        *(f"{name}, s8 / u8" for name in (OURS, *PEERS)),
        "at most",
        "met",
    ]
    yield line(head)
    yield line("---" for _ in head)
    for (model, threads), engines in found.items():
        others = found.get((model.replace(":u8", ":s8"), threads), {})
        if not model.endswith(":u8") or not others or OURS not in engines:
            continue
        ratios: list[float | None] = []
        for name in (OURS, *PEERS):
            with_sign, without = _time(others.get(name)), _time(engines.get(name))
            ratios.append(None if with_sign is None or without is None else with_sign / without)
        most = MOST_OF_SIGNED[_with_byte_products(engines[OURS])]
        shown = ["-" if each is None else f"{each:.2f}" for each in ratios]
        yield line(
            [model[:-3], str(threads), *shown, f"{most:.2f}", _verdict(ratios[0], most=most)]
        )


def products(rows: Iterable[Row]) -> Iterable[str]:
    """Yield the lines of the table of a product of integers."""
    head = [
        "product",
        "threads",
        *(OURS, *PEERS),
        "% of the instruction's limit",
        "at least",
        "met",
    ]
    yield line(head)
    yield line("---" for _ in head)
    for (model, threads), engines in _by_engine(rows).items():
        ours = engines.get(OURS)
        if not model.startswith(PRODUCT) or ours is None:
            continue
        part = ours.get("percent_of_limit")
        each = part / int(str(ours["products_a_multiply_add"])) if isinstance(part, float) else None
        times = [cell(engines.get(name), "median_ms", ".2f") for name in (OURS, *PEERS)]
        shown = "-" if each is None else f"{each:.0f}"
        met = _verdict(each, least=PART_OF_LIMIT)
        yield line([model, str(threads), *times, shown, f"{PART_OF_LIMIT:.0f}", met])


def tables(rows: Sequence[Row]) -> str:
    """Return the tables of what was compared, as far as it was."""
    made = (list(each(rows)) for each in (networks, signed, products))
    return "\n\n".join("\n".join(lines) for lines in made if len(lines) > 2) + "\n"


def lacking(rows: Iterable[Row]) -> Iterator[str]:
    """Yield what the page of docs/ has, and these results have not."""
    measured = {(row["model"], row["threads"], row["engine"]) for row in rows if "median_ms" in row}
    models = (f"{name}:{kind}" for name in (*NETWORKS, PRODUCT) for kind in ACTIVATIONS.values())
    for model, threads, engine in product(models, THREADS, (OURS, *PEERS)):
        if (model, threads, engine) not in measured:
            yield f"{engine} on {model}, threads: {threads}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page, or print what is a part of it."""
    parser = ArgumentParser(
        prog="python -m benchmarks.int8_page",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    help = "what compare --json wrote"
    add("results", type=given_rows, metavar="FILE", nargs="+", help=help)
    add("--page", type=Path, help="the page to write, whatever there is")
    options = parser.parse_args(arguments)
    text = HEAD.format(day=date.today(), processor=processor())
    for rows in options.results:
        text += f"\n## Code for {rows[0]['target']}\n\n{tables(rows)}"
    left = [each for rows in options.results for each in lacking(rows)]
    if left and options.page is None:
        sys.stdout.write(text)
        print(f"\n{PAGE.name} is left as it is: no result of {left[0]}", file=sys.stderr)
        return
    page = options.page or PAGE
    kept = page.read_text("utf-8").partition(END)[2] if page.exists() else ""
    page.write_text("".join([text, "\n", END, kept or "\n"]), "utf-8")


if __name__ == "__main__":
    main()
