"""A text as an editor has it: places in the protocol's units, its reading, the names in it.

A reading is of one version: the text is parsed and verified once, for its errors and the index of
its names. While the next version is being parsed, or cannot be, the index is moved along with the
edit: what stands before it stays, what stands behind it moves. If the edited lines have the names
that they had, the index is complete; otherwise it lacks what was edited.
"""

import ast
import asyncio
import os
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types
from pygls.workspace import PositionCodec
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, AttributeInvT, Operation, Region, SSAValue
from xdsl.parser import UnresolvedOperand
from xdsl.utils.lexer import Span

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir, split_chunks
from gawee_dialect.locations import line_starts
from gawee_dialect.upstream.located_parser import LocatedParser

MARK = re.compile(r"""[%@][\w$.-]*|[{}"]|//""")
"""Names, and what can make something else of a name or of its scope."""


@dataclass(eq=False)
class Name:
    """A value (or all results of an op that share a name) or a symbol, by its identity."""

    text: str
    """With its sigil, `%x` or `@main`."""
    scope: int
    """Which of the index's scopes it is visible in."""
    types: Sequence[Attribute] = ()
    """Of the values; none of a symbol."""


class Occurrence(NamedTuple):
    """A name in the text, from one offset up to another."""

    start: int
    end: int
    name: Name
    is_definition: bool


class Scope(NamedTuple):
    """A region, from its opening brace up to behind its closing one; or a whole text."""

    start: int
    end: int


@dataclass(frozen=True)
class NameIndex:
    """The names of a text: occurrences in the order of the text."""

    occurrences: Sequence[Occurrence] = ()
    scopes: Sequence[Scope] = field(default=())
    is_complete: bool = False
    """Whether every name of the text is in it."""

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [each.start for each in self.occurrences]

    def at(self, offset: int) -> Occurrence | None:
        """Return the name that an offset is in, or right behind; None where there is none."""
        found = bisect_right(self._starts, offset) - 1
        if found < 0 or self.occurrences[found].end < offset:
            return None
        return self.occurrences[found]

    def of(self, name: Name) -> Iterator[Occurrence]:
        """Yield every occurrence of a name."""
        return (each for each in self.occurrences if each.name is name)

    def definition(self, name: Name) -> Occurrence | None:
        """Return where a name is defined, None where the text does not define it."""
        return next((each for each in self.of(name) if each.is_definition), None)

    def visible(self, offset: int) -> Iterator[Occurrence]:
        """Yield the definitions that can be used at an offset, the nearest before it first."""
        for each in reversed(self.occurrences[: bisect_left(self._starts, offset)]):
            scope = self.scopes[each.name.scope]
            if each.is_definition and scope.start <= offset <= scope.end:
                yield each

    def symbols(self) -> Iterator[Occurrence]:
        """Yield the definitions of symbols."""
        defined = (each for each in self.occurrences if each.is_definition)
        return (each for each in defined if each.name.text.startswith("@"))

    def clashing(self, name: Name, text: str) -> Occurrence | None:
        """Return a definition that another text of a name would be taken for, None if none."""
        own = self.scopes[name.scope]
        for each in self.occurrences:
            other = self.scopes[each.name.scope]
            meets = own.start <= other.end and other.start <= own.end
            if meets and each.is_definition and each.name.text == text and each.name is not name:
                return each
        return None

    def moved(self, before: str, after: str) -> "NameIndex":
        """Return the index of an edited text, without what the edit may have changed."""
        start, end, shift = edited(before, after)
        marks = _kept_marks(before, after, start, end)
        starts = {} if marks is None else {old.start(): new.start() for old, new in marks}
        ends = {} if marks is None else {old.end(): new.end() for old, new in marks}

        def place(offset: int, known: Mapping[int, int]) -> int:
            moved = offset if offset <= start else max(start, offset + shift)
            return known.get(offset, moved)

        def placed(each: Occurrence) -> Occurrence | None:
            if each.start in starts:
                return each._replace(start=starts[each.start], end=ends[each.end])
            if each.end <= start:
                return each
            if each.start >= end:  # also what is typed right before a name moves it
                return each._replace(start=each.start + shift, end=each.end + shift)
            return None

        occurrences = [new for each in self.occurrences if (new := placed(each)) is not None]
        ends[len(before)] = len(after)  # what is typed at the end belongs to the whole text
        scopes = [Scope(place(each.start, starts), place(each.end, ends)) for each in self.scopes]
        return NameIndex(occurrences, scopes, self.is_complete and marks is not None)


