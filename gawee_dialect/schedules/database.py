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
from dataclasses import asdict, dataclass, field, fields

from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.hints import isa

from gawee_dialect.dialect.schedule import Schedule, ScheduleAttr

DIRECT, WINOGRAD = "direct", "winograd"
SCHEDULE_NAME = f"#{ScheduleAttr.name}"


@dataclass(frozen=True)
class Direct:
    """Compute a convolution as it is defined."""


@dataclass(frozen=True)
class Winograd:
    """Compute a convolution by Winograd's algorithm; see `gawee.winograd` for what these are."""

    tile: int
    by_channel: bool
    block: int
    rows: int
    panel: int
    lanes: int


Choice = Direct | Winograd | Schedule


def choice_form(choice: Choice) -> dict[str, object]:
    """Return a choice as `json.dumps` takes it."""
    match choice:
        case Direct():
            return {"algorithm": DIRECT}
        case Winograd():
            return {"algorithm": WINOGRAD, **asdict(choice)}
        case Schedule():
            return {"schedule": str(ScheduleAttr(choice))}


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
        """Return what tells the choices from any others: the compile cache is asked with it."""
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
            raise ValueError(f"expected a text as '{name}', got {_shown(value)}")
        texts.append(value)
    threads = form.get("threads")
    if threads is not None and not isinstance(threads, int):
        raise ValueError(f"expected a number as 'threads', got {_shown(threads)}")
    choice = form.get("choice")
    if not isa(choice, dict[str, object]):
        raise ValueError(f"expected an object as 'choice', got {_shown(choice)}")
    known = {"key", "target", "threads", "choice"}
    facts = {name: value for name, value in form.items() if name not in known}
    return Entry(texts[0], texts[1], _choice(choice), place, threads, facts)


def _choice(form: Mapping[str, object]) -> Choice:
    schedule, algorithm = form.get("schedule"), form.get("algorithm")
    if isinstance(schedule, str):
        return parse_schedule(schedule)
    if algorithm == DIRECT:
        return Direct()
    if algorithm == WINOGRAD:
        return _winograd(form)
    raise ValueError(
        f"expected a 'schedule', or '{DIRECT}' or '{WINOGRAD}' as 'algorithm', "
        f"got {_shown(schedule or algorithm)}"
    )


def _winograd(form: Mapping[str, object]) -> Winograd:
    numbers: dict[str, int] = {}
    for each in fields(Winograd):
        value = form.get(each.name)
        wanted = "true or false" if each.name == "by_channel" else "a positive number"
        fits = isinstance(value, int) and isinstance(value, bool) == (each.name == "by_channel")
        if not isinstance(value, int) or not fits or (value < 1 and value is not False):
            raise ValueError(f"expected {wanted} as '{each.name}', got {_shown(value)}")
        numbers[each.name] = value
    by_channel = bool(numbers.pop("by_channel"))
    return Winograd(by_channel=by_channel, **numbers)


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


def _shown(value: object) -> str:
    return "none" if value is None else json.dumps(value)
