"""The table that a proof ends with: what is known of each pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.table import Table


class Verdict(StrEnum):
    """What is known of a pass."""

    RUN = ""
    UNCHANGED = "unchanged"
    PROVED = "proved"
    ASSUMED = "assumed"
    CHECKED = "checked by data"
    WRONG = "wrong"


@dataclass
class Step:
    """A pass, what is known of it, and what that rests on."""

    name: str
    verdict: Verdict
    note: str = ""
    seconds: float = 0.0
    is_checked: bool = True
    """Of a pass that is not proved: whether its outputs could be checked by data."""


def summary_table(steps: Sequence[Step]) -> Table:
    """Return a table for `rich.print`: a row for each pass."""
    table = Table(title="In exact arithmetic, after each pass", title_justify="left")
    table.add_column("pass", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("seconds", justify="right")
    table.add_column("", overflow="fold")
    for step in steps:
        unchecked = "" if step.is_checked else "; could not be checked by data either"
        table.add_row(
            step.name, step.verdict.value, f"{step.seconds:.2f}", f"{step.note}{unchecked}"
        )
    return table
