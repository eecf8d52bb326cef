"""Some graphs of gawee-fuzz, in the process that runs the task."""

import gc
import signal
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from gawee_dialect.fuzz.session import SECONDS, Session, Tried
from gawee_dialect.instruments.check.isolated import expendable_process


@dataclass(frozen=True)
class FuzzTask:
    """Some trials: where a command line was given, the command line, and until when."""

    folder: str
    argv: tuple[str, ...]
    numbers: range
    until: float
    marker: str | None = None
    """A file that has the number of the trial that runs. A process that has one is there for these
    trials alone, and may die of them."""

    def begin(self, number: int) -> None:
        """Say which trial runs, and end the process where it takes far too long.

        Machine code hears no signal but one that ends it.
        """
        if self.marker is not None:
            Path(self.marker).write_text(str(number))
            signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)

    @property
    def begun(self) -> int | None:
        """The number of the trial that began last, None where that is not known."""
        text = "" if self.marker is None else Path(self.marker).read_text()
        return int(text) if text else None


def try_alone(session: Session, task: FuzzTask) -> Tried:
    """Try some graphs in a process that is forked for them."""
    gc.freeze()  # what was there before is no garbage, and long to look through
    with expendable_process():
        return session.run(task.numbers, task.until, task.begin)


def try_numbers(task: FuzzTask) -> Tried:
    """Try some graphs in this process, as a command line says; raises GaweeError."""
    from gawee_dialect.tools.gawee_fuzz import parse_arguments

    with chdir(task.folder):
        _, session = parse_arguments(task.argv, ())
        return session.run(task.numbers, task.until, task.begin)
