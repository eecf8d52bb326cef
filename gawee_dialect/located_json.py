"""JSON text whose objects and arrays have locations: a reader's errors point at them.

The standard library's decoder, with its object parser wrapped; shared by all JSON formats.
"""

import json
import json.decoder
import json.scanner
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TypeAlias

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.source import Place, Source


class JsonObject(dict[str, "JsonValue"]):
    """A JSON object, and the offset of its opening brace in the text."""

    offset: int = 0


class JsonList(list["JsonValue"]):
    """A JSON array, and the offset of its opening bracket in the text."""

    __slots__ = ("offset",)

    def __init__(self, values: list["JsonValue"], offset: int) -> None:
        super().__init__(values)
        self.offset = offset


JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | JsonObject | None


def value_text(value: JsonValue) -> str:
    """Return a value as messages show it: cut where it is long, an object by that word alone."""
    if value is None:
        return "none"
    if isinstance(value, JsonObject):
        return "an object"
    text = repr(value) if isinstance(value, str | list) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "..."


# The standard library documents neither; both have kept their signature since Python 3.1.
_parse_object: Callable[..., tuple[list[tuple[str, JsonValue]], int]] = getattr(
    json.decoder, "JSONObject"
)
_parse_array: Callable[..., tuple[list[JsonValue], int]] = getattr(json.decoder, "JSONArray")
_make_scanner: Callable[[json.JSONDecoder], Callable[[str, int], tuple[JsonValue, int]]] = getattr(
    json.scanner, "py_make_scanner"
)


class _LocatedDecoder(json.JSONDecoder):
    """The standard decoder; objects and arrays have locations, repeated keys are remembered."""

    def __init__(self, *, non_finite: bool) -> None:
        if non_finite:
            super().__init__()
        else:
            super().__init__(parse_float=self._finite_number, parse_constant=self._refused_number)
        self.problems: list[tuple[int, str]] = []
        self._refused: list[str] = []
        self.parse_object = self._located_object
        self.parse_array = _located_array
        self.scan_once = _make_scanner(self)

    def _finite_number(self, token: str) -> float:
        value = float(token)
        return value if isfinite(value) else self._refused_number(token)

    def _refused_number(self, token: str) -> float:
        # The scanner doesn't say where it is; the object that closes next is around the token.
        self._refused.append(token)
        return nan

    def _located_object(
        self,
        text_and_end: tuple[str, int],
        strict: bool,
        scan_once: Callable[[str, int], tuple[JsonValue, int]],
        _hook: object,
        _pairs_hook: object,
        memo: dict[str, str],
    ) -> tuple[JsonObject, int]:
        def as_pairs(pairs: list[tuple[str, JsonValue]]) -> list[tuple[str, JsonValue]]:
            return pairs

        pairs, end = _parse_object(text_and_end, strict, scan_once, None, as_pairs, memo)
        result = JsonObject(pairs)
        result.offset = text_and_end[1] - 1
        if len(result) != len(pairs):
            self._report(result, f"expected keys to differ, got {_repeated_keys(pairs)} twice")
        for token in self._refused:
            self._report(result, f"expected a finite number, got {token}")
        self._refused.clear()
        return result, end

    def _report(self, where: JsonObject, message: str) -> None:
        self.problems.append((where.offset, message))

    def decode_all(self, text: str) -> JsonValue:
        """Decode a whole text, noting a refused number that no object is around."""
        value: JsonValue = self.decode(text)
        self.problems.extend((0, f"expected a finite number, got {t}") for t in self._refused)
        return value


def _located_array(
    text_and_end: tuple[str, int], scan_once: Callable[[str, int], tuple[JsonValue, int]]
) -> tuple[JsonList, int]:
    values, end = _parse_array(text_and_end, scan_once)
    return JsonList(values, text_and_end[1] - 1), end


