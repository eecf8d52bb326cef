"""A study as a picture: seconds that were measured over those that the limits predict."""

from __future__ import annotations

from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.experiments.results import Results
from gawee_dialect.plots.picture import COLOURS, GREY, MARKERS, PALE, picture


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
