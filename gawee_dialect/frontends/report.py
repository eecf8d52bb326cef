"""Problems of one graph, collected so that all of them are reported at once."""

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.source import Source


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

    def raise_if_any(self, error: type[GaweeError] = GaweeError) -> None:
        """Raise GaweeError, or a kind of it, with all problems in the order of the text."""
        if self.problems:
            ordered = sorted(self.problems, key=lambda problem: problem[0])
            raise error(diagnostic for _, diagnostic in ordered)
