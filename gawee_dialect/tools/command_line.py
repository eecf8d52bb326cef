"""What the command lines share: exit codes, error reports, files that are whole or not there.

Exit codes: 0 done; 1 the input or the command line is wrong; 2 a bug in gawee.
"""

import os
import sys
import traceback
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copymode
from typing import NoReturn

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, first_line
from gawee_dialect.garbage_collection import rare_garbage_collection

DONE, WRONG_INPUT, BUG = 0, 1, 2


class CommandParser(ArgumentParser):
    """An argument parser whose complaints are one line, and that completes no abbreviation."""

    def error(self, message: str) -> NoReturn:
        raise GaweeError(Diagnostic(message, hint=f"{self.prog} --help lists the flags"))

    def actions(self) -> list[Action]:
        """Return every argument, for the reference page."""
        return self._actions

    def with_values_attached(self, words: Sequence[str]) -> list[str]:
        """Return a command line in which flags with an optional value have it after `=` alone.

        LLVM's flags may stand alone; argparse would take the file name behind them for the value.
        """
        alone = {
            spelling: str(action.const).lower()
            for action in self._actions
            if action.nargs == "?"
            for spelling in action.option_strings
        }
        return [f"{word}={alone[word]}" if word in alone else word for word in words]

    def flags(self) -> list[str]:
        """Return every spelling of every flag."""
        return [spelling for action in self._actions for spelling in action.option_strings]

    def parse_all(self, argv: Sequence[str]) -> Namespace:
        """Read a command line; raises GaweeError, with the nearest flag, for an unknown one."""
        arguments, unknown = self.parse_known_args(argv)
        if unknown:
            hint = did_you_mean(unknown[0], self.flags(), f"{self.prog} --help lists the flags")
            raise GaweeError(Diagnostic(f"unknown argument '{unknown[0]}'", hint=hint))
        return arguments


def run_tool(prog: str, argv: Sequence[str], run: Callable[[Sequence[str]], int]) -> int:
    """Run a tool on its arguments; report what it raises, and return the exit code."""
    try:
        with rare_garbage_collection():
            return run(argv)
    except BrokenPipeError:
        # The reader of our output is gone; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG_INPUT
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if "--debug" in argv:
            traceback.print_exc()
        print(error_text(prog, error), file=sys.stderr)
        return WRONG_INPUT if isinstance(error, GaweeError | OSError) else BUG


def error_text(prog: str, error: Exception) -> str:
    """Return what a tool prints for an exception: the user's mistake, or that it is a bug."""
    if isinstance(error, GaweeError):
        return str(error)
    if isinstance(error, OSError):
        return f"error: cannot open '{error.filename}': {error.strerror}"
    # xDSL adds the whole module as a note; --debug shows it with the traceback.
    lines = [note for note in getattr(error, "__notes__", ()) if "\n" not in note.strip()]
    notes = "".join(f"\n  {note}" for note in lines)
    kind = type(error).__name__
    detail = f": {first_line(error)}" if str(error) else ""
    return (
        f"internal error: {kind}{detail}{notes}\n"
        f"hint: this is a bug, not a mistake of yours; {prog} --debug shows the traceback"
    )


def write_text(path: str, text: str) -> None:
    """Write a file, standard output for `-`; a reader never sees half of it.

    The text goes to a temporary file beside the target, which then takes the target's name.
    """
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file():  # a device or a pipe keeps being one
        target.write_text(text)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text)
        if target.exists():
            copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        temporary.unlink(missing_ok=True)