def _kept_marks(
    before: str, after: str, start: int, end: int
) -> Sequence[tuple[re.Match[str], re.Match[str]]] | None:
    """Pair the marks of the edited lines with those of before; None where they differ."""
    first = before.rfind("\n", 0, start) + 1
    last = before.find("\n", end)
    rest = 0 if last < 0 else len(before) - last
    old = list(MARK.finditer(before, first, len(before) - rest))
    new = list(MARK.finditer(after, first, len(after) - rest))
    if [each[0] for each in old] != [each[0] for each in new]:
        return None
    return list(zip(old, new, strict=True))


def edited(before: str, after: str) -> tuple[int, int, int]:
    """Return from where to where a text was edited, and by how much what follows has moved."""
    shorter = min(len(before), len(after))
    start = _common(lambda size: before.startswith(after[:size]), shorter)
    rest = shorter - start
    behind = _common(lambda size: before.endswith(after[len(after) - size :]), rest)
    return start, len(before) - behind, len(after) - len(before)


def _common(agrees: Callable[[int], bool], most: int) -> int:
    """Return the largest size, up to `most`, at which two texts agree, by bisection."""
    least = 0
    while least < most:
        size = (least + most + 1) // 2
        least, most = (size, most) if agrees(size) else (least, size - 1)
    return least


@dataclass
class Found:
    """What is known of a chunk when the parser is done with it, or has given up."""

    uses: list[tuple[int, int, SSAValue]] = field(default_factory=list[tuple[int, int, SSAValue]])
    names: dict[SSAValue, Name] = field(default_factory=dict[SSAValue, Name])
    """The name of each value, and of each placeholder for one that was used before."""
    defined: list[tuple[int, int, Name]] = field(default_factory=list[tuple[int, int, Name]])
    symbols: dict[int, tuple[int, Name]] = field(default_factory=dict[int, tuple[int, Name]])
    """Where each symbol's name ends, and what it is, by where it begins."""
    symbol_definitions: set[int] = field(default_factory=set[int])
    scopes: list[list[int]] = field(default_factory=list[list[int]])
    is_whole: bool = True

    def occurrences(self) -> Iterator[Occurrence]:
        """Yield the names, in no order."""
        for start, end, name in self.defined:
            yield Occurrence(start, end, name, True)
        for start, end, value in self.uses:
            name = self.names.get(value)
            if name is not None:
                yield Occurrence(start, end, name, False)
        for start, (end, name) in self.symbols.items():
            yield Occurrence(start, end, name, start in self.symbol_definitions)


class Stale(Exception):
    """What is being read is out of date: there is another version of the text."""


class IndexingParser(LocatedParser):
    """The parser of all tools, which also notes where each name stands."""

    def __init__(
        self,
        ctx: Context,
        text: str,
        name: str,
        line_offset: int,
        found: Found,
        is_stale: Callable[[], bool],
    ):
        found.is_whole = False  # before the first token is read, which may be none
        super().__init__(ctx, text, name, line_offset)
        self.found = found
        self._is_stale = is_stale
        self._open = [0]
        self._names_of_symbols: dict[str, Name] = {}
        found.scopes.append([0, len(text)])

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        value = super().resolve_operand(operand, type)
        self.found.uses.append((operand.span.start, operand.span.end, value))
        return value

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        placeholders = self.forward_ssa_references.get(name, {}).values()
        defined = Name(f"%{name}", self._open[-1], [value.type for value in values])
        self.found.names.update(dict.fromkeys((*values, *placeholders), defined))
        super()._register_ssa_definition(name, values, span)
        self.found.defined.append((span.start, span.end, defined))

    def parse_optional_region(
        self, arguments: Iterable[LocatedParser.Argument] | None = None
    ) -> Region | None:
        scopes = self.found.scopes
        self._open.append(len(scopes))
        scopes.append([self.pos, len(self._text)])
        region = super().parse_optional_region(arguments)
        opened = self._open.pop()
        if region is None:
            scopes.pop()
        else:
            scopes[opened][1] = self._text.rfind("}", 0, self.pos) + 1
        return region

    def parse_optional_symbol_name(self) -> StringAttr | None:
        span = self._current_token.span
        name = super().parse_optional_symbol_name()
        if name is not None:
            known = self._names_of_symbols.setdefault(name.data, Name(span.text, 0))
            self.found.symbols[span.start] = span.end, known
        return name

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        module = super().parse_module(allow_implicit_module)
        self.found.is_whole = True
        return module

    def parse_operation(self) -> Operation:
        if self._is_stale():
            raise Stale
        start, before = self.pos, len(self.found.symbols)
        op = super().parse_operation()
        symbol = op.get_attr_or_prop("sym_name")
        if len(self.found.symbols) > before and isinstance(symbol, StringAttr):
            self._define_symbol(symbol.data, start)
        return op

    def _define_symbol(self, symbol: str, start: int) -> None:
        # In the generic form the name is a string attribute, and is no symbol's name to the parser.
        known = self._names_of_symbols.get(symbol)
        for place, (_, name) in self.found.symbols.items():
            if place >= start and name is known:
                self.found.symbol_definitions.add(place)
                return


