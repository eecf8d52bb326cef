"""What gawee-run prints: tables of outputs, of differences between levels, and of node times."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from gawee_dialect.backend.memory import MemoryUse
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.instruments.profile import NodeTime, time_unit
from gawee_dialect.levels import Level
from gawee_dialect.target.description import HOST, Processor
from gawee_dialect.target.machine import find_processor
from gawee_dialect.tools.run_session import Session

UNCUT = 1000
"""Columns that a table of nodes has where no terminal says how many there are."""

NARROW = 72
"""Columns below which a table of outputs would have no room for numbers."""

AnyArray = NDArray[np.generic]


@dataclass(frozen=True)
class Difference:
    """How far two arrays of one output are apart; `range` is max - min of the reference.

    `largest` is NaN where one array has a NaN that the other has not.
    """

    output: str
    largest: float
    index: tuple[int, ...]
    range: float

    @property
    def relative(self) -> float:
        """The largest difference as a part of the reference's range (absolute where that is 0)."""
        return self.largest / self.range if self.range > 0 else self.largest


def compare(output: str, array: AnyArray, reference: AnyArray) -> Difference:
    """Compare two arrays of one shape, in float64; equal NaNs and infinities are no difference."""
    left, right = array.astype(np.float64), reference.astype(np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        distance = np.where(same, 0.0, np.abs(left - right))
    finite = right[np.isfinite(right)]
    spread = float(finite.max() - finite.min()) if finite.size else 0.0
    if not distance.size:
        return Difference(output, 0.0, (), spread)
    worst = int(np.argmax(np.where(np.isnan(distance), np.inf, distance)))
    index = tuple(int(i) for i in np.unravel_index(worst, distance.shape))
    return Difference(output, float(distance.flat[worst]), index, spread)


def print_outputs(console: Console, outputs: Mapping[str, AnyArray]) -> None:
    """Print each output's shape, dtype and the numbers that show at a glance what it is."""
    if console.width < NARROW:
        for name, array in outputs.items():
            figures = (f"{what} {figure}" for what, figure in _figures(array).items())
            line = f"{name}: " + ", ".join((f"{shape_text(array.shape)} {array.dtype}", *figures))
            console.print(line, highlight=False, markup=False)
        return
    table = Table("output", "shape", "dtype", "min", "max", "mean", "argmax", title="outputs")
    for name, array in outputs.items():
        table.add_row(name, shape_text(array.shape), str(array.dtype), *_figures(array).values())
    console.print(table)


def _figures(array: AnyArray) -> dict[str, str]:
    if not array.size:
        return {}
    numbers = array.astype(np.float64)
    figures = {"min": numbers.min(), "max": numbers.max(), "mean": numbers.mean()}
    texts = {name: f"{number:.6g}" for name, number in figures.items()}
    return {**texts, "argmax": str(int(np.argmax(array)))}


def print_differences(
    console: Console, differences: Sequence[Difference], level: str, reference: str, limit: float
) -> None:
    """Print how far the outputs of two levels are apart, and whether that is within the limit."""
    table = Table(
        "output",
        "largest difference",
        "at",
        "range",
        "part of range",
        "verdict",
        title=f"{level} against {reference}",
    )
    for each in differences:
        verdict = "same" if each.relative == 0 else "close" if each.relative <= limit else "DIFFERS"
        table.add_row(
            each.output,
            f"{each.largest:.3g}",
            str(list(each.index)),
            f"{each.range:.4g}",
            f"{each.relative:.2e}",
            verdict,
        )
    console.print(table)


def print_of_nodes(console: Console, table: Table) -> None:
    """Print a table of nodes; a file or a pipe has no width of its own, and no name is folded."""
    wide = console if console.is_terminal else Console(file=console.file, width=UNCUT)
    wide.print(table)


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def print_profile(console: Console, times: Sequence[NodeTime], processor: Processor) -> None:
    """Print each node's time, the least that its work can take, and how near it comes."""
    total = sum(time.seconds for time in times)
    limits = [time.limit(processor) for time in times]
    unit, scale = time_unit(total)
    least = sum(limit.seconds for limit in limits if limit is not None)
    table = Table(title="time by node", show_footer=True, box=None, padding=(0, 1, 0, 0))
    # Names of neighbours begin alike: what is cut from them is what tells them apart.
    table.add_column("\nnode", "total", overflow="fold")
    table.add_column("\nran", overflow="ellipsis", no_wrap=True, max_width=20)
    part = f"{100 * least / total:.1f}" if total > 0 else ""
    for heading, footer in (
        (f"time\n{unit}", f"{total * scale:.3f}"),
        ("share\n%", "100.0"),
        (f"limit\n{unit}", f"{least * scale:.3f}"),
        ("set\nby", ""),
        ("GFLOP\n/s", ""),
        ("GB\n/s", ""),
        ("of limit\n%", part),
    ):
        table.add_column(heading, footer, justify="right", no_wrap=True)
    for time, limit in zip(times, limits, strict=True):
        table.add_row(
            time.node,
            time.ran,
            f"{time.seconds * scale:.3f}",
            f"{100 * time.seconds / total if total else 0.0:.1f}",
            "" if limit is None else f"{limit.seconds * scale:.3f}",
            "" if limit is None else limit.bound,
            _cell(time.gflops, 2),
            _cell(time.gbytes, 2),
            _cell(time.percent_of_limit(processor), 1),
        )
    print_of_nodes(console, table)
    console.print(f"limits of one core of {processor.summary()}", highlight=False, soft_wrap=True)
    if processor.name == HOST and processor.measured_flops is None:
        console.print("this machine was never measured: --measure does it once", highlight=False)


def print_memory(console: Console, memory: MemoryUse) -> None:
    """Print what a run needs beside code, inputs and outputs."""
    console.print(
        f"memory: {megabytes(memory.workspace)} workspace, {megabytes(memory.prepared)} prepared "
        f"weights, {megabytes(memory.parameters)} weights read as they are",
        highlight=False,
        soft_wrap=True,
    )


def megabytes(count: int) -> str:
    """Return a number of bytes as people write it, 2^20 bytes to a MB."""
    return f"{count / 2**20:.2f} MB" if count >= 2**20 else f"{count / 2**10:.1f} KB"


# gawee-run --profile: the time of each node, printed, drawn and written.


def profile(session: Session, level: Level) -> dict[str, object]:
    """Time each node, print and draw as flags say; return what goes into the JSON."""
    from gawee_dialect.instruments.profile import processor_json

    arguments = session.arguments
    processor = this_processor(measured=arguments.measure)
    times = session.model.profile(
        session.inputs, level, session.options, runs=max(3, arguments.repeat)
    )
    print_profile(session.console, times, processor)
    if session.report is not None:
        session.report.profile, session.report.processor = times, processor
    if session.trace is not None:
        session.trace.nodes(times)
    if session.memory is not None:
        print_memory(session.console, session.memory)
    if arguments.roofline is not None:
        from gawee_dialect.plots import draw_roofline

        draw_roofline(arguments.roofline, times, processor, f"{session.model.name}, level {level}")
        session.console.print(f"wrote {arguments.roofline}", highlight=False, soft_wrap=True)
    if arguments.write_profile is not None:
        write_profile(session, times)
    result: dict[str, object] = {
        "limits": processor_json(processor),
        "profile": [time.to_json(processor) for time in times],
    }
    if session.memory is not None:
        result["memory_bytes"] = asdict(session.memory)
    return result


def write_profile(session: Session, times: "Sequence[NodeTime]") -> None:
    """Write the graph as XOC with the time of each node; raises GaweeError, OSError."""
    from gawee_dialect.frontends.xoc.document import xoc_text
    from gawee_dialect.frontends.xoc.export import timed_document
    from gawee_dialect.whole_file import whole_file

    path = session.arguments.write_profile
    seconds: dict[tuple[str, str | None], float] = {}
    for time in times:  # of a recurrence there are several
        node = time.node, time.place
        seconds[node] = seconds.get(node, 0.0) + time.seconds
    model = session.model
    document = timed_document(session.graph, model.module, seconds, model.name)
    with whole_file(Path(path)) as draft:
        draft.write_text(xoc_text(document))
    session.console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def this_processor(*, measured: bool) -> Processor:
    """Describe this machine, after measuring it where a flag says so."""
    if measured:
        from gawee_dialect.backend.measure import measured_host

        return measured_host()
    return find_processor(HOST)
