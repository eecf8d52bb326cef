"""LLVM IR in parts that are compiled by themselves: what each defines, and what it needs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NAME = re.compile(r"@([\w.$-]+)")
_DEFINITION = re.compile(r"^define (.*)\{$", re.MULTILINE)
_GLOBAL = re.compile(r"^@([\w.$-]+) = (constant|global) (\[\d+ x \w+\])", re.MULTILINE)
_DECLARATION = re.compile(r"^declare [^@]*@([\w.$-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Code:
    """A function or a global, with what it declares itself."""

    text: str
    defines: Mapping[str, str]
    """How others declare what it defines, by name."""

    needs: frozenset[str]
    """What it names, and neither defines nor declares."""

    @staticmethod
    def of(text: str) -> "Code":
        """Read a text of functions and globals."""
        defines: dict[str, str] = {}
        for match in _DEFINITION.finditer(text):
            head = match[1][: match[1].rindex(")") + 1]
            defines[name_of(head)] = f"declare {head}"
        for match in _GLOBAL.finditer(text):
            defines[match[1]] = f"@{match[1]} = external {match[2]} {match[3]}"
        named = {*_NAME.findall(text)} - defines.keys() - {*_DECLARATION.findall(text)}
        return Code(text, defines, frozenset(named))


def name_of(line: str) -> str:
    """Return the first name in a line, which is a head or a declaration."""
    found = _NAME.search(line)
    assert found is not None
    return found[1]


def joined(parts: Sequence[Code], known: Mapping[str, str]) -> str:
    """Return a text of some parts, with declarations of what they need of others."""
    defined = {name for each in parts for name in each.defines}
    needs = {name for each in parts for name in each.needs} - defined
    declared = [known[name] for name in sorted(needs) if name in known]
    return "\n".join((*(each.text for each in parts), *declared, ""))
