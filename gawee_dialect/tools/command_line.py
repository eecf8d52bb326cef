"""What the command lines share: exit codes, error reports, outputs that are whole or not there.

Exit codes: 0 done; 1 the input or the command line is wrong; 2 a bug in gawee; 3 a pass that was
to be checked could not be.
"""

import os
import re
import sys
import traceback
import warnings
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, first_line
from gawee_dialect.garbage_collection import rare_garbage_collection
from gawee_dialect.instruments.report import Unchecked
from gawee_dialect.whole_file import WriteError, write_file

DONE, WRONG_INPUT, BUG, UNCHECKED = 0, 1, 2, 3
INTERRUPTED = 130
"""As shells say it of a program that Ctrl-C ended."""


CHOICE = re.compile(r"invalid choice: '(?P<word>.*)' \(choose from (?P<choices>.*)\)$")
"""What argparse says of a value that is none of those that a flag takes."""


class CommandParser(ArgumentParser):
    """An argument parser whose complaints are one line, and that completes no abbreviation."""

    def error(self, message: str) -> NoReturn:
        hint = f"{self.prog} --help lists the flags"
        wrong = CHOICE.search(message)
        if wrong is not None:
            hint = did_you_mean(wrong["word"], re.findall(r"[^\s,']+", wrong["choices"]), hint)
        raise GaweeError(Diagnostic(message, hint=hint))

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
    """Run a tool on its arguments; report what it raises, and return the exit code.

    Where a shell asks for completions, those are written instead.
    """
    if "_ARGCOMPLETE" in os.environ:
        from gawee_dialect.tools.completion import complete

        return complete(prog)
    _open_streams()
    return _reported(prog, argv, run)


def _open_streams() -> None:
    """Put streams in the place of closed ones, which Python has none for.

    Files that are opened would get their numbers otherwise. What is written to standard output
    fails; messages are dropped, where `print` would write them to standard output.
    """
    if sys.__stdin__ is None:
        sys.stdin = open(os.devnull, encoding="utf-8")
    if sys.__stdout__ is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.__stderr__ is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _reported(prog: str, argv: Sequence[str], run: Callable[[Sequence[str]], int]) -> int:
    configure: Callable[..., None] | None = getattr(sys.stdout, "reconfigure", None)
    if configure is not None:  # names may have letters that the terminal has not
        configure(errors="backslashreplace")
    try:
        with rare_garbage_collection(), notes() as shown:
            code = run(argv)
            sys.stdout.flush()
            return UNCHECKED if code == DONE and Unchecked in shown else code
    except BrokenPipeError:  # the reader of our output has closed it, as `| head` does
        drop_output()
        return DONE
    except SystemExit as stop:  # which rich makes of the same
        if isinstance(stop.__context__, BrokenPipeError):
            return DONE
        raise
    except KeyboardInterrupt as stop:
        for note in getattr(stop, "__notes__", ()):
            print(note, file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if is_of_output(error):
            drop_output()
        if "--debug" in argv:
            traceback.print_exc()
        print(error_text(prog, error), file=sys.stderr)
        return WRONG_INPUT if isinstance(error, GaweeError | OSError | MemoryError) else BUG


def is_of_output(error: Exception) -> bool:
    """Whether standard output could not be written: all files of ours have names."""
    return isinstance(error, OSError) and error.filename is None


def drop_output() -> None:
    """Write no more to standard output: Python flushes it when it exits, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def notes() -> Generator[set[type]]:
    """Show warnings as notes of one line: what they say, and not where the source says it.

    Yields the kinds of those that were shown.
    """
    shown = set[type]()

    def show(message: Warning | str, category: type[Warning], *_: object) -> None:
        shown.add(category)
        text = f"{message}" if category is Unchecked else f"note: {message}"
        print(text, file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", Unchecked)
        warnings.showwarning = show
        yield shown


def error_text(prog: str, error: Exception) -> str:
    """Return what a tool prints for an exception: the user's mistake, or that it is a bug."""
    if isinstance(error, GaweeError):
        return str(error)
    if isinstance(error, MemoryError):
        hint = "a size in the graph may be a mistake, or this machine is too small for it"
        return f"error: out of memory: {first_line(error)}\nhint: {hint}"
    if isinstance(error, OSError):
        verb = "write" if isinstance(error, WriteError) or is_of_output(error) else "open"
        if isinstance(error, FileExistsError):
            verb = "make folder"
        what = "standard output" if is_of_output(error) else f"'{error.filename}'"
        return f"error: cannot {verb} {what}: {error.strerror or error}"
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
    """Write a file, standard output for `-`; a reader of a file never sees half of it."""
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_file(Path(path), text)
