"""The records of a study: a file of JSON lines that survives a kill at any moment."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.hints import isa

Record = Mapping[str, object]
FILE = "records.jsonl"


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, none where there is no file.

    A last line that was cut, by a kill while it was written, is dropped. Raises GaweeError that
    names every other line that is no record.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    lines.pop()  # what follows the last end of a line: nothing, or a line that was cut
    records: list[Record] = []
    problems: list[Diagnostic] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isa(value, dict[str, object]) and isinstance(value.get("key"), str):
            records.append(value)
        else:
            problems.append(Diagnostic("expected a record as a JSON object", f"{path}:{number}:1"))
    if problems:
        raise GaweeError(problems)
    return records


class Journal:
    """A file that records are added to, each on disk before the next is measured."""

    def __init__(self, path: Path):
        """Open or make a file; what is left of a line that was cut is removed. Raises OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        if path.exists():
            data = path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(path, whole)

    def add(self, record: Record) -> None:
        """Write a record, and wait until the disk has it; raises OSError."""
        with self.path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def latest(records: list[Record]) -> Iterator[Record]:
    """Yield the last record of each combination on each processor."""
    found: dict[tuple[object, ...], Record] = {}
    for record in records:
        names = tuple(record.get(name) for name in ("network", "pipeline", "options"))
        found[(*names, processor_of(record))] = record
    yield from found.values()


def processor_of(record: Record) -> str:
    """Return the processor that a record was measured on, by its maker's name and LLVM's."""
    machine = record.get("machine")
    if not isa(machine, dict[str, object]):
        return "unknown"
    return f"{machine.get('processor')} ({machine.get('cpu')})"
