"""What a study's folder says: its records in the study's order, and tables of them."""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.statistics import CONFIDENCE, Ratio, holm, noise_text, permutation_p
from gawee_dialect.experiments.runner import STUDY
from gawee_dialect.experiments.study import (
    FILE,
    Record,
    latest,
    processor_of,
    read_records,
    read_study,
)
from gawee_dialect.hints import isa


@dataclass(frozen=True)
class Row:
    """One cell as it was measured."""

    network: str
    pipeline: str
    options: str
    processor: str
    figures: Mapping[str, object]
    error: str | None
    is_baseline: bool
    threads: int = 1

    @staticmethod
    def of(record: Record) -> "Row":
        """Read a record."""
        figures = record.get("figures", {})
        error = record.get("error")
        return Row(
            str(record.get("network")),
            str(record.get("pipeline")),
            str(record.get("options")),
            processor_of(record),
            figures if isa(figures, dict[str, object]) else {},
            None if error is None else str(error),
            record.get("pipeline") == record.get("baseline"),
            threads if isinstance(threads := record.get("num_threads"), int) else 1,
        )

    @property
    def names(self) -> tuple[str, str, str]:
        """What it is of."""
        return self.network, self.pipeline, self.options

    def number(self, name: str) -> float | None:
        """Return a figure, None where it was not measured."""
        value = self.figures.get(name)
        return float(value) if isinstance(value, int | float) else None

    def numbers(self, name: str) -> Sequence[float]:
        """Return a figure that is a list of numbers, empty where it was not measured."""
        value = self.figures.get(name)
        return value if isa(value, list[float]) else []

    @property
    def ratio(self) -> Ratio | None:
        """How many times longer it takes than the baseline, None for that itself."""
        value, noise = self.number("ratio"), self.number("ratio_noise")
        return None if value is None else Ratio(value, float("inf") if noise is None else noise)


@dataclass(frozen=True)
class Results:
    """A study by its name, and its rows."""

    name: str
    rows: Sequence[Row]

    @property
    def processors(self) -> Sequence[str]:
        """What the rows were measured on."""
        return list(dict.fromkeys(row.processor for row in self.rows))

    @property
    def heading(self) -> str:
        """What stands above a picture: the study, and what it was measured on."""
        return f"{self.name}: {'; '.join(self.processors)}"

    @property
    def options(self) -> Sequence[str]:
        """The names of options that rows have."""
        return list(dict.fromkeys(row.options for row in self.rows))


def read_results(folder: str | Path) -> Results:
    """Read a study's folder; raises GaweeError where it is none, and OSError."""
    path = Path(folder)
    if not (path / STUDY).is_file():
        raise GaweeError(
            Diagnostic(
                f"expected a study's folder, got '{folder}' without {STUDY}",
                hint="gawee-experiment run makes one",
            )
        )
    study = read_study(path / STUDY)
    order = {cell.names: number for number, cell in enumerate(study.cells())}
    rows = [Row.of(record) for record in latest(read_records(path / FILE))]
    known = [row for row in rows if row.names in order]
    known.sort(key=lambda row: (row.processor, order[row.names]))
    # The file's own name is that of every study in a folder.
    name = study.name if study.name != Path(STUDY).stem else path.resolve().name
    return Results(name.removesuffix(".results"), known)


Cells = Sequence[str]
DASH = "-"
# A reader of a table has the file that a row is about, not the folder that it was measured in.
FOLDERS = re.compile(r"(?<!\S)/(?:[^\s:]+/)*")


def _scaled(row: Row, name: str, scale: float, digits: int) -> str:
    value = row.number(name)
    return DASH if value is None else f"{value * scale:.{digits}f}"


def _time(row: Row) -> str:
    noise = row.number("noise")
    stated = "" if noise is None else f" {noise_text(noise)}"
    seconds = row.number("seconds")
    return DASH if seconds is None else f"{1e3 * seconds:#.4g}{stated}"


def _ratio(row: Row) -> str:
    ratio = row.ratio
    if ratio is None:
        return "1" if row.is_baseline and not row.error else DASH
    # What is not significant is set in brackets: a reader must not take it for a finding.
    text = f"{ratio.value:.3f} {noise_text(ratio.noise)}"
    return text if ratio.is_different else f"({text})"


def _valid(row: Row) -> str:
    if "valid" not in row.figures:
        return DASH
    difference = row.number("difference")
    verdict = "yes" if row.figures["valid"] else "NO"
    return verdict if difference is None else f"{verdict}, {difference:.0e}".replace("0e+00", "0")


COLUMNS: Mapping[str, Callable[[Row], str]] = {
    "ms": _time,
    "time / baseline": _ratio,
    "compile s": lambda row: _scaled(row, "compile_seconds", 1, 2),
    "code KB": lambda row: _scaled(row, "code_bytes", 1e-3, 1),
    "workspace MB": lambda row: _scaled(row, "workspace_bytes", 1e-6, 2),
    "valid, difference": _valid,
}
"""Those of tables for readers; CSV has every figure."""


def summary(record: Record) -> str:
    """Return a record's figures in a few words."""
    row = Row.of(record)
    cells = {name: show(row) for name, show in COLUMNS.items()}
    known = {name: cell for name, cell in cells.items() if cell != DASH}
    return ", ".join(f"{name} {cell}" for name, cell in known.items())


