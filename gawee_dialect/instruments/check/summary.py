"""The table that a check ends with: how far each pass moved the outputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from gawee_dialect.instruments.check.compare import Difference


@dataclass
class Step:
    """One run: the pass before it, what it declares, what ran, and the largest differences."""

    name: str
    declared: str
    engine: str = ""
    absolute: float = 0.0
    relative: float = 0.0
    """The largest difference as a part of its output's largest magnitude."""

    ulp: int | None = 0
    """None where a NaN or an infinity stands against a number, and for integers that differ."""

    seconds: float = 0.0
    note: str = ""

    def add(self, found: Difference) -> None:
        """Take in the difference of one output."""
        self.absolute = max(self.absolute, found.absolute)
        self.relative = max(self.relative, found.relative)
        self.ulp = None if self.ulp is None or found.ulp is None else max(self.ulp, found.ulp)


def summary_table(steps: Sequence[Step]) -> Table:
    """Return a table for `rich.print`: a row for each run."""
    title = "Outputs after each pass against those before it: the largest differences"
    table = Table(title=title, title_justify="left")
    table.add_column("pass", no_wrap=True)
    table.add_column("numerics", no_wrap=True)
    table.add_column("ran in", no_wrap=True)
    for heading in ("absolute", "relative", "ulp", "seconds"):
        table.add_column(heading, justify="right")
    table.add_column("", overflow="fold")
    for step in steps:
        measured = bool(step.declared and step.engine)
        table.add_row(
            step.name,
            step.declared,
            step.engine,
            f"{step.absolute:.3g}" if measured else "",
            f"{step.relative:.2g}" if measured else "",
            ("-" if step.ulp is None else str(step.ulp)) if measured else "",
            f"{step.seconds:.2f}",
            step.note,
        )
    return table
