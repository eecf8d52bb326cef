"""Some graphs of gawee-fuzz, in whatever process is asked for them."""

import os
from contextlib import nullcontext
from dataclasses import dataclass

from gawee_dialect.fuzz.session import Tried
from gawee_dialect.instruments.check.isolated import expendable_process
from gawee_dialect.tools.plugin_file import loaded_files, split_load_flags


@dataclass(frozen=True)
class FuzzTask:
    """Some trials: where a command line was given, the command line, and until when."""

    folder: str
    argv: tuple[str, ...]
    numbers: range
    until: float
    is_alone: bool = True
    """Whether the process is there for these alone, and may die of them."""


def try_numbers(task: FuzzTask) -> Tried:
    """Try some graphs in this process; raises GaweeError and OSError."""
    from gawee_dialect.tools.gawee_fuzz import PROG, argument_parser, parse_arguments

    if os.getcwd() != task.folder:
        os.chdir(task.folder)
    paths, rest = split_load_flags(PROG, task.argv)
    with loaded_files(paths, flags=argument_parser().flags()) as loaded:
        _, session = parse_arguments(rest, loaded.oracles)
        with expendable_process() if task.is_alone else nullcontext():
            return session.run(task.numbers, task.until)