def _repeated_keys(pairs: list[tuple[str, JsonValue]]) -> str:
    counts = Counter(key for key, _ in pairs)
    return ", ".join(f"'{key}'" for key, count in counts.items() if count > 1)


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def _lone_surrogates(value: JsonValue, offset: int) -> Iterator[tuple[int, str]]:
    """Yield every string that cannot be written as text again, with the object it is in."""
    if isinstance(value, JsonObject):
        for key, child in value.items():
            yield from _lone_surrogates(key, value.offset)
            yield from _lone_surrogates(child, value.offset)
    elif isinstance(value, list):
        for child in value:
            yield from _lone_surrogates(child, offset)
    elif isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
        yield offset, f"expected text, got half of a surrogate pair in {value!a}"


def decode_json(source: Source, *, non_finite: bool = False) -> JsonValue:
    """Decode JSON text; with `non_finite` also NaN and Infinity, which Python's writer makes.

    Raises GaweeError, located in the text, for text that is not JSON, for NaN, infinite or
    overflowing numbers, for a key that occurs twice in one object, and for half surrogate pairs.
    """
    text = source.text
    decoder = _LocatedDecoder(non_finite=non_finite)
    try:
        value = decoder.decode_all(text)
    except json.JSONDecodeError as error:
        raise GaweeError(_not_json(source, error)) from error
    except RecursionError as error:
        raise GaweeError(
            Diagnostic("cannot read JSON: objects are nested too deeply", source.place(0))
        ) from error
    except ValueError as error:
        raise GaweeError(Diagnostic(f"cannot read JSON: {error}", source.place(0))) from error
    if _SURROGATE_ESCAPE.search(text):
        decoder.problems.extend(_lone_surrogates(value, 0))
    if decoder.problems:
        raise GaweeError(
            Diagnostic(message, source.place(at)) for at, message in sorted(decoder.problems)
        )
    return value


def _not_json(source: Source, error: json.JSONDecodeError) -> Diagnostic:
    message = error.msg[:1].lower() + error.msg[1:]
    at_end = error.pos >= len(source.text.rstrip()) or error.msg.startswith("Unterminated string")
    hint = "the file is cut off" if at_end and source.text.strip() else None
    return Diagnostic(f"cannot read JSON: {message}", source.place(error.pos), hint=hint)


# Easy JSON: JSON with comments, trailing commas and raw text, every value with its place.
#
# `//` and `/* */` comments, a comma before a closing bracket, and a triple quote: `'''` at the end
# of a line opens, a line of `'''` alone closes, and what is between is the text as it stands. JSON
# is easy JSON too. A value with a raw text keeps the location of each of its characters, so that an
# error inside of it can be located.


MAX_CHARACTERS = 2_000_000
"""Of a text: what people write is a hundredth of it."""

MAX_DEPTH = 32
"""Of brackets inside brackets."""

MAX_VALUES = 100_000
"""Of all kinds together."""

MAX_NAME = 1000
"""Characters of what is named: operators, arguments, fields, tensors."""

MAX_PROBLEMS = 1000
"""Of a text: what is behind them is not read."""


@dataclass(frozen=True)
class Deleted:
    """The value `-`, which takes an inherited one away."""


@dataclass(frozen=True)
class Scalar:
    """A string, number, boolean or null; `breaks` says where the characters of a string are.

    Each break is an index in the string and the offset in the file of the character there; those
    that follow lie side by side.
    """

    value: str | int | float | bool | Deleted | None
    offset: int
    breaks: Sequence[tuple[int, int]] = ()

    def offset_of(self, index: int) -> int:
        """Return where in the file a character of the string is."""
        if not self.breaks:
            return self.offset
        start, offset = self.breaks[bisect_right(self.breaks, (index, 1 << 62)) - 1]
        return offset + index - start


