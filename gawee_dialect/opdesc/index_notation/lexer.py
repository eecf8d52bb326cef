"""The words of index notation, each with its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.opdesc.description import Code

MAX_TEXT = 20_000
"""Characters of one body: an attention has 400."""

END_OF_STATEMENT = "\n"
"""The kind of the word that ends a statement: a line break, or a semicolon."""

_WORD = re.compile(
    r"(?P<space>[ \t\r]+|#[^\n]*)"
    r"|(?P<end>[\n;])"
    r"|(?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>\"[^\"\n]*\")"
    r"|(?P<operator>\.\.\.|//|\*\*|==|!=|<=|>=|&&|\|\||[-+*/%<>=!?:,()\[\]])",
    re.ASCII,
)
_CONTINUES = frozenset(
    (*"+-*/%<>=?:,([", "//", "**", "==", "!=", "<=", ">=", "&&", "||", "if", "else")
)
"""A line that ends with one of these goes on in the next."""

_CONTINUED = frozenset((*"+-*/%<>?:,)]", "//", "**", "==", "!=", "<=", ">=", "&&", "||"))
"""A line that begins with one of these goes on with the one before."""


@dataclass(frozen=True)
class Word:
    """A piece of a text: `kind` is number, name, text, end, or the operator itself."""

    kind: str
    text: str
    offset: int


class IndexNotationError(GaweeError):
    """Index notation that cannot be understood; lists every problem of a body."""


def problem(code: Code, offset: int, message: str, hint: str | None = None) -> Diagnostic:
    """Return a problem at a character of a body."""
    return Diagnostic(message, str(code.place(offset)), hint=hint)


def words_of(code: Code) -> list[Word]:
    """Take a body apart; line breaks inside of brackets and of what goes on are left out.

    Raises IndexNotationError at the first character that has no meaning.
    """
    if len(code.text) > MAX_TEXT:
        message = f"expected index notation of at most {MAX_TEXT} characters, got {len(code.text)}"
        raise IndexNotationError(problem(code, 0, message))
    found: list[Word] = []
    depth = 0
    for word in _words(code):
        depth += (word.kind in ("(", "[")) - (word.kind in (")", "]"))
        line_break = word.kind == END_OF_STATEMENT and word.text == "\n"
        goes_on = not found or found[-1].text in _CONTINUES or found[-1].text == "\n"
        if line_break and (depth > 0 or goes_on):
            continue
        if word.kind in _CONTINUED and found and found[-1].text == "\n":
            found.pop()
        found.append(word)
    found.append(Word(END_OF_STATEMENT, "", len(code.text)))
    return found


def _words(code: Code) -> Iterator[Word]:
    position = 0
    while position < len(code.text):
        match = _WORD.match(code.text, position)
        if match is None:
            character = code.text[position]
            message = f"expected index notation, got {character!r}"
            raise IndexNotationError(problem(code, position, message))
        kind, text = match.lastgroup, match[0]
        assert kind is not None  # every alternative is a group
        if kind == "end":
            yield Word(END_OF_STATEMENT, text, position)
        elif kind != "space":
            yield Word(text if kind == "operator" else kind, text, position)
        position = match.end()
