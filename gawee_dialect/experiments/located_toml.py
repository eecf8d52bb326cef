"""TOML text whose values have locations, so that a reader's errors can point at them.

The standard library's decoder says no places. The line of a value is the first one after the
longest beginning of the text that can be read and does not have it yet.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.hints import isa
from gawee_dialect.source import Source

Path = Sequence[str | int]
"""Keys and indices from the whole document down to a value."""

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def decode_toml(source: Source) -> Mapping[str, object]:
    """Decode TOML text; raises GaweeError, located in the text, for what is not TOML."""
    try:
        return tomllib.loads(source.text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise GaweeError(_not_toml(source, str(error))) from error
    except RecursionError as error:
        message = "cannot read TOML: values are nested too deeply"
        raise GaweeError(Diagnostic(message, f"{source.name}:1:1")) from error
    except ValueError as error:  # a number of more digits than Python reads
        message = f"cannot read TOML: {first_line(error)}"
        raise GaweeError(Diagnostic(message, f"{source.name}:1:1")) from error


def _not_toml(source: Source, text: str) -> Diagnostic:
    found = _PLACE.search(text)
    message = _PLACE.sub("", text)
    message = f"cannot read TOML: {message[:1].lower()}{message[1:]}"
    if found is None or found[1] is None:
        last = source.text.count("\n") + 1
        return Diagnostic(message, f"{source.name}:{last}:1", hint="the file is cut off")
    return Diagnostic(message, f"{source.name}:{found[1]}:{found[2]}")


def place_of(source: Source, path: Path) -> str:
    """Return `name:line:1` of a value in text that can be decoded; the whole is on line 1."""
    lines = source.text.replace("\r\n", "\n").split("\n")
    start = 1
    for number in range(1, len(lines) + 1):
        try:
            value = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue  # in the middle of a value
        if has(value, path):
            break
        start = number + 1
    return f"{source.name}:{min(start, len(lines))}:1"


def has(value: object, path: Path) -> bool:
    """Whether a document has a value at a path."""
    for step in path:
        if isinstance(step, str) and isa(value, dict[str, object]) and step in value:
            value = value[step]
        elif isinstance(step, int) and isa(value, list[object]) and step < len(value):
            value = value[step]
        else:
            return False
    return True
