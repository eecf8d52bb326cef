"""Pictures of measurements; they need matplotlib, the extra `plot`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import atan2, ceil, cos, degrees, floor, log10, sin
from pathlib import Path
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.statistics import Ratio
from gawee_dialect.experiments.results import Results, Row
from gawee_dialect.instruments.profile import NodeTime, time_unit
from gawee_dialect.target.description import GIGA, Processor
from gawee_dialect.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FORMATS = (".svg", ".png")

COLOURS = ("#0072b2", "#009e73", "#cc7a00", "#c0392b", "#7b4fa3", "#555555")
"""Of categories, such as memories or networks; distinct for colour-blind readers too."""

MARKERS = "osD^vP"

GREY, PALE = "#606060", "#e4e4e4"
"""Of lines that are no data, and of the grid."""

STYLE: dict[str, object] = {
    "svg.fonttype": "none",  # text stays text: searchable, and small
    "svg.hashsalt": "gawee",  # ids are the same in every run
    "font.size": 8,
    "font.monospace": ["DejaVu Sans Mono", "monospace"],
}


def check_picture(path: str | Path) -> None:
    """Raise GaweeError where a picture cannot be written under such a name, or at all."""
    if Path(path).suffix.lower() not in FORMATS:
        supported = ", ".join(FORMATS)
        raise GaweeError(f"unsupported picture '{path}'; supported: {supported}")
    if find_spec("matplotlib") is None:
        raise GaweeError(
            Diagnostic(
                f"cannot draw '{path}': pictures need matplotlib",
                hint="pip install 'gawee-dialect[plot]'",
            )
        )


@contextmanager
def picture(
    path: str | Path, inches: tuple[float, float], heading: str, *, title: str | None = None
) -> Generator[Figure]:
    """Yield a figure to draw, and write it to an .svg or .png file; raises GaweeError and OSError.

    `heading` stands above it; `title` is what the file says it is.
    """
    check_picture(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    target = Path(path)
    metadata: dict[str, str | None] = {} if title is None else {"Title": title}
    if target.suffix.lower() == ".svg":
        metadata["Date"] = None
    with rc_context(STYLE):
        figure = Figure(figsize=inches)
        figure.suptitle(heading, fontsize=9)
        yield figure
        with whole_file(target) as draft:
            figure.savefig(str(draft), dpi=150, metadata=metadata)


LISTED = 60
"""Nodes in the list, at most: the slowest."""

ROW = 0.135
"""Inches a line of the list takes."""

NEAR = (8.0, 6.0)
"""Points of the picture (1/72 inch), across and up, within which nodes share a label."""

LABEL_SIZE = 7.0


@dataclass(frozen=True)
class Dot:
    """A node in the picture: its rank by time, and where it is."""

    rank: int
    time: NodeTime
    intensity: float
    gflops: float
    colour: str
    share: float

    @property
    def size(self) -> float:
        """The diameter in points: the area is the share of the time."""
        return (16 + 420 * self.share) ** 0.5


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """Return the area that two rectangles share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(0.0, width) * max(0.0, height)


def draw_roofline(path: str, times: Sequence[NodeTime], processor: Processor, title: str) -> None:
    """Draw a profile to an .svg or .png file; raises GaweeError and OSError."""
    ranked = sorted(times, key=lambda time: -time.seconds)
    dots = find_dots(ranked, processor)
    height = max(6.2, 0.9 + ROW * (2 + min(len(ranked), LISTED)))
    heading = f"{title}: one core of {processor.summary()}"
    with picture(path, (11.5, height), heading, title=title) as figure:
        axes, beside = figure.subplots(1, 2, width_ratios=(2.35, 1))
        figure.subplots_adjust(left=0.05, right=0.995, top=0.93, bottom=0.075, wspace=0.04)
        _draw_roofs(axes, dots, processor)
        _draw_dots(axes, dots)
        _draw_list(beside, ranked, processor)


def find_dots(ranked: Sequence[NodeTime], processor: Processor) -> list[Dot]:
    """Return the nodes that have a place in the picture: those with arithmetic and traffic."""
    total = sum(time.seconds for time in ranked) or 1.0
    names = [memory.name for memory in processor.memories]
    dots: list[Dot] = []
    for rank, time in enumerate(ranked, start=1):
        work, gflops = time.work, time.gflops
        if work is None or not work.flops or not work.bytes or not gflops:
            continue
        level = names.index(processor.memory_for(work.footprint).name)
        colour = COLOURS[min(level, len(COLOURS) - 1)]
        dots.append(Dot(rank, time, work.intensity, gflops, colour, time.seconds / total))
    return dots


def _draw_roofs(axes: Axes, dots: Sequence[Dot], processor: Processor) -> None:
    peak = processor.flops() / GIGA
    slopes = [memory.bandwidth / GIGA for memory in processor.memories]
    ridges = [peak / slope for slope in slopes]
    left = min([0.06, *(dot.intensity / 1.6 for dot in dots)])
    right = max([4 * max(ridges), *(2.5 * dot.intensity for dot in dots)])
    bottom = min([left * min(slopes), *(dot.gflops for dot in dots)]) / 1.6
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(bottom, 2 * peak))
    axes.set(xlabel="FLOPs a byte that memory moves", ylabel="GFLOP/s")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(visible=True, which="major", color="#e4e4e4", linewidth=0.6)
    for rate, name, colour, line in (
        (peak, f"multiply-adds on {processor.lanes} lanes: {peak:.4g} GFLOP/s", "black", "solid"),
        (peak / processor.lanes, "multiply-adds on one lane", GREY, "dashed"),
    ):
        start = min(ridges) if line == "solid" else left
        axes.plot([start, right], [rate, rate], color=colour, linewidth=1.2, linestyle=line)
        axes.annotate(
            name,
            (right, rate),
            xytext=(-4, 2),
            textcoords="offset points",
            color=colour,
            ha="right",
            va="bottom",
        )
    parts = zip(processor.memories, slopes, ridges, strict=True)
    for index, (memory, slope, ridge) in enumerate(parts):
        colour = COLOURS[min(index, len(COLOURS) - 1)]
        axes.plot([left, ridge], [slope * left, peak], color=colour, linewidth=1.2)
        (x, y), (end_x, end_y) = (_place(axes, at, slope * at) for at in (left, ridge))
        angle = atan2(end_y - y, end_x - x)
        along, above = (cos(angle), sin(angle)), (-sin(angle), cos(angle))
        axes.annotate(
            f"{memory.name} {slope:.3g} GB/s",
            (ridge, peak),
            xytext=(2 * above[0] - 12 * along[0], 2 * above[1] - 12 * along[1]),
            textcoords="offset points",
            color=colour,
            rotation=degrees(angle),
            rotation_mode="anchor",
            ha="right",
            va="bottom",
        )


