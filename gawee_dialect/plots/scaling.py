"""A study as a picture: how much faster each network is on more threads, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.statistics import Ratio
from gawee_dialect.experiments.results import Results, Row
from gawee_dialect.plots.picture import COLOURS, GREY, MARKERS, PALE, picture

Point = tuple[int, Ratio]
"""Threads, and how many times less time they take than the fewest that were measured."""


def scaling_curves(results: Results) -> dict[tuple[str, str], Sequence[Point]]:
    """Return the points of each network and pipeline that ran on several numbers of threads."""
    groups: dict[tuple[str, str], dict[int, Row]] = {}
    for row in results.rows:
        if row.numbers("rounds"):
            groups.setdefault((row.network, row.pipeline), {}).setdefault(row.threads, row)
    return {
        names: [(count, _ratio(rows, count)) for count in sorted(rows)]
        for names, rows in groups.items()
        if len(rows) > 1
    }


def _ratio(rows: dict[int, Row], count: int) -> Ratio:
    few = min(rows)
    if count == few:
        return Ratio(1.0, 0.0)
    return Ratio.of_samples(rows[count].numbers("rounds"), rows[few].numbers("rounds"))


def draw_scaling(results: Results, path: str | Path) -> None:
    """Draw a study; raises GaweeError for other formats, and where one count of threads ran."""
    curves = scaling_curves(results)
    if not curves:
        message = "expected a network on several numbers of threads to draw, got none"
        raise GaweeError(Diagnostic(message, hint="give the study [[options]] with num-threads"))
    with picture(path, (6.5, 4.5), results.heading) as figure:
        axes = figure.add_subplot()
        counts = sorted({count for points in curves.values() for count, _ in points})
        axes.plot(counts, [each / counts[0] for each in counts], color=GREY, linewidth=0.8)
        for index, ((network, pipeline), points) in enumerate(curves.items()):
            shift = 0.01 * (index - len(curves) / 2) * counts[-1]
            x = [count + shift for count, _ in points]
            values = [ratio.value for _, ratio in points]
            below = [ratio.value - ratio.low for _, ratio in points]
            above = [ratio.high - ratio.value for _, ratio in points]
            axes.errorbar(
                x,
                values,
                yerr=(below, above),
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
                markersize=4.5,
                linewidth=1.2,
                capsize=2,
                label=f"{network}, {pipeline}",
            )
        axes.set_xticks(counts)
        axes.set(xlabel="threads", ylabel=f"times as fast as on {counts[0]}")
        axes.grid(visible=True, which="major", color=PALE, linewidth=0.6)
        axes.legend(loc="upper left", frameon=False)
