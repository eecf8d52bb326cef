"""A study as a picture: how much longer each pipeline takes than the baseline, with intervals.

A line is a pipeline, a colour a network; a bar is the interval in which the ratio lies. What is not
significantly different from the baseline is hollow.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.statistics import Ratio
from gawee_dialect.experiments.results import Results, Row
from gawee_dialect.plots.picture import COLOURS, GREY, MARKERS, PALE, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_INCHES, FRAME_INCHES, WIDTH_INCHES = 0.42, 1.1, 8.0
WIDEST = 10.0
"""An interval is drawn to this factor of its ratio at most."""
LOGARITHMIC = 3.0
"""Ratios that are further apart than this are drawn on a logarithmic axis."""


def draw_speedups(results: Results, path: str | Path) -> None:
    """Draw a study; raises GaweeError for other formats, and where there is nothing to draw."""
    rows = [row for row in results.rows if row.ratio is not None]
    if not rows:
        raise GaweeError("expected ratios to a baseline to draw, got none")
    labels = list(dict.fromkeys(map(_label, rows)))
    height = FRAME_INCHES + ROW_INCHES * len(labels)
    with picture(path, (WIDTH_INCHES, height), results.heading) as figure:
        axes = figure.add_subplot()
        _draw(axes, rows, labels)
        figure.subplots_adjust(left=0.3, right=0.98, top=1 - 0.45 / height, bottom=0.55 / height)


def _label(row: Row) -> str:
    return row.pipeline if row.options == "default" else f"{row.pipeline}, {row.options}"


def _draw(axes: Axes, rows: Sequence[Row], labels: Sequence[str]) -> None:
    networks = list(dict.fromkeys(row.network for row in rows))
    ends = [1.0]
    for index, network in enumerate(networks):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        shift = 0.6 * ((index + 0.5) / len(networks) - 0.5)
        for row in (each for each in rows if each.network == network):
            ratio, y = row.ratio, labels.index(_label(row)) + shift
            assert ratio is not None
            low, high = max(ratio.low, ratio.value / WIDEST), min(ratio.high, ratio.value * WIDEST)
            ends += [low, high]
            axes.plot([low, high], [y, y], color=colour, linewidth=1.2)
            face = colour if ratio.is_different else "white"
            axes.plot(
                [ratio.value],
                [y],
                color=colour,
                marker=marker,
                markersize=4.5,
                markerfacecolor=face,
            )
        axes.plot([], [], color=colour, marker=marker, linestyle="none", label=network)
    axes.plot([1, 1], [-0.6, len(labels) - 0.4], color=GREY, linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(labels)), labels)
    axes.set(
        xlim=(0.98 * min(ends), 1.02 * max(ends)),
        ylim=(len(labels) - 0.4, -0.6),
        xlabel="time / time of the baseline (right of 1: slower)",
    )
    if max(ends) > LOGARITHMIC * min(ends):
        _count_by_factors(axes, min(ends), max(ends))
    axes.grid(visible=True, which="major", color=PALE, linewidth=0.6)
    axes.legend(loc="lower right", frameon=False)


def _count_by_factors(axes: Axes, low: float, high: float) -> None:
    """Make the axis of ratios logarithmic, with the numbers that a reader would write."""
    low, high = low / 1.05, high * 1.05
    axes.set(xscale="log", xlim=(low, high))
    decades = range(floor(log10(low)), ceil(log10(high)))
    ticks = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)


# A study as a picture: seconds that were measured over those that the limits predict.


def prediction_points(results: Results) -> dict[str, list[tuple[float, float]]]:
    """Return predicted and measured seconds of what ran on one thread, by network."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in results.rows:
        predicted, measured = row.number("predicted_seconds"), row.number("seconds")
        if row.threads == 1 and predicted and measured:
            points.setdefault(row.network, []).append((predicted, measured))
    return points


def draw_predictions(results: Results, path: str | Path) -> None:
    """Draw a study; raises GaweeError for other formats, and where nothing was predicted."""
    points = prediction_points(results)
    if not points:
        message = "expected predicted times on one thread to draw, got none"
        hint = 'add "cost" and "time" to the study\'s evaluators'
        raise GaweeError(Diagnostic(message, hint=hint))
    with picture(path, (5.5, 5.0), results.heading) as figure:
        axes = figure.add_subplot()
        all_ms = [1e3 * each for pairs in points.values() for pair in pairs for each in pair]
        ends = 0.7 * min(all_ms), 1.4 * max(all_ms)
        axes.plot(ends, ends, color=GREY, linewidth=0.8)
        for index, (network, pairs) in enumerate(points.items()):
            axes.plot(
                [1e3 * predicted for predicted, _ in pairs],
                [1e3 * measured for _, measured in pairs],
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
                markersize=4.5,
                linestyle="none",
                label=network,
            )
        axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
        axes.set(xlabel="ms that the limits predict, kernel by kernel", ylabel="ms measured")
        axes.grid(visible=True, which="major", color=PALE, linewidth=0.6)
        axes.legend(loc="upper left", frameon=False)


# A study as a picture: how much faster each network is on more threads, with intervals.

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