@dataclass(frozen=True)
class Reading:
    """What a text says: its errors, in the order in which they were found, and its names."""

    errors: Sequence[Diagnostic]
    index: NameIndex
    """Complete if all of the text could be parsed, which says nothing of the verifier."""


def read(
    make_context: Callable[[], Context],
    text: str,
    name: str,
    is_stale: Callable[[], bool] = lambda: False,
) -> Reading:
    """Parse and verify a text; its chunks each by itself, as `--split-input-file` does.

    Where a chunk cannot be parsed, its names up to there are found. Raises Stale where `is_stale`
    says so meanwhile.
    """
    starts = line_starts(text)
    errors: list[Diagnostic] = []
    occurrences: list[Occurrence] = []
    scopes: list[Scope] = []
    is_whole = True
    for chunk, line in split_chunks(text):
        offset = text.index(chunk, starts[line]) if line else 0
        found = Found()

        def parser(
            ctx: Context, text: str, name: str, line_offset: int, found: Found = found
        ) -> LocatedParser:
            return IndexingParser(ctx, text, name, line_offset, found, is_stale)

        try:
            parse_mlir(make_context(), chunk, name, line, parser)
        except GaweeError as error:
            errors += error.diagnostics
        is_whole = is_whole and found.is_whole
        for known in {id(each.name): each.name for each in found.occurrences()}.values():
            known.scope += len(scopes)
        scopes += [Scope(offset + start, offset + end) for start, end in found.scopes]
        occurrences += [
            each._replace(start=offset + each.start, end=offset + each.end)
            for each in found.occurrences()
        ]
    occurrences.sort(key=lambda each: each.start)
    return Reading(errors, NameIndex(occurrences, scopes, is_whole))


# A pass of a Python file, found without running the file, and run on a module elsewhere.


TIMEOUT = 60.0
"""Seconds that a check may take: a pass may not end."""

LARGEST = 1 << 20
"""Bytes of a file that is looked through for passes."""

ERROR = re.compile(r"^(?:(.+:\d+:\d+): )?(?:internal )?error: (.*)$")

STDIN = "<stdin>"
"""How gawee-opt calls the module."""


@dataclass(frozen=True)
class PassInFile:
    """A pass that a file defines, by its name."""

    name: str
    path: Path


def passes_beside(folder: Path, loaded: Sequence[Path]) -> Iterator[PassInFile]:
    """Yield the passes of the files in a folder, and of files that were loaded; runs none."""
    for path in dict.fromkeys((*loaded, *sorted(folder.glob("*.py")))):
        yield from passes_of(path)


def passes_of(path: Path) -> Iterator[PassInFile]:
    """Yield the passes that a file defines, as far as its syntax shows."""
    try:
        text = path.read_text() if path.stat().st_size <= LARGEST else ""
        tree = ast.parse(text) if "Pass" in text else ast.Module([], [])
    except (OSError, SyntaxError, ValueError):
        return
    for kind in tree.body:
        if isinstance(kind, ast.ClassDef) and any(map(_is_pass, kind.bases)):
            yield from (PassInFile(name, path) for name in _name_of(kind))


def _is_pass(base: ast.expr) -> bool:
    return ast.unparse(base).endswith("Pass")


def _name_of(kind: ast.ClassDef) -> Iterator[str]:
    for node in kind.body:
        if isinstance(node, ast.Assign) and [*map(ast.unparse, node.targets)] == ["name"]:
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                yield node.value.value


async def check_pass(path: Path, name: str, text: str) -> Sequence[Diagnostic]:
    """Run a pass on a module and compare what both compute; returns what is wrong.

    What is wrong with the module is at `<stdin>`, what is wrong with the file at its path.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gawee_dialect.tools.gawee_opt", "-", "--load", str(path)),
        *(f"--{name}", "--check-each", "--reproducer-dir=", "-o", os.devnull),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await asyncio.wait_for(process.communicate(text.encode()), TIMEOUT)
    except TimeoutError:
        process.kill()
        await process.wait()
        return [Diagnostic(f"pass '{name}' did not end within {TIMEOUT:.0f} s")]
    if process.returncode == 0:
        return []
    return list(errors_in(said.decode(errors="replace"))) or [
        Diagnostic(f"gawee-opt ended with exit code {process.returncode}")
    ]


def errors_in(text: str) -> Iterator[Diagnostic]:
    """Yield the errors that a tool printed; lines after the first belong to the message."""
    found: Diagnostic | None = None
    for line in text.splitlines():
        match = ERROR.match(line)
        if match is not None:
            if found is not None:
                yield found
            found = Diagnostic(match[2], match[1])
        elif found is not None:
            found = Diagnostic(f"{found.message}\n{line.strip()}", found.place)
    if found is not None:
        yield found


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
