"""Annotations of expected errors in MLIR text, as `--verify-diagnostics` checks them.

    // expected-error @below {{expected bias of shape 6}}
    %y = gawee.conv ...

The text in braces is part of the message. The place is this line, or `@below`, `@above`, `@+2`,
`@-1`; `@unknown` is for an error without a place.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gawee_dialect.diagnostics import Diagnostic

_ANNOTATION = re.compile(
    r"expected-error\s*(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)


@dataclass(frozen=True)
class ExpectedError:
    """A part of the message that must come, and its line in the file; None for no place."""

    text: str
    line: int | None
    written_at: int

    def matches(self, diagnostic: Diagnostic, file: str) -> bool:
        """Whether a diagnostic is the one that this annotation expects."""
        return self.line == _line_in(diagnostic, file) and self.text in diagnostic.message


def _line_in(diagnostic: Diagnostic, file: str) -> int | None:
    path, _, line_column = (diagnostic.place or "").rpartition(f"{file}:")
    line = line_column.partition(":")[0]
    return int(line) if not path and line.isdecimal() else None


def expected_errors(text: str, line_offset: int) -> list[ExpectedError]:
    """Return the annotations in a chunk that begins `line_offset` lines into its file."""
    return list(_scan(text, line_offset))


def _scan(text: str, line_offset: int) -> Iterator[ExpectedError]:
    for number, line in enumerate(text.split("\n"), line_offset + 1):
        for found in _ANNOTATION.finditer(line):
            yield ExpectedError(found["text"], _target(found["where"], number), number)


def _target(where: str | None, number: int) -> int | None:
    match where:
        case None:
            return number
        case "unknown":
            return None
        case "below":
            return number + 1
        case "above":
            return number - 1
        case _:
            return number + int(where)


def compare_errors(
    expected: Sequence[ExpectedError], got: Sequence[Diagnostic], file: str
) -> list[Diagnostic]:
    """Return a complaint for each error that did not come, and for each unexpected one."""
    unexpected = list(got)
    complaints: list[Diagnostic] = []
    for expectation in expected:
        match = next((one for one in unexpected if expectation.matches(one, file)), None)
        if match is not None:
            unexpected.remove(match)
            continue
        place = f"{file}:{expectation.written_at}:1"
        complaints.append(
            Diagnostic(f"expected error '{expectation.text}' was not produced", place)
        )
    return complaints + [
        Diagnostic(f"unexpected error: {one.message}", one.place) for one in unexpected
    ]
