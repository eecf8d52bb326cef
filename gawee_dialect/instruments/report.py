"""How instruments and tools print tables beside the IR, which has standard output for itself."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


class Unchecked(UserWarning):
    """A pass that was to be checked could not be: a tool that says so has an exit code for it."""

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(f"{place}: warning: {message}" if place else f"warning: {message}")


def print_table(table: "Table") -> None:
    """Print a table to standard error; a file of it is wider than a small terminal."""
    # Imported here: only tables need it.
    from rich.console import Console

    Console(stderr=True, width=None if sys.stderr.isatty() else 120).print(table)
