"""Where the values and symbols of a text are defined and used, and in which regions.

An index is of one version of a text. While the next is being parsed, or cannot be, the index is
moved along with the edit: what stands before it stays, what stands behind it moves. If the edited
lines have the names that they had, the index is complete; otherwise it lacks what was edited.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from xdsl.ir import Attribute

MARK = re.compile(r"""[%@][\w$.-]*|[{}"]|//""")
"""Names, and what can make something else of a name or of its scope."""


@dataclass(eq=False)
class Name:
    """A value (or all results of an op that share a name) or a symbol, by its identity."""

    text: str
    """With its sigil, `%x` or `@main`."""
    scope: int
    """Which of the index's scopes it is visible in."""
    types: Sequence[Attribute] = ()
    """Of the values; none of a symbol."""


class Occurrence(NamedTuple):
    """A name in the text, from one offset up to another."""

    start: int
    end: int
    name: Name
    is_definition: bool


class Scope(NamedTuple):
    """A region, from its opening brace up to behind its closing one; or a whole text."""

    start: int
    end: int


@dataclass(frozen=True)
class NameIndex:
    """The names of a text: occurrences in the order of the text."""

    occurrences: Sequence[Occurrence] = ()
    scopes: Sequence[Scope] = field(default=())
    is_complete: bool = False
    """Whether every name of the text is in it."""

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [each.start for each in self.occurrences]

    def at(self, offset: int) -> Occurrence | None:
        """Return the name that an offset is in, or right behind; None where there is none."""
        found = bisect_right(self._starts, offset) - 1
        if found < 0 or self.occurrences[found].end < offset:
            return None
        return self.occurrences[found]

    def of(self, name: Name) -> Iterator[Occurrence]:
        """Yield every occurrence of a name."""
        return (each for each in self.occurrences if each.name is name)

    def definition(self, name: Name) -> Occurrence | None:
        """Return where a name is defined, None where the text does not define it."""
        return next((each for each in self.of(name) if each.is_definition), None)

    def visible(self, offset: int) -> Iterator[Occurrence]:
        """Yield the definitions that can be used at an offset, the nearest before it first."""
        for each in reversed(self.occurrences[: bisect_left(self._starts, offset)]):
            scope = self.scopes[each.name.scope]
            if each.is_definition and scope.start <= offset <= scope.end:
                yield each

    def symbols(self) -> Iterator[Occurrence]:
        """Yield the definitions of symbols."""
        defined = (each for each in self.occurrences if each.is_definition)
        return (each for each in defined if each.name.text.startswith("@"))

    def clashing(self, name: Name, text: str) -> Occurrence | None:
        """Return a definition that another text of a name would be taken for, None if none."""
        own = self.scopes[name.scope]
        for each in self.occurrences:
            other = self.scopes[each.name.scope]
            meets = own.start <= other.end and other.start <= own.end
            if meets and each.is_definition and each.name.text == text and each.name is not name:
                return each
        return None

    def moved(self, before: str, after: str) -> "NameIndex":
        """Return the index of an edited text, without what the edit may have changed."""
        start, end, shift = edited(before, after)
        marks = _kept_marks(before, after, start, end)
        starts = {} if marks is None else {old.start(): new.start() for old, new in marks}
        ends = {} if marks is None else {old.end(): new.end() for old, new in marks}

        def place(offset: int, known: Mapping[int, int]) -> int:
            moved = offset if offset <= start else max(start, offset + shift)
            return known.get(offset, moved)

        def placed(each: Occurrence) -> Occurrence | None:
            if each.start in starts:
                return each._replace(start=starts[each.start], end=ends[each.end])
            if each.end <= start:
                return each
            if each.start >= end:  # also what is typed right before a name moves it
                return each._replace(start=each.start + shift, end=each.end + shift)
            return None

        occurrences = [new for each in self.occurrences if (new := placed(each)) is not None]
        ends[len(before)] = len(after)  # what is typed at the end belongs to the whole text
        scopes = [Scope(place(each.start, starts), place(each.end, ends)) for each in self.scopes]
        return NameIndex(occurrences, scopes, self.is_complete and marks is not None)


def _kept_marks(
    before: str, after: str, start: int, end: int
) -> Sequence[tuple[re.Match[str], re.Match[str]]] | None:
    """Pair the marks of the edited lines with those of before; None where they differ."""
    first = before.rfind("\n", 0, start) + 1
    last = before.find("\n", end)
    rest = 0 if last < 0 else len(before) - last
    old = list(MARK.finditer(before, first, len(before) - rest))
    new = list(MARK.finditer(after, first, len(after) - rest))
    if [each[0] for each in old] != [each[0] for each in new]:
        return None
    return list(zip(old, new, strict=True))


def edited(before: str, after: str) -> tuple[int, int, int]:
    """Return from where to where a text was edited, and by how much what follows has moved."""
    shorter = min(len(before), len(after))
    start = _common(lambda size: before.startswith(after[:size]), shorter)
    rest = shorter - start
    behind = _common(lambda size: before.endswith(after[len(after) - size :]), rest)
    return start, len(before) - behind, len(after) - len(before)


def _common(agrees: Callable[[int], bool], most: int) -> int:
    """Return the largest size, up to `most`, at which two texts agree, by bisection."""
    least = 0
    while least < most:
        size = (least + most + 1) // 2
        least, most = (size, most) if agrees(size) else (least, size - 1)
    return least