def _place(axes: Axes, intensity: float, gflops: float) -> tuple[float, float]:
    """Return where in the picture a point is, in points from the lower left."""
    x, y = axes.transData.transform((intensity, gflops))
    return x * 72 / axes.figure.dpi, y * 72 / axes.figure.dpi


def _draw_dots(axes: Axes, dots: Sequence[Dot]) -> None:
    taken: list[Box] = []
    for dot in reversed(dots):  # the slowest on top
        (drawn,) = axes.plot(
            [dot.intensity],
            [dot.gflops],
            linestyle="none",
            marker="o",
            markersize=dot.size,
            markeredgewidth=0.5,
            markeredgecolor="white",
            color=dot.colour,
            alpha=0.8,
            zorder=3,
        )
        drawn.set_gid(f"node-{dot.rank}")
        x, y = _place(axes, dot.intensity, dot.gflops)
        half = dot.size / 2
        taken.append(Box(x - half, y - half, x + half, y + half))
    for group in _near_each_other(axes, dots):
        _draw_label(axes, group, taken)


def _near_each_other(axes: Axes, dots: Sequence[Dot]) -> list[list[Dot]]:
    """Group the dots whose labels would cover each other; a group is labelled at its first."""
    groups: list[tuple[float, float, list[Dot]]] = []
    for dot in dots:
        x, y = _place(axes, dot.intensity, dot.gflops)
        for other_x, other_y, group in groups:
            if abs(x - other_x) < NEAR[0] and abs(y - other_y) < NEAR[1]:
                group.append(dot)
                break
        else:
            groups.append((x, y, [dot]))
    return [group for _, _, group in groups]


def _draw_label(axes: Axes, group: Sequence[Dot], taken: list[Box]) -> None:
    """Write a group's ranks beside its first dot, on the side that covers the least."""
    first = group[0]
    text = ", ".join(str(dot.rank) for dot in group)
    x, y = _place(axes, first.intensity, first.gflops)
    away, width, height = first.size / 2 + 2, 0.58 * LABEL_SIZE * len(text), LABEL_SIZE
    sides = {
        (away, -height / 2): "left",
        (-away, -height / 2): "right",
        (0.0, away): "center",
        (0.0, -away - height): "center",
        (away, away): "left",
        (away, -away - height): "left",
    }
    starts = {"left": 0.0, "right": width, "center": width / 2}

    def box(offset: tuple[float, float]) -> Box:
        left, bottom = x + offset[0] - starts[sides[offset]], y + offset[1]
        return Box(left, bottom, left + width, bottom + height)

    best = min(sides, key=lambda offset: sum(box(offset).overlap(each) for each in taken))
    taken.append(box(best))
    axes.annotate(
        text,
        (first.intensity, first.gflops),
        xytext=best,
        textcoords="offset points",
        ha=sides[best],
        va="bottom",
        fontsize=LABEL_SIZE,
        zorder=4,
    )


def _list_lines(ranked: Sequence[NodeTime], processor: Processor) -> list[str]:
    """Say what the numbers at the dots stand for; a node without a number has no arithmetic."""
    whole = sum(time.seconds for time in ranked) or 1.0
    unit, scale = time_unit(whole)
    lines = [f"{'':>3} {'node':<26} {unit:>9} {'%':>5} {'of limit':>9}"]
    drawn = {dot.rank for dot in find_dots(ranked, processor)}
    for rank, time in enumerate(ranked[:LISTED], start=1):
        name = time.node if len(time.node) <= 26 else f"{time.node[:25]}…"
        percent = time.percent_of_limit(processor)
        number, of_limit = (
            rank if rank in drawn else "",
            "" if percent is None else f"{percent:.1f}%",
        )
        length, share = scale * time.seconds, 100 * time.seconds / whole
        lines.append(f"{number:>3} {name:<26} {length:>9.3f} {share:>5.1f} {of_limit:>9}")
    if len(ranked) > LISTED:
        rest = sum(time.seconds for time in ranked[LISTED:])
        lines.append(f"{'':>3} {len(ranked) - LISTED:>4} {'others':<21} {scale * rest:>9.3f}")
    return lines


def _draw_list(axes: Axes, ranked: Sequence[NodeTime], processor: Processor) -> None:
    axes.set_axis_off()
    for index, line in enumerate(_list_lines(ranked, processor)):
        axes.annotate(
            line.replace(" ", "\N{NO-BREAK SPACE}"),  # SVG would make one space of several
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, -72 * ROW * index),
            textcoords="offset points",
            family="monospace",
            fontsize=6.5,
            fontweight="normal" if index else "bold",
            va="top",
        )


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
