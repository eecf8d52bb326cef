"""Parse index notation: statements of a body, every problem of it at once.

A reduction reaches as far as the product behind it: `sum(i) a[i] * b[i] + c` adds c once.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.equations.functions import PARAMETER_KINDS, WORDS
from gawee_dialect.equations.syntax import (
    COMPARISONS,
    REDUCTIONS,
    Access,
    Binary,
    Call,
    Conditional,
    Definition,
    Expression,
    Inputs,
    Name,
    Number,
    Parameter,
    Range,
    Reduction,
    Requirement,
    Return,
    Size,
    Statement,
    Unary,
    Wildcard,
    named_ranges,
    operands,
)
from gawee_dialect.located_json import Code

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


MAX_NESTING = 24
"""Of brackets inside brackets."""

MAX_DEPTH = 100
"""Of operations inside operations, those of a chain such as `a + b + c` included."""

MAX_STATEMENTS = 200

MAX_AXES = 16
"""Of one tensor."""

T = TypeVar("T")

_LEVELS: Sequence[tuple[str, ...]] = (("||",), ("&&",), COMPARISONS, ("+", "-"))
_PRODUCT = ("*", "/", "//", "%")


def parse_body(code: Code) -> Sequence[Statement]:
    """Parse a body; raises IndexNotationError that lists every problem of it."""
    return _Parser(code, words_of(code)).body()


class _Wrong(Exception):
    """A statement that cannot be read; the problem is in the list already."""


@dataclass
class _Parser:
    code: Code
    words: Sequence[Word]
    position: int = 0
    nesting: int = 0
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])

    # Words.

    @property
    def word(self) -> Word:
        return self.words[min(self.position, len(self.words) - 1)]

    def take(self, *kinds: str) -> Word | None:
        """Take the next word if it is of a kind, or is that name."""
        word = self.word
        if word.kind not in kinds and not (word.kind == "name" and word.text in kinds):
            return None
        self.position += 1
        return word

    def expect(self, kind: str, what: str | None = None) -> Word:
        """Take the next word, which is to be of a kind."""
        word = self.take(kind)
        if word is None:
            self.wrong(f"expected {what or repr(kind)}, got {self.found()}")
        return word

    def found(self) -> str:
        """Return what messages call the next word."""
        at_end = self.word.kind == END_OF_STATEMENT
        return "the end of the statement" if at_end else f"'{self.word.text}'"

    def wrong(self, message: str, offset: int | None = None, hint: str | None = None) -> NoReturn:
        """Report a problem, at the next word by default, and give the statement up."""
        at = self.word.offset if offset is None else offset
        self.problems.append(problem(self.code, at, message, hint))
        raise _Wrong

    # Statements.

    def body(self) -> Sequence[Statement]:
        """Read all statements."""
        statements: list[Statement] = []
        while self.position < len(self.words):
            if self.take(END_OF_STATEMENT):
                continue
            try:
                statements.extend(self.statement())
                if not self.take(END_OF_STATEMENT):
                    self.wrong(f"expected the end of the statement, got {self.found()}")
            except _Wrong:
                self.skip_statement()
            if len(statements) > MAX_STATEMENTS:
                message = f"expected at most {MAX_STATEMENTS} statements, got more"
                self.problems.append(problem(self.code, self.word.offset, message))
                break
        if not statements and not self.problems:
            message = "expected an equation such as y[n] = x[n], got none"
            self.problems.append(problem(self.code, 0, message))
        if self.problems:
            raise IndexNotationError(self.problems)
        return statements

    def skip_statement(self) -> None:
        """Go on behind the end of the statement."""
        self.nesting = 0
        while self.position < len(self.words) and self.word.kind != END_OF_STATEMENT:
            self.position += 1

    def statement(self) -> Sequence[Statement]:
        """Read one statement; a declaration of several names is as many."""
        start = self.expect("name", "a statement")
        match start.text:
            case "int" | "float" | "bool":
                return self.separated(lambda: self.parameter(start.text))
            case "inputs":
                return (Inputs(start.offset, self.separated(self.name)),)
            case "return":
                return (Return(start.offset, self.separated(self.name)),)
            case "require":
                return (self.requirement(start),)
            case _:
                return (self.definition(start),)

    def separated(self, read: Callable[[], T]) -> list[T]:
        """Read one or more, with commas between them."""
        found = [read()]
        while self.take(","):
            found.append(read())
        return found

    def name(self) -> Name:
        word = self.expect("name", "a name")
        if word.text in WORDS:
            self.wrong(f"expected a name, got '{word.text}', which has a meaning", word.offset)
        return Name(word.offset, word.text)

    def parameter(self, kind: str) -> Parameter:
        name = self.name()
        length = self.axis() if self.take("[") else None
        if length is not None:
            self.expect("]")
        if length is not None and not 1 <= length <= MAX_AXES:
            message = f"expected an array of 1 to {MAX_AXES} elements, got {length}"
            self.wrong(message, name.offset)
        default = self.default(kind, length) if self.take("=") else None
        return Parameter(name.offset, kind, name.name, length, default)

    def default(
        self, kind: str, length: int | None
    ) -> bool | int | float | tuple[int | float, ...]:
        start = self.word
        if length is None:
            return self.literal(kind)
        self.expect("[")
        values = tuple(self.separated(lambda: self.literal(kind)))
        self.expect("]")
        if len(values) != length:
            self.wrong(f"expected {length} elements, got {len(values)}", start.offset)
        return values

    def literal(self, kind: str) -> bool | int | float:
        if kind == "bool":
            word = self.take("true", "false")
            if word is None:
                self.wrong(f"expected true or false, got {self.found()}")
            return word.text == "true"
        sign = -1 if self.take("-") else 1
        value = self.number(self.expect("number", "a number")).value
        if kind == "int" and isinstance(value, float):
            self.wrong(f"expected an integer, got {value}", self.words[self.position - 1].offset)
        return sign * (float(value) if kind == "float" else value)

    def number(self, word: Word) -> Number:
        text = word.text
        if not text.isdigit():
            value = float(text)
            if value == float("inf"):
                self.wrong(f"expected a finite number, got {text}", word.offset, "write inf")
            return Number(word.offset, value)
        if len(text) > 18:
            self.wrong(f"expected a number of at most 18 digits, got {len(text)}", word.offset)
        return Number(word.offset, int(text))

    def axis(self) -> int:
        """Read a small number that counts axes or elements."""
        number = self.number(self.expect("number", "a number"))
        if not isinstance(number.value, int):
            self.wrong(f"expected an integer, got {number.value}", number.offset)
        return number.value

    def requirement(self, start: Word) -> Requirement:
        first = self.word
        condition = self.expression()
        self.check_depth(condition)
        last = self.words[self.position - 1]
        text = self.code.text[first.offset : last.offset + len(last.text)]
        message = self.expect("text", "a message in quotes") if self.take(",") else None
        shown = None if message is None else message.text[1:-1]
        return Requirement(start.offset, condition, " ".join(text.split()), shown)

    def definition(self, name: Word) -> Definition:
        if name.text in WORDS:
            self.wrong(f"expected a statement, got '{name.text}'", name.offset)
        if not self.take("["):
            hint = f"elements are defined: {name.text}[i, j] = ..., {name.text}[] of a single one"
            self.wrong(f"expected '[' behind '{name.text}', got {self.found()}", hint=hint)
        ranges = [] if self.word.kind == "]" else self.ranges()
        self.expect("]")
        if not self.take("="):
            self.wrong(f"expected '=', got {self.found()}", hint="an equation: y[n] = x[n]")
        value = self.expression()
        limits = [each.limit for each in named_ranges(ranges) if each.limit is not None]
        for each in (*limits, value):
            self.check_depth(each)
        return Definition(name.offset, name.text, ranges, value)

    def check_depth(self, value: Expression) -> None:
        """Refuse an expression that is too deep for recursive walks."""
        level: Sequence[Expression] = [value]
        for _ in range(MAX_DEPTH):
            level = [each for node in level for each in operands(node)]
            if not level:
                return
        message = f"expected at most {MAX_DEPTH} operations inside one another, got more"
        self.wrong(message, value.offset)

    def ranges(self) -> list[Range | Wildcard]:
        """Read indices: those of a tensor, or of a reduction."""
        found = self.separated(self.range)
        if len(found) > MAX_AXES:
            self.wrong(f"expected at most {MAX_AXES} indices, got {len(found)}")
        return found

    def range(self) -> Range | Wildcard:
        if word := self.take("..."):
            return Wildcard(word.offset)
        name = self.name()
        limit = self.binary(len(_LEVELS) - 1) if self.take("<") else None
        return Range(name.offset, name.name, limit)

    # Expressions.

    def expression(self) -> Expression:
        """Read an expression, brackets in it not too deep."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.wrong(f"expected at most {MAX_NESTING} brackets inside brackets, got more")
        condition = self.binary(0)
        if question := self.take("?"):
            yes = self.expression()
            self.expect(":")
            condition = Conditional(question.offset, condition, yes, self.expression())
        self.nesting -= 1
        return condition

    def binary(self, level: int) -> Expression:
        """Read operands with the operators of a level between them; comparisons don't chain."""
        if level == len(_LEVELS):
            return self.product()
        value = self.binary(level + 1)
        while word := self.take(*_LEVELS[level]):
            value = Binary(word.offset, word.kind, value, self.binary(level + 1))
            if _LEVELS[level] is COMPARISONS:
                break
        return value

    def product(self) -> Expression:
        value = self.unary()
        while word := self.take(*_PRODUCT):
            value = Binary(word.offset, word.kind, value, self.unary())
        return value

    def unary(self) -> Expression:
        signs: list[Word] = []
        while word := self.take("-", "!"):
            signs.append(word)
        if len(signs) > MAX_NESTING:
            message = f"expected at most {MAX_NESTING} signs, got {len(signs)}"
            self.wrong(message, signs[0].offset)
        value = self.power()
        for sign in reversed(signs):
            value = Unary(sign.offset, sign.kind, value)
        return value

    def power(self) -> Expression:
        base = self.primary()
        word = self.take("**")
        if word is None:
            return base
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.wrong(f"expected at most {MAX_NESTING} powers of powers, got more")
        power = Binary(word.offset, "**", base, self.unary())
        self.nesting -= 1
        return power

    def primary(self) -> Expression:
        word = self.word
        if self.take("number"):
            return self.number(word)
        if self.take("("):
            value = self.expression()
            self.expect(")")
            return value
        if not self.take("name"):
            self.wrong(f"expected an expression, got {self.found()}")
        if self.take("["):
            return self.access(word)
        if not self.take("("):
            return self.plain_name(word)
        if word.text == "size":
            return self.size(word)
        if word.text in REDUCTIONS and self.is_reduction(word):
            return self.reduction(word)
        arguments = self.separated(self.expression)
        self.expect(")")
        return Call(word.offset, word.text, arguments)

    def plain_name(self, word: Word) -> Expression:
        if word.text in WORDS and word.text not in PARAMETER_KINDS:
            self.wrong(f"expected an expression, got '{word.text}'", word.offset)
        return Name(word.offset, word.text)

    def access(self, tensor: Word) -> Access:
        subscripts: list[Expression | Wildcard] = []
        if self.word.kind != "]":
            subscripts = self.separated(self.subscript)
        if len(subscripts) > MAX_AXES:
            self.wrong(f"expected at most {MAX_AXES} subscripts, got {len(subscripts)}")
        otherwise = self.expression() if self.take("else") else None
        self.expect("]")
        return Access(tensor.offset, tensor.text, subscripts, otherwise)

    def subscript(self) -> Expression | Wildcard:
        word = self.take("...")
        return self.expression() if word is None else Wildcard(word.offset)

    def size(self, word: Word) -> Size:
        if self.take("..."):
            self.expect(")")
            return Size(word.offset, None)
        name = self.name()
        axis = self.axis() if self.take(",") else None
        self.expect(")")
        return Size(word.offset, name.name, axis)

    def is_reduction(self, word: Word) -> bool:
        """Whether what stands behind a name and its bracket are indices, and then a term.

        `max(a, b)` is a function, `max(i, j) x[i, j]` is not.
        """
        if word.text not in ("max", "min"):
            return True
        depth, position = 1, self.position
        while depth > 0 and position < len(self.words) - 1:
            kind = self.words[position].kind
            depth += (kind in ("(", "[")) - (kind in (")", "]"))
            position += 1
        behind = self.words[min(position, len(self.words) - 1)]
        starts = behind.kind in ("number", "(", "!")
        return starts or (behind.kind == "name" and behind.text not in WORDS)

    def reduction(self, word: Word) -> Reduction:
        ranges = self.ranges()
        condition = self.expression() if self.take("if") else None
        self.expect(")")
        if self.word.text == "\n":
            self.position += 1  # what is reduced may stand in the next line
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.wrong(f"expected at most {MAX_NESTING} reductions of reductions, got more")
        term = self.product()
        self.nesting -= 1
        return Reduction(word.offset, word.text, ranges, condition, term)
