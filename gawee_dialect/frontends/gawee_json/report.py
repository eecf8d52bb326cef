"""Problems of one graph, collected so that all of them are reported at once."""

from collections.abc import Iterable
from difflib import get_close_matches

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.located_json import Source


class Refusal(Exception):
    """Why one node cannot be read; raised by whoever finds out, reported with the node's name."""

    def __init__(self, message: str, hint: str | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.offset = offset


class Report:
    """Collects diagnostics of one text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[tuple[int, Diagnostic]] = []

    def add(
        self, offset: int, message: str, node: str | None = None, hint: str | None = None
    ) -> None:
        """Add a problem of the object at an offset."""
        self.problems.append((offset, Diagnostic(message, self.source.place(offset), node, hint)))

    def raise_if_any(self) -> None:
        """Raise GaweeError with all problems, in the order of the text."""
        if self.problems:
            ordered = sorted(self.problems, key=lambda problem: problem[0])
            raise GaweeError(diagnostic for _, diagnostic in ordered)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return a hint that names the known name closest to a misspelt one, None if none is close."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean '{by_lower[near[0]]}'?" if near else None
