"""Draw a comparison: a group of bars for each network and number of threads."""

from collections.abc import Sequence

from gawee_dialect.target.description import Processor

COLOURS = ("#c0392b", "#0072b2", "#009e73", "#cc7a00", "#8e6bbf", "#606060")
WIDTH = 0.8
"""Of a group, whose distance to the next is 1."""


def draw(path: str, rows: Sequence[dict[str, object]], limits: Processor) -> None:
    """Draw each engine's speed as a multiple of the best peer's, with its median beside it."""
    from matplotlib.figure import Figure

    ran = [row for row in rows if row.get("ratio_to_best_peer") is not None]
    groups = list(dict.fromkeys((row["model"], row["threads"]) for row in ran))
    engines = list(dict.fromkeys(str(row["engine"]) for row in ran))
    figure = Figure(figsize=(max(6, 2 + 1.6 * len(groups)), 4))
    axes = figure.add_subplot()
    bar = WIDTH / max(1, len(engines))
    for number, engine in enumerate(engines):
        own = [row for row in ran if row["engine"] == engine]
        places = [groups.index((row["model"], row["threads"])) + bar * number for row in own]
        heights = [float(str(row["ratio_to_best_peer"])) for row in own]
        colour = COLOURS[number % len(COLOURS)]
        bars = axes.bar(places, heights, bar, label=engine, color=colour)
        axes.bar_label(
            bars, [f"{float(str(row['median_ms'])):.1f}" for row in own], fontsize=6, padding=1
        )
    middle = (WIDTH - bar) / 2
    names = [f"{model}\n{threads} thread{'s' * (threads != 1)}" for model, threads in groups]
    axes.set_xticks([index + middle for index in range(len(groups))], names, fontsize=8)
    axes.axhline(1, color="black", linewidth=0.6)
    axes.set_ylabel("speed, the best peer's = 1")
    axes.set_title(f"median ms above the bars\n{limits.summary()}", fontsize=7, loc="left")
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path, bbox_inches="tight")
