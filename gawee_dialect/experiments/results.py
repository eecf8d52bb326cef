"""What a study's folder says: its records in the study's order; nothing else is needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.statistics import Ratio
from gawee_dialect.experiments.runner import STUDY
from gawee_dialect.experiments.study import FILE, Record, latest, processor_of, read_records
from gawee_dialect.experiments.study_file import read_study
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
