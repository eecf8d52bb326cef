"""What each pass changes, function by function, as a diff."""

import difflib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.function_texts import FunctionText, FunctionTexts
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.upstream.printing import TextOptions

# Differences of two texts, in colour where a terminal shows them.

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


NOTHING = FunctionText()


class IRDiff(Instrument):
    """Prints what every pass changes to standard error; functions that stay are left out."""

    def __init__(self, text: TextOptions) -> None:
        self._text = text
        self._texts = FunctionTexts(text)
        self._before: Mapping[str, FunctionText] = {}

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self._texts = FunctionTexts(self._text)
        self._before = self._texts.of(module)

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._texts.note()

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if isinstance(module_pass, Pipeline):
            return
        before, after = self._before, self._texts.of(module)
        self._before = after
        name = module_pass.name
        changed = changed_functions(before, after)
        unchanged = "" if changed else ": (unchanged)"
        print(f"// -----// IR Diff of {name}{unchanged} //----- //", file=sys.stderr)
        for key in changed:
            self._print_difference(key, name, before.get(key, NOTHING), after.get(key, NOTHING))

    def _print_difference(
        self, key: str, name: str, before: FunctionText, after: FunctionText
    ) -> None:
        headings = (f"{key} before {name}", f"{key} after {name}")
        if not print_diff(before.text, after.text, headings, sys.stderr):
            print(f"{key}: only elements of elided constants differ", file=sys.stderr)


def changed_functions(
    before: Mapping[str, FunctionText], after: Mapping[str, FunctionText]
) -> list[str]:
    """Return the functions of which a pass changed the text, made it, or removed it."""
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]
