"""Passes of a user's own, put into a pipeline at a named place.

    after=fold-conv-add:my-pass{x=1}        before=canonicalize#2:my-pass,another

A place is a pass of the pipeline, by its name. Where the name occurs more than once, a number says
which: `canonicalize#2` is the second.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.passes.pass_manager import PassTable, leaf_passes, parse_passes

_PLACE = re.compile(r"(after|before)=([\w-]+)(?:#([1-9][0-9]{0,8}))?")
FORM = "after=PASS or before=PASS, PASS#2 for the second of that name"


class Side(StrEnum):
    """On which side of a pass others go in."""

    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True)
class Insertion:
    """Passes, and the place in a pipeline where they go in."""

    side: Side
    name: str
    """Of the pass beside which they go in."""
    number: int | None
    """Which of several passes of that name, from 1 on; None where there is one."""
    passes: tuple[ModulePass, ...]
    origin: str | None = None
    """Where the user said so, for messages."""
    required: bool = True
    """Whether a pipeline without that pass is an error."""

    @staticmethod
    def at(
        place: str,
        passes: Sequence[ModulePass],
        origin: str | None = None,
        *,
        required: bool = True,
    ) -> "Insertion":
        """Read a place, such as `after=fold-conv-add`; raises GaweeError."""
        found = _PLACE.fullmatch(place.strip())
        if found is None:
            message = f"expected a place, such as after=fold-conv-add, got '{place}'"
            raise GaweeError(Diagnostic(message, origin, hint=FORM))
        side, name, number = found.groups()
        which = None if number is None else int(number)
        return Insertion(Side(side), name, which, tuple(passes), origin, required)

    @property
    def place(self) -> str:
        """The pass beside which they go in, as it is written."""
        return self.name if self.number is None else f"{self.name}#{self.number}"


def after(place: str, *passes: ModulePass) -> Insertion:
    """Put passes behind one of the pipeline: `after("canonicalize#2", MyPass())`."""
    return Insertion.at(f"after={place}", passes)


def before(place: str, *passes: ModulePass) -> Insertion:
    """Put passes before one of the pipeline: `before("form-kernels", MyPass())`."""
    return Insertion.at(f"before={place}", passes)


def parse_insertion(text: str, table: PassTable) -> Insertion:
    """Read `after=PLACE:PIPELINE`; raises GaweeError, located in the flag."""
    origin = f"--insert='{text}'"
    place, colon, pipeline = text.partition(":")
    if not colon or not pipeline.strip():
        message = f"expected PLACE:PIPELINE, such as after=fold-conv-add:my-pass, got '{text}'"
        raise GaweeError(Diagnostic(message, origin, hint=FORM))
    return Insertion.at(place, parse_passes(pipeline, table), origin)


_declared: ContextVar[Sequence[Insertion]] = ContextVar("declared", default=())


@contextmanager
def declared(insertions: Sequence[Insertion]) -> Generator[None]:
    """Have passes go into every pipeline that has their place, for the time of a with block.

    They take the place of what was declared before.
    """
    token = _declared.set(tuple(insertions))
    try:
        yield
    finally:
        _declared.reset(token)


def declared_insertions() -> Sequence[Insertion]:
    """Return what goes into every pipeline that has its place."""
    return _declared.get()


def with_insertions(
    passes: Sequence[ModulePass], insertions: Sequence[Insertion] = ()
) -> Sequence[ModulePass]:
    """Return a pipeline with passes put in: these, and the declared ones that it doesn't name.

    Passes at one place run in the order given. Raises GaweeError that names every place that the
    pipeline does not have, or has more than once.
    """
    leaves = list(leaf_passes(passes))
    named = {each.name for each in leaves}
    named |= {made.name for each in insertions for made in each.passes}
    also = [
        each
        for each in declared_insertions()
        if not any(made.name in named for made in each.passes)
    ]
    if not insertions and not also:
        return passes
    beside: dict[tuple[int, Side], list[ModulePass]] = {}
    problems: list[Diagnostic] = []
    for each in (*insertions, *also):
        found = _position(each, leaves)
        if isinstance(found, Diagnostic):
            problems.append(found)
        elif found is not None:
            beside.setdefault((found, each.side), []).extend(each.passes)
    if problems:
        raise GaweeError(problems)
    return [
        made
        for position, leaf in enumerate(leaves)
        for made in (
            *beside.get((position, Side.BEFORE), ()),
            leaf,
            *beside.get((position, Side.AFTER), ()),
        )
    ]


def _position(insertion: Insertion, leaves: Sequence[ModulePass]) -> int | Diagnostic | None:
    """Return where a place is; None where it may be nowhere, and is."""
    name, number = insertion.name, insertion.number
    positions = [index for index, each in enumerate(leaves) if each.name == name]
    if not insertion.required and len(positions) < (number or 1):
        return None
    places = list(_places(leaves))
    listing = f"places: {', '.join(places) or 'none'}"
    if not positions:
        near = did_you_mean(name, dict.fromkeys(each.name for each in leaves), "")
        message = f"unknown place '{insertion.place}' in the pipeline"
        return Diagnostic(message, insertion.origin, hint=f"{near} {listing}".strip())
    if number is None and len(positions) > 1:
        message = f"expected one place '{name}' in the pipeline, got {len(positions)}"
        which = ", ".join(_described(name, positions, leaves))
        return Diagnostic(message, insertion.origin, hint=f"which: {which}")
    if (number or 1) > len(positions):
        message = f"expected a place up to '{name}#{len(positions)}', got '{insertion.place}'"
        return Diagnostic(message, insertion.origin, hint=listing)
    return positions[(number or 1) - 1]


def _places(leaves: Sequence[ModulePass]) -> Iterator[str]:
    """Yield the places of a pipeline, in order."""
    names = [each.name for each in leaves]
    for position, name in enumerate(names):
        number = names[: position + 1].count(name)
        yield f"{name}#{number}" if names.count(name) > 1 else name


def _described(name: str, positions: Sequence[int], leaves: Sequence[ModulePass]) -> Iterator[str]:
    for number, position in enumerate(positions, 1):
        beside = f" after {leaves[position - 1].name}" if position else " at the start"
        yield f"{name}#{number}{beside}"


def without_passes(passes: Sequence[ModulePass], names: Sequence[str]) -> Sequence[ModulePass]:
    """Return a pipeline without some passes: all of a name, or by `NAME#2` the second alone.

    Raises GaweeError that names every one that the pipeline does not have.
    """
    if not names:
        return passes
    leaves = list(leaf_passes(passes))
    numbers = [
        sum(before.name == each.name for before in leaves[:index]) + 1
        for index, each in enumerate(leaves)
    ]
    spelled = [
        {each.name, f"{each.name}#{number}"} for each, number in zip(leaves, numbers, strict=True)
    ]
    unknown = [name for name in names if not any(name in spellings for spellings in spelled)]
    if unknown:
        listing = f"passes: {', '.join(_places(leaves))}"
        raise GaweeError(
            Diagnostic(f"cannot leave out '{name}': the pipeline has no such pass", hint=listing)
            for name in unknown
        )
    return [
        each for each, spellings in zip(leaves, spelled, strict=True) if not spellings & set(names)
    ]
