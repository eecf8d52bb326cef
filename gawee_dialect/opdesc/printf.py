"""The messages of checks: printf's formats, as far as descriptions use them."""

import re
from collections.abc import Iterator, Sequence

from gawee_dialect.opdesc.c_values import DOUBLE, LONG, EvaluationError, Value, converted

_DIRECTIVE = re.compile(
    r"%(?:%|([-+ 0#]*)(\d{0,3})(?:\.(\d{1,3}))?(?:hh|h|ll|l|z)?(.?))", re.DOTALL
)
_KINDS = {"d": "d", "i": "d", "u": "d", "x": "x", "s": "s", "f": "f", "g": "g", "e": "e"}

MAX_MESSAGE = 2000


def directives(format: str) -> Iterator[str]:
    """Yield the letter of every argument that a format wants; empty for one that it can't."""
    for found in _DIRECTIVE.finditer(format):
        if found[0] != "%%":
            yield _KINDS.get(found[4] or "", "")


def formatted(format: str, arguments: Sequence[Value]) -> str:
    """Return a message; raises EvaluationError where the arguments are not those of the format."""
    left = list(arguments)

    def one(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        kind = _KINDS.get(found[4] or "")
        if kind is None:
            raise EvaluationError(f"unsupported format '{found[0]}'")
        if not left:
            raise EvaluationError("expected an argument for every % of the message")
        flags, width, precision = found[1], found[2], found[3]
        spec = f"%{flags}{width}{'.' + precision if precision is not None else ''}{kind}"
        return spec % _argument(left.pop(0), kind)

    text = _DIRECTIVE.sub(one, format)
    if left:
        raise EvaluationError("expected a % of the message for every argument")
    return text[:MAX_MESSAGE]


def _argument(value: Value, kind: str) -> str | int | float:
    if kind == "s":
        return value.text()
    data = converted(value, LONG if kind in "dx" else DOUBLE).data
    assert isinstance(data, int | float)
    return data