@dataclass(frozen=True)
class Code:
    """A string that is code, and where each of its characters is."""

    text: str
    source: Source = field(repr=False, compare=False)
    scalar: Scalar = field(repr=False, compare=False)

    @staticmethod
    def of_text(text: str, name: str) -> "Code":
        """Make code of text that is in no file; messages call it by a name."""
        return Code(text, Source.of_text(text, name), Scalar(text, 0, ((0, 0),)))

    def place(self, index: int = 0) -> Place:
        """Return where a character of the text is."""
        offset = self.scalar.offset_of(index) if self.scalar.breaks else self.scalar.offset
        return Place(self.source, offset)


@dataclass(frozen=True)
class Items:
    """An array."""

    items: Sequence["Node"]
    offset: int


@dataclass(frozen=True)
class Fields:
    """An object, and where each of its keys is."""

    fields: Mapping[str, "Node"]
    offset: int
    keys: Mapping[str, int] = field(default_factory=dict[str, int])


Node: TypeAlias = Scalar | Items | Fields

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?(?![\w.])", re.ASCII)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_CHUNK = re.compile(r'[^"\\\x00-\x1f]*')
_UNICODE = re.compile(r"u([0-9a-fA-F]{4})")
_OPENS = re.compile(r"'''[ \t\r]*\n")
_CLOSES = re.compile(r"^[ \t]*'''[ \t]*,?[ \t]*(?://[^\n]*)?\r?$", re.MULTILINE)
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}