def table_text(results: Results, format: str = "markdown") -> str:
    """Return a study as text in a format; a failed cell is a row with its error."""
    if format == "csv":
        return _csv(results)
    header, rows = table_cells(results)
    caption = f"{results.name}: {'; '.join(results.processors) or 'nothing measured'}"
    return (_latex if format == "latex" else _markdown)(caption, header, rows)


def table_cells(results: Results) -> tuple[Cells, Sequence[Cells]]:
    """Return the headings of a table for readers, and the cells of each row."""
    return _columns(results), [_row(results, row) for row in results.rows]


def _columns(results: Results) -> Cells:
    present = [name for name, show in COLUMNS.items() if any(show(r) != DASH for r in results.rows)]
    options = ["options"] if len(results.options) > 1 else []
    machine = ["processor"] if len(results.processors) > 1 else []
    return [*machine, "network", "pipeline", *options, *present]


def _row(results: Results, row: Row) -> Cells:
    own = {"processor": row.processor, "network": row.network, "pipeline": row.pipeline}
    own["options"] = row.options
    columns = _columns(results)
    cells = [own[name] if name in own else COLUMNS[name](row) for name in columns]
    if row.error is None:
        return cells
    first = next(index for index, name in enumerate(columns) if name not in own)
    error = FOLDERS.sub("", row.error)
    return [*cells[:first], f"failed: {error}", *[DASH] * (len(cells) - first - 1)]


def _markdown(caption: str, header: Cells, rows: Sequence[Cells]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines]
    return "\n".join([caption, "", *table]) + "\n"


ESCAPED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _escaped(text: str) -> str:
    found = (ESCAPED.get(each, f"\\{each}" if each in "&%$#_{}" else each) for each in text)
    return "".join(found).replace("±", r"$\pm$")


def _latex(caption: str, header: Cells, rows: Sequence[Cells]) -> str:
    body = [" & ".join(map(_escaped, row)) + r" \\" for row in (header, *rows)]
    lines = [
        r"\begin{table}",
        rf"\caption{{{_escaped(caption)}}}",
        rf"\begin{{tabular}}{{{'l' * len(header)}}}",
        r"\hline",
        body[0],
        r"\hline",
        *body[1:],
        r"\hline",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _csv(results: Results) -> str:
    """Return every figure that is one value, a column each."""
    names = dict.fromkeys(
        name
        for row in results.rows
        for name, value in row.figures.items()
        if not isinstance(value, list | dict)
    )
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["processor", "network", "pipeline", "options", *names, "error"])
    for row in results.rows:
        values = [row.figures.get(name) for name in names]
        writer.writerow([row.processor, *row.names, *values, row.error or ""])
    return file.getvalue()


# Two studies side by side: cells of one name, their ratio, and whether it is a difference.


@dataclass(frozen=True)
class Pair:
    """A cell that both studies have: the ratio of its times, and the test's verdict."""

    before: Row
    after: Row
    ratio: Ratio
    p: float
    is_significant: bool
    """Of all pairs together, by Holm's correction, and by more than the noise."""

    @property
    def verdict(self) -> str:
        """What the second is to the first: `faster`, `slower`, or, not significant, `same`."""
        if not self.is_significant:
            return "same"
        return "slower" if self.ratio.value > 1 else "faster"


def compare(before: Results, after: Results) -> Sequence[Pair]:
    """Compare the cells that two studies both have times of; raises GaweeError where none is."""
    known = {row.names: row for row in before.rows if row.numbers("rounds")}
    both = [
        (known[row.names], row)
        for row in after.rows
        if row.names in known and row.numbers("rounds")
    ]
    if not both:
        raise GaweeError(
            Diagnostic(
                "expected studies with cells of one name, got none in both",
                hint="a cell is known by its network, pipeline and options",
            )
        )
    rounds = [(first.numbers("rounds"), second.numbers("rounds")) for first, second in both]
    p_values = [permutation_p(*each) for each in rounds]
    ratios = [Ratio.of_samples(*each) for each in rounds]
    significant = holm(p_values)
    return [
        Pair(first, second, ratio, p, chance and ratio.is_different)
        for (first, second), ratio, p, chance in zip(
            both, ratios, p_values, significant, strict=True
        )
    ]


def comparison_text(before: Results, after: Results) -> str:
    """Return two studies side by side, in Markdown; raises GaweeError."""
    pairs = compare(before, after)
    lines = [
        f"{before.name} and {after.name}; `same`: no difference at {CONFIDENCE:.0%}, of all rows "
        "together",
        "",
        "| network | pipeline | options | before ms | after ms | after / before | p | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_line(pair) for pair in pairs]
    processors = [*before.processors, *after.processors]
    if len(set(processors)) > 1:
        lines += ["", f"measured on different processors: {', '.join(dict.fromkeys(processors))}"]
    return "\n".join(lines) + "\n"


def _line(pair: Pair) -> str:
    times = [row.number("seconds") or 0.0 for row in (pair.before, pair.after)]
    cells = [
        *pair.before.names,
        *(f"{1e3 * seconds:.3f}" for seconds in times),
        f"{pair.ratio.value:.3f} {noise_text(pair.ratio.noise)}",
        f"{pair.p:.4f}",
        pair.verdict,
    ]
    return f"| {' | '.join(cells)} |"
