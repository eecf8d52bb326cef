"""Differences of two texts, in colour where a terminal shows them."""

import difflib
import os
from collections.abc import Iterator
from typing import TextIO

_RED, _GREEN, _CYAN, _BOLD, _PLAIN = "\033[31m", "\033[32m", "\033[36m", "\033[1m", "\033[0m"
# The first that fits: the two lines of the heading begin as removed and added lines do.
_COLORS = (("---", _BOLD), ("+++", _BOLD), ("@@", _CYAN), ("-", _RED), ("+", _GREEN))


def diff_lines(before: str, after: str, names: tuple[str, str]) -> Iterator[str]:
    """Yield the lines of a unified diff; none where the texts are the same."""
    return difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")


def wants_color(stream: TextIO) -> bool:
    """Whether a stream is a terminal, and the user has not said NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def painted(line: str) -> str:
    """Return a line of a diff in its color."""
    color = next((color for start, color in _COLORS if line.startswith(start)), None)
    return line if color is None else f"{color}{line}{_PLAIN}"


def print_diff(before: str, after: str, names: tuple[str, str], stream: TextIO) -> bool:
    """Print the differences, and return whether there are any."""
    color = wants_color(stream)
    lines = [painted(line) if color else line for line in diff_lines(before, after, names)]
    for line in lines:
        print(line, file=stream)
    return bool(lines)
