"""Choices for kernels by name and target, and the lines that say them: JSON objects.

    {"key": "0f3a...", "kernel": "conv 1x64x56x56 over 64x3x3 f32", "target": "skylake-avx512",
     "choice": {"algorithm": "winograd", "tile": 4, ...}, "seconds": 0.00031, ...}
    {"key": "93bc...", "kernel": "pool 1x64x56x56 over 3x3 f32", "target": "skylake-avx512",
     "choice": {"schedule": "#gawee.schedule<loops = [d1 by 16, d2, d4, d5], vector = d1 by 16>"}}

`key`, `target` and `choice` are read; the rest is for people. Of several lines for one kernel on
one target the last holds. Lines for kernels that a network doesn't have are ignored.
`file.py` reads and writes files of such lines.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.hints import isa

from gawee_dialect.dialect.kernels.algorithm import Algorithm, json_text
from gawee_dialect.dialect.kernels.schedule import Schedule, ScheduleAttr
from gawee_dialect.schedules.script import Script, parse_script
from gawee_dialect.universe import all_algorithms

SCHEDULE_NAME = f"#{ScheduleAttr.name}"

Choice = Algorithm | Schedule | Script
"""A program of steps may also ask for an algorithm, and for operands in another order."""


def choice_form(choice: Choice) -> dict[str, object]:
    """Return a choice as `json.dumps` takes it."""
    if isinstance(choice, Schedule):
        return {"schedule": str(ScheduleAttr(choice))}
    return {"steps": str(choice)} if isinstance(choice, Script) else choice.form()


@dataclass(frozen=True)
class Entry:
    """One line: which kernel on which target, and what was chosen for it."""

    key: str
    target: str
    choice: Choice
    place: str = ""
    """The file and line that it was read from."""
    threads: int | None = None
    """How many threads it was measured with; None where it was not."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """What else is written, for people."""

    def line(self) -> str:
        """Return the entry as a line of the file."""
        form: dict[str, object] = {"key": self.key, "target": self.target}
        if self.threads is not None:
            form["threads"] = self.threads
        return json.dumps({**form, "choice": choice_form(self.choice), **self.facts}) + "\n"


class Database:
    """Choices by kernel and target; a value, which is never changed."""

    def __init__(self, entries: Iterable[Entry] = (), path: str = ""):
        """Take entries, of which a later one holds in the place of earlier ones for its kernel.

        `path` is the file that they are from, where there is one.
        """
        self.entries = tuple(entries)
        self.path = path
        self._found = {(entry.key, entry.target): entry for entry in self.entries}

    def __bool__(self) -> bool:
        return bool(self._found)

    def __str__(self) -> str:
        return self.path or "none"

    def __repr__(self) -> str:
        """Return a key of the choices for the compile cache."""
        lines = sorted(entry.line() for entry in self._found.values())
        return f"Database({hashlib.sha256(''.join(lines).encode()).hexdigest()})"

    def plus(self, entry: Entry) -> "Database":
        """Return a database with one more entry."""
        return Database((*self.entries, entry), self.path)

    def find(self, key: str, target: str) -> Entry | None:
        """Return what is chosen for a kernel on a target; None where nothing is."""
        return self._found.get((key, target))

    def has_measured(self, key: str, target: str, threads: int) -> bool:
        """Whether a kernel was measured with so many threads."""
        measured = ((entry.key, entry.target, entry.threads) for entry in self.entries)
        return (key, target, threads) in measured


NO_CHOICES = Database()
"""All is left to the cost model."""


def entry_of(form: object, place: str) -> Entry:
    """Check one line's object; raises ValueError that says what is wrong with it."""
    if not isa(form, dict[str, object]):
        raise ValueError(f"expected a JSON object, got {type(form).__name__}")
    texts: list[str] = []
    for name in ("key", "target"):
        value = form.get(name)
        if not isinstance(value, str):
            raise ValueError(f"expected a text as '{name}', got {json_text(value)}")
        texts.append(value)
    threads = form.get("threads")
    if threads is not None and not isinstance(threads, int):
        raise ValueError(f"expected a number as 'threads', got {json_text(threads)}")
    choice = form.get("choice")
    if not isa(choice, dict[str, object]):
        raise ValueError(f"expected an object as 'choice', got {json_text(choice)}")
    known = {"key", "target", "threads", "choice"}
    facts = {name: value for name, value in form.items() if name not in known}
    return Entry(texts[0], texts[1], _choice(choice), place, threads, facts)


def _choice(form: Mapping[str, object]) -> Choice:
    schedule, name = form.get("schedule"), form.get("algorithm")
    if isinstance(schedule, str):
        return parse_schedule(schedule)
    if isinstance(steps := form.get("steps"), str):
        return parse_script(steps)
    known = {each.name: each for each in all_algorithms()}
    if isinstance(name, str) and name in known:
        return known[name].of_form(form)
    *others, last = (f"'{each}'" for each in known)
    raise ValueError(
        f"expected a 'schedule', 'steps', or {', '.join(others)} or {last} as 'algorithm', "
        f"got {json_text(schedule or name)}"
    )


def parse_schedule(text: str) -> Schedule:
    """Read `#gawee.schedule<...>`; raises ValueError."""
    if not text.rstrip().endswith(">"):  # the parser would not look beyond it
        raise ValueError(f"expected {SCHEDULE_NAME}<...> as 'schedule', got '{text}'")
    context = Context()
    context.load_attr_or_type(ScheduleAttr)
    try:
        attribute = Parser(context, text).parse_attribute()
    except ParseError as error:
        reason = str(error.msg).partition("\n")[0]
        raise ValueError(f"cannot read schedule '{text}': {reason}") from error
    if not isinstance(attribute, ScheduleAttr):
        raise ValueError(f"expected {SCHEDULE_NAME}<...> as 'schedule', got '{text}'")
    return attribute.data
