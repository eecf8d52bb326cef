"""A file of choices for kernels: read into a database, and a line added to it."""

import json
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.schedules.database import Database, Entry, entry_of
from gawee_dialect.source import Source


def read_schedules(path: str | Path) -> Database:
    """Read a file of choices.

    Raises OSError, or GaweeError that names every line that cannot be read.
    """
    entries: list[Entry] = []
    problems: list[Diagnostic] = []
    for number, line in enumerate(Source.read(path).text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            entries.append(entry_of(json.loads(line), place))
        except json.JSONDecodeError as error:
            message = f"expected a JSON object, got an error at column {error.colno}: {error.msg}"
            problems.append(Diagnostic(message, place))
        except RecursionError:
            problems.append(Diagnostic("expected less nesting", place))
        except ValueError as error:
            problems.append(Diagnostic(str(error), place))
    if problems:
        raise GaweeError(problems)
    return Database(entries, str(path))


def append(path: str | Path, entry: Entry) -> None:
    """Add a line to a file of choices, in one write; raises OSError."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(entry.line())