def begins_with(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether a pattern matches the first characters that are no blank and in no comment."""
    space = _SPACE.match(text)
    assert space is not None  # it matches nothing, too
    return pattern.match(text, space.end()) is not None


class Reader:
    """Reads values off a text, one after another; a subclass may accept more spellings.

    Raises GaweeError, located in the text, for what is none.
    """

    what = "JSON"

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.source = Source.of_text(text, name)
        self.position = 0
        self.values = 0
        if len(text) > MAX_CHARACTERS:
            raise self.error(f"expected at most {MAX_CHARACTERS} characters, got {len(text)}", 0)

    def error(self, message: str, offset: int | None = None) -> GaweeError:
        """Return an error at an offset, where the reader stands by default."""
        at = self.position if offset is None else offset
        return GaweeError(Diagnostic(f"cannot read {self.what}: {message}", self.source.place(at)))

    def skip_space(self) -> None:
        """Go on to the next character that is no blank and in no comment."""
        match = _SPACE.match(self.text, self.position)
        assert match is not None  # it matches nothing, too
        self.position = match.end()

    def peek(self) -> str:
        """Return the next character that counts, empty at the end."""
        self.skip_space()
        return self.text[self.position : self.position + 1]

    def take(self, character: str) -> bool:
        """Take one character, if it is the next one."""
        if self.peek() != character:
            return False
        self.position += 1
        return True

    def expect(self, character: str) -> None:
        """Take one character; raises GaweeError where there is another."""
        if not self.take(character):
            raise self.error(f"expected '{character}', got {self.found()}")

    def found(self) -> str:
        """Return what messages call the next character."""
        return f"'{self.peek()}'" if self.peek() else "the end of the text"

    def document(self) -> Node:
        """Read a value that is all of the text."""
        node = self.value(MAX_DEPTH)
        if self.peek():
            raise self.error(f"expected the end of the text, got {self.found()}")
        return node

    def value(self, depth: int) -> Node:
        """Read any value, with so many brackets inside brackets at most."""
        if depth == 0:
            raise self.error(f"expected at most {MAX_DEPTH} brackets inside brackets, got more")
        self.values += 1
        if self.values > MAX_VALUES:
            raise self.error(f"expected at most {MAX_VALUES} values, got more")
        character = self.peek()
        if character == "{":
            return self.object(depth)
        if character == "[":
            return self.array(depth)
        return self.scalar()

    def object(self, depth: int) -> Fields:
        """Read an object."""
        start = self.position
        self.expect("{")
        fields: dict[str, Node] = {}
        keys: dict[str, int] = {}
        while not self.take("}"):
            self.skip_space()
            at = self.position
            key = self.key()
            if key in fields:
                raise self.error(f"expected keys to differ, got '{key}' twice", at)
            self.expect(":")
            keys[key] = at
            fields[key] = self.value(depth - 1)
            if not self.take(",") and self.peek() != "}":
                raise self.error(f"expected ',' or '}}', got {self.found()}")
        return Fields(fields, start, keys)

    def array(self, depth: int) -> Items:
        """Read an array."""
        start = self.position
        self.expect("[")
        items: list[Node] = []
        while not self.take("]"):
            items.append(self.value(depth - 1))
            if not self.take(",") and self.peek() != "]":
                raise self.error(f"expected ',' or ']', got {self.found()}")
        return Items(items, start)

    def key(self) -> str:
        """Read the key of a field."""
        if self.peek() != '"':
            raise self.error(f"expected a key in double quotes, got {self.found()}")
        value = self.string().value
        assert isinstance(value, str)
        return value

    def scalar(self) -> Scalar:
        """Read a string, number or word."""
        character, start = self.peek(), self.position
        if character == '"':
            return self.string()
        if _OPENS.match(self.text, start):
            return self.raw_lines()
        if number := _NUMBER.match(self.text, start):
            self.position = number.end()
            return Scalar(self._number(number), start)
        word = _WORD.match(self.text, start)
        if word is None or word[0] not in _WORDS:
            raise self.error(f"expected a value, got {repr(word[0]) if word else self.found()}")
        self.position = word.end()
        return Scalar(_WORDS[word[0]], start)

    def _number(self, number: re.Match[str]) -> int | float:
        try:
            value = float(number[0]) if number[1] or number[2] else int(number[0])
        except ValueError as error:  # Python reads integers of some thousand digits
            raise self.error("expected a number of fewer digits", number.start()) from error
        if isinstance(value, float) and not isfinite(value):
            raise self.error(f"expected a finite number, got {number[0]}", number.start())
        return value

    def string(self) -> Scalar:
        """Read a string in double quotes."""
        start = self.position
        self.position += 1
        parts: list[str] = []
        breaks: list[tuple[int, int]] = []
        length = 0
        while True:
            chunk = _CHUNK.match(self.text, self.position)
            assert chunk is not None  # it matches nothing, too
            if chunk[0]:
                breaks.append((length, self.position))
                parts.append(chunk[0])
                length += len(chunk[0])
            self.position = chunk.end()
            end = self.text[self.position : self.position + 1]
            if end == '"':
                self.position += 1
                return Scalar("".join(parts), start, breaks or ((0, start + 1),))
            if end != "\\":
                raise self.error("expected a string to be closed on its line", start)
            breaks.append((length, self.position))
            parts.append(self._escape())
            length += len(parts[-1])

    def _escape(self) -> str:
        character = self.text[self.position + 1 : self.position + 2]
        unicode = _UNICODE.match(self.text, self.position + 1)
        if unicode is not None:
            self.position = unicode.end() + 0
            code = int(unicode[1], 16)
            if 0xD800 <= code < 0xE000:
                raise self.error("expected text, got half of a surrogate pair")
            return chr(code)
        if character not in _ESCAPES or not character:
            raise self.error(f"expected an escape such as \\n, got \\{character}")
        self.position += 2
        return _ESCAPES[character]

    def raw_lines(self) -> Scalar:
        """Read the lines between triple quotes, as they stand."""
        start = self.position
        opening = _OPENS.match(self.text, start)
        assert opening is not None  # the caller looked
        closing = _CLOSES.search(self.text, opening.end())
        if closing is None:
            raise self.error("expected a line of ''' that closes this text, got none", start)
        value = self.text[opening.end() : max(opening.end(), closing.start() - 1)]
        self.position = self.text.index("'''", closing.start()) + 3
        return Scalar(value, start, ((0, opening.end()),))


def decode_easy_json(text: str, name: str) -> tuple[Node, Source]:
    """Decode easy JSON; raises GaweeError, located in the text, for what is none."""
    reader = Reader(text, name)
    return reader.document(), reader.source
