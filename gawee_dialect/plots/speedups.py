"""A study as a picture: how much longer each pipeline takes than the baseline, with intervals.

A line is a pipeline, a colour a network; a bar is the interval in which the ratio lies. What is not
told apart from the baseline is hollow.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import GaweeError
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
