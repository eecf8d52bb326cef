"""Measure the study, or what is left of it, and write docs/passes_study.md and its figure.

    python -m benchmarks.passes_study

That takes about half an hour on a quiet machine; what was measured is kept, so that the same
command goes on where it was stopped. Until all is measured, what there is is printed, and the page
is left as it is. Other flags are those of `gawee-experiment run`.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.experiments.results import Results, Row, read_results, table_text
from gawee_dialect.experiments.study import read_study
from gawee_dialect.plots import draw_speedups
from gawee_dialect.tools.gawee_experiment import main as gawee_experiment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STUDY = HERE / "study.toml"
RESULTS = ROOT / "build" / "passes_study"
PAGE, FIGURE = ROOT / "docs" / "passes_study.md", ROOT / "docs" / "passes_study.svg"

HEAD = """\
# What does each pass gain?

<!-- Written by benchmarks/passes_study; `make study` measures and writes it. -->

Every pass of the pipeline that can be left out is left out, on five small networks, on one thread. The study is
`benchmarks/passes_study/study.toml`, for [`gawee-experiment`](experiments.md); `make study` measures it, and goes on where it was stopped.

![Time without a pass, by the time with all](passes_study.svg)

A ratio of 1.20 says that a network takes a fifth more time without the pass. Ratios in brackets are not significantly different from 1, at 99 %. A row
that failed is a pass that what follows cannot do without.
"""


def summary(results: Results) -> str:
    """Return a table of passes by networks: the ratio of each, from the largest gain on."""
    networks = list(dict.fromkeys(row.network for row in results.rows))
    pipelines = dict.fromkeys(row.pipeline for row in results.rows if not row.is_baseline)
    found = {(row.network, row.pipeline): row for row in results.rows}
    lines = ["| | " + " | ".join(networks) + " |", "|---" * (1 + len(networks)) + "|"]

    def most(pipeline: str) -> float:
        rows = (found.get((network, pipeline)) for network in networks)
        return max((row.ratio.value for row in rows if row and row.ratio), default=0.0)

    for pipeline in sorted(pipelines, key=most, reverse=True):
        cells = (_cell(found.get((network, pipeline))) for network in networks)
        lines.append(f"| {pipeline} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    if row.error is not None or row.ratio is None:
        return "fails"
    text = f"{row.ratio.value:.2f}"
    return text if row.ratio.is_different else f"({text})"


def page(results: Results) -> str:
    """Return the page: both tables."""
    return "\n".join([HEAD, summary(results), "", "## Every figure", "", table_text(results)])


def lacking(results: Results) -> Sequence[str]:
    """Return the cells of the study that have no row."""
    found = {row.names for row in results.rows}
    return [", ".join(each.names) for each in read_study(STUDY).cells() if each.names not in found]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; returns the exit code."""
    parser = ArgumentParser(
        prog="python -m benchmarks.passes_study",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the study's folder")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    options, rest = parser.parse_known_args(arguments)
    if not options.page:
        code = gawee_experiment(["run", str(STUDY), "-o", str(options.results), *rest])
        if code or "--list" in rest:
            return code
    try:
        results = read_results(options.results)
        left = lacking(results)
        if left:
            sys.stdout.write(f"{summary(results)}\n")
            print(f"\n{PAGE.name} is left as it is: no result of {left[0]}", file=sys.stderr)
            return 0
        draw_speedups(results, FIGURE)
    except GaweeError as error:
        print(error, file=sys.stderr)
        return 1
    PAGE.write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
