"""A study on its way: cells that have no record are measured, each in a process of its own."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.experiments.cell import files_of, key_of, origin_of, record_of, this_machine
from gawee_dialect.experiments.study import (
    FILE,
    Cell,
    Journal,
    Record,
    Study,
    processor_of,
    read_records,
)
from gawee_dialect.hints import isa
from gawee_dialect.whole_file import write_file
from gawee_dialect.workers import ThisProcess, Workers

STUDY = "study.toml"
"""What the study is called in its folder."""

CELL_PROCESS = ("-m", "gawee_dialect.tools.gawee_experiment", "cell")
"""The command that measures a cell: Python's arguments, before the names of two files."""

Tell = Callable[[str], None]


def run_cell(form: Mapping[str, object]) -> Record:
    """Measure a cell in a process of its own; a crash and a timeout become its error."""
    cell = Cell.of(form)
    start, origin = perf_counter(), origin_of(cell)
    with tempfile.TemporaryDirectory() as name:
        asked, answer = Path(name, "cell.json"), Path(name, "record.json")
        asked.write_text(json.dumps(form))
        command = [sys.executable, *CELL_PROCESS, str(asked), str(answer)]
        error = _run_process(command, cell.measuring.timeout)
        if answer.exists():
            record: object = json.loads(answer.read_text())
            if isa(record, dict[str, object]):
                return record
    return record_of(cell, origin, {"error": error}, perf_counter() - start)


def _run_process(command: Sequence[str], timeout: float) -> str:
    """Run a command; return why it may have written nothing."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            _, said = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"took more than {timeout:.0f} s"
        except BaseException:
            process.kill()
            raise
    if process.returncode < 0:
        return f"stopped by {signal.Signals(-process.returncode).name}"
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[0] if lines else f"ended with exit code {process.returncode}"


@dataclass
class Progress:
    """What is to be done: the cells without a record, and how many have one."""

    todo: Sequence[Cell]
    known: int


class Run:
    """A study and its folder."""

    def __init__(self, study: Study, folder: Path, *, retry_failed: bool = False):
        """Read what the folder has; raises GaweeError and OSError."""
        self.study, self.folder = study, folder
        self._retry_failed = retry_failed
        self.journal = Journal(folder / FILE)

    def progress(self, processors: Iterable[str] | None = None) -> Progress:
        """Say what is left to measure, on this processor or on one of some.

        Raises GaweeError that names every file that is not there.
        """
        cells = list(self.study.cells())
        _check_files(cells)
        here = (
            {processor_of({"machine": this_machine()})} if processors is None else set(processors)
        )
        known = {
            record["key"]
            for record in read_records(self.journal.path)
            if processor_of(record) in here and not (self._retry_failed and "error" in record)
        }
        todo = [cell for cell in cells if key_of(cell) not in known]
        return Progress(todo, len(cells) - len(todo))

    def measure(self, todo: Sequence[Cell], workers: Workers | None = None) -> Iterator[Record]:
        """Measure cells; yield their records, each of which is on disk by then."""
        forms, origins = [cell.form() for cell in todo], [origin_of(cell) for cell in todo]
        for done in (workers or ThisProcess()).run(run_cell, forms, quiet=True):
            record = done.result
            if record is None:
                cell, origin = todo[done.number], origins[done.number]
                record = record_of(cell, origin, {"error": done.error}, 0.0)
            self.journal.add(record)
            yield record


def start(study: Study, text: str, folder: Path, *, retry_failed: bool = False) -> Run:
    """Begin or resume a study in a folder, which keeps the study's text; raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / STUDY, text)
    return Run(study, folder, retry_failed=retry_failed)


def _check_files(cells: Sequence[Cell]) -> None:
    missing = dict.fromkeys(
        name
        for cell in cells
        for name, digest in files_of(cell).items()
        if digest is None and not _is_other(cell, name)
    )
    if missing:
        raise GaweeError(
            Diagnostic(
                f"cannot open '{name}', which the study names",
                hint=f"paths are relative to {cells[0].folder}",
            )
            for name in missing
        )


def _is_other(cell: Cell, name: str) -> bool:
    """Whether a name is no file: random weights, a module of a factory."""
    modules = (text or "" for text in (cell.network.factory, *cell.measuring.evaluators))
    wheres = {text.rpartition(":")[0] for text in modules}
    return name == "random" or (name in wheres and not name.endswith(".py"))
