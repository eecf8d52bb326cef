"""One kernel of gawee-tune's search, in the process that runs the task."""

import os
import tempfile
from contextlib import chdir
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gawee_dialect.schedules.keys import Decision
from gawee_dialect.tuning.search import Outcome, Phase


@dataclass(frozen=True)
class KernelTask:
    """A kernel to tune: where a command line was given, and what was chosen before."""

    folder: str
    argv: tuple[str, ...]
    decision: Decision
    database: str
    """The text of the file of choices."""
    key: str


def tune_kernel(task: KernelTask) -> Outcome:
    """Tune one kernel in this process; raises GaweeError and OSError."""
    phase = _phase(task.folder, task.argv, task.decision, task.database)
    kernel = next(each for each in phase.kernels if each.key == task.key)
    return phase.tune(kernel, lambda _: None)


@lru_cache(maxsize=1)
def _phase(folder: str, argv: tuple[str, ...], decision: Decision, database: str) -> Phase:
    """Return the search that a kernel is part of; kernels of one network share it."""
    from gawee_dialect.tools.gawee_tune import argument_parser, make_tuner

    arguments = argument_parser().parse_all(argv)
    with tempfile.TemporaryDirectory() as temporary, chdir(folder):
        path = Path(temporary, "schedules.jsonl")
        path.write_text(database)
        tuner = make_tuner(arguments, str(path))
    tuner.path = Path(os.devnull)  # the caller keeps what is found
    return Phase(tuner, decision)
