"""JSON text whose objects and arrays have locations: a reader's errors point at them.

The standard library's decoder, with its object parser wrapped; shared by all JSON formats.
"""

import json
import json.decoder
import json.scanner
import re
from collections import Counter
from collections.abc import Callable, Iterator
from math import isfinite, nan
from typing import TypeAlias

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.source import Source


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
