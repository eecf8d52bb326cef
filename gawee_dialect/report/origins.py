"""What ops come from, each node or place once, by number."""

from collections.abc import Iterable
from typing import TypedDict

from xdsl.ir import Attribute

from gawee_dialect.locations import origins


class OriginJson(TypedDict):
    """An origin, as the document has it."""

    node: str | None
    place: str | None


Origin = tuple[str | None, str | None]
"""The name of a node and `file:line:column`; either may be unknown."""


class Origins:
    """Numbers origins in the order in which they are met, and keeps which became part of which."""

    def __init__(self) -> None:
        self._numbers: dict[Origin, int] = {}
        self._of: dict[int, tuple[Attribute, list[int]]] = {}
        # A location lives on in there, so that no other has its identity.
        self._parts: dict[int, dict[int, None]] = {}
        self.fusions = 0
        """How often ops became part of another so far."""

    def numbers(self, location: Attribute) -> list[int]:
        """Return the numbers of what a location names."""
        known = self._of.get(id(location))
        if known is None:
            found = [self.number(each) for each in origins(location)]
            known = self._of[id(location)] = location, found
        return known[1]

    def number(self, origin: Origin) -> int:
        """Return the number of an origin."""
        return self._numbers.setdefault(origin, len(self._numbers))

    def fuse(self, parts: Iterable[int], whole: Iterable[int]) -> None:
        """Note that ops of some origins became part of an op of others."""
        self.fusions += 1
        added = dict.fromkeys(each for part in parts for each in self.within(part))
        for number in whole:
            self._parts.setdefault(number, {}).update(added)

    def within(self, number: int) -> list[int]:
        """Return an origin and all that became part of it so far."""
        return list(dict.fromkeys((number, *self._parts.get(number, ()))))

    def to_json(self) -> list[OriginJson]:
        """Return all origins by number."""
        return [{"node": node, "place": place} for node, place in self._numbers]
