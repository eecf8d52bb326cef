"""A version of a text, parsed and verified once: its errors, and the index of its names."""

import ast
import asyncio
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import AttributeInvT, Operation, Region, SSAValue
from xdsl.parser import UnresolvedOperand
from xdsl.utils.lexer import Span

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir, split_chunks
from gawee_dialect.language_server.name_index import Name, NameIndex, Occurrence, Scope
from gawee_dialect.locations import line_starts
from gawee_dialect.upstream.located_parser import LocatedParser


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
