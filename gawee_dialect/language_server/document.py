"""A text as an editor has it: places in the protocol's units, its reading, the words in it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lsprotocol import types
from pygls.workspace import PositionCodec
from xdsl.context import Context
from xdsl.ir import Operation

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.language_server.name_index import NameIndex, Occurrence
from gawee_dialect.language_server.reading import Reading
from gawee_dialect.locations import line_starts

SOURCE = "gawee"
"""The source that editors show beside a diagnostic."""

TOKEN = re.compile(r"""[%@^#!]?[\w$.-]+|"(?:[^"\\]|\\.)*"|\S""")
WORD = re.compile(r"[A-Za-z_][\w$.]*")
OP_ON_LINE = re.compile(r"""^\s*(?:[%\w$.:,\s-]+=\s*)?"?([a-z_]\w*\.[\w.]+)""")


@dataclass
class Document:
    """One version of a text, and what is known of it."""

    uri: str
    text: str
    codec: PositionCodec
    index: NameIndex = field(default_factory=NameIndex)
    errors: Sequence[Diagnostic] = ()
    _starts: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = line_starts(self.text)

    def edit(self, text: str) -> None:
        """Take the next version, in which known names have moved along."""
        self.index = self.index.moved(self.text, text)
        self.text, self._starts = text, line_starts(text)

    def take(self, reading: Reading) -> None:
        """Take what the parser found; where it could not go on, the names that were known stay."""
        self.errors = reading.errors
        if reading.index.is_complete or not self.index.occurrences:
            self.index = reading.index
        else:
            self.index = replace(self.index, is_complete=False)

    def line(self, number: int) -> str:
        """Return a line, counted from 0, without its end."""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end].rstrip("\r\n")

    def line_of(self, offset: int) -> int:
        """Return the line of an offset, counted from 0."""
        return bisect_right(self._starts, offset) - 1

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position."""
        number = min(position.line, len(self._starts) - 1)
        line, column = self.line(number), position.character
        if not line.isascii():
            here = types.Position(0, column)
            column = self.codec.position_from_client_units([line], here).character
        return self._starts[number] + min(column, len(line))

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        number = self.line_of(offset)
        before = self.text[self._starts[number] : offset]
        units = len(before) if before.isascii() else self.codec.client_num_units(before)
        return types.Position(number, units)

    def range(self, start: int, end: int) -> types.Range:
        """Return the range from one offset up to another."""
        return types.Range(self.position(start), self.position(end))

    def location(self, occurrence: Occurrence) -> types.Location:
        """Return where a name stands."""
        return types.Location(self.uri, self.range(occurrence.start, occurrence.end))

    def before(self, offset: int) -> str:
        """Return the line of an offset up to it."""
        return self.text[self._starts[self.line_of(offset)] : offset]

    def word_at(self, offset: int) -> tuple[str, types.Range] | None:
        """Return the word that an offset is in; None where there is none."""
        number = self.line_of(offset)
        start = self._starts[number]
        for found in WORD.finditer(self.line(number)):
            if found.start() <= offset - start <= found.end():
                return found[0], self.range(start + found.start(), start + found.end())
        return None

    def op_on_line(self, offset: int) -> str | None:
        """Return the name of the op that the line of an offset begins with, up to the offset."""
        found = OP_ON_LINE.match(self.before(offset))
        return None if found is None else found[1]

    def problem(self, error: Diagnostic) -> types.Diagnostic:
        """Return an error as editors show it: its place is the token that stands there."""
        line, column = place_of(error)
        line = min(line, len(self._starts))
        start = self._starts[line - 1] + min(column - 1, len(self.line(line - 1)))
        token = TOKEN.match(self.text, start)
        node = f'\nnode "{error.node}"' if error.node else ""
        hint = f"\nhint: {error.hint}" if error.hint else ""
        return types.Diagnostic(
            self.range(start, start if token is None else token.end()),
            f"{error.message}{node}{hint}",
            severity=types.DiagnosticSeverity.Error,
            source=SOURCE,
        )

    def problems(self) -> list[types.Diagnostic]:
        """Return all errors."""
        return [self.problem(each) for each in self.errors]

    def folds(self) -> Iterator[types.FoldingRange]:
        """Yield the regions that span lines, without the line of the closing brace."""
        for start, end in self.index.scopes:
            first, last = self.line_of(start), self.line_of(max(start, end - 1)) - 1
            if last > first and self.text[start : start + 1] == "{":
                yield types.FoldingRange(first, last)


def place_of(error: Diagnostic) -> tuple[int, int]:
    """Return the line and the column of an error, both from 1; the first where it has no place."""
    _, line, column = (error.place or ":1:1").rsplit(":", 2)
    return int(line), int(column)


def find_op(ctx: Context, name: str) -> type[Operation] | None:
    """Return the op of a name, None where there is none."""
    return ctx.get_optional_op(name, dialect_stack=["func"])
