"""What processors run of a report's functions: their assembly, cut where nobody would read on."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from gawee_dialect.report.snapshot import FunctionJson

LONGEST = 1500
"""Lines of a function that are kept."""

MOST = 20_000
"""Lines that are kept in all."""


class AssemblyJson(TypedDict):
    """A function's assembly; `cut` lines of it were left out."""

    function: str
    lines: list[str]
    cut: int


def assembly_json(functions: Mapping[str, Sequence[str]]) -> list[AssemblyJson]:
    """Return the assembly of functions, given by their lines, as the document has it."""
    room = MOST
    found: list[AssemblyJson] = []
    for name, lines in functions.items():
        kept = list(lines[: min(LONGEST, room)])
        found.append({"function": name, "lines": kept, "cut": len(lines) - len(kept)})
        room -= len(kept)
    return found


def called_from(name: str, functions: Sequence[FunctionJson]) -> list[str]:
    """Return the names of a function and of all that it calls, in their order; all without it."""
    known = {each["name"]: each for each in functions}
    if name not in known:
        return list(known)
    found = {name}
    pending = [name]
    while pending:
        new = {each for each in known[pending.pop()]["calls"] if each in known} - found
        found |= new
        pending += new
    return [each for each in known if each in found]
