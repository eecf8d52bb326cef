"""A profile under the limits of the machine: FLOPs a second over FLOPs a byte, a point a node.

A roof for each memory rises with the intensity up to the rate of multiply-adds. A point has the
colour of the memory that holds the node's data: its limit is the roof of that colour. Its area is
the node's share of the time. The list beside the picture names the points, the slowest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, sin
from typing import TYPE_CHECKING

from gawee_dialect.instruments.profile import NodeTime, time_unit
from gawee_dialect.plots.picture import COLOURS, GREY, picture
from gawee_dialect.target.description import GIGA, Processor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
