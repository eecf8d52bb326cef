"""What a study compares: networks, pipelines and options, each in all combinations, and how."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from gawee_dialect.code_options import ALGORITHMS
from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, first_line
from gawee_dialect.hints import isa
from gawee_dialect.source import Source

T = TypeVar("T")
DEFAULT_EVALUATORS = ("time", "validity", "code", "memory")


@dataclass(frozen=True)
class Network:
    """A network: a file in any format, or a function that makes one.

    A factory is `module:function` or `file.py:function`; it returns a Model, or a module of PyTorch
    and its example inputs.
    """

    name: str
    file: str | None = None
    factory: str | None = None
    arguments: Sequence[object] = ()
    """Of the factory."""
    weights: str | None = None
    """A file or folder, `random`, or None for those beside the graph."""
    shape: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """Sizes that the graph leaves open, by name."""
    source: str = "auto"
    """The format of the file."""


@dataclass(frozen=True)
class Pipeline:
    """The compiler's passes, and what is different: as the flags of the tools say it."""

    name: str
    insert: Sequence[str] = ()
    without: Sequence[str] = ()
    load: Sequence[str] = ()
    """Files of passes, described operators and other plugins."""
    schedules: str | None = None


@dataclass(frozen=True)
class Options:
    """What code is made for."""

    name: str = "default"
    num_threads: int = 1
    algorithms: str = "fast"
    target: str = "host"
    fast_math: str | None = None
    trust_indices: bool = False


@dataclass(frozen=True)
class Measuring:
    """How each combination is measured."""

    rounds: int = 7
    runs: int = 5
    """Of a turn, at least."""
    seconds: float = 1.0
    """Of a turn, after which fewer runs will do."""
    patience: float = 10.0
    """Seconds that a turn waits for a quiet machine."""
    retries: int = 2
    """Of a disturbed turn."""
    timeout: float = 900.0
    """Seconds after which a combination has failed."""
    seed: int = 0
    """Of random inputs and weights."""
    evaluators: Sequence[str] = DEFAULT_EVALUATORS
    """By name, or one's own as `file.py:Class`."""


@dataclass(frozen=True)
class Cell:
    """One combination, and the pipeline that it is compared with: all that decides a record."""

    folder: str
    """What paths are relative to."""
    network: Network
    pipeline: Pipeline
    options: Options
    baseline: Pipeline
    measuring: Measuring

    @property
    def names(self) -> tuple[str, str, str]:
        """How tables call it."""
        return self.network.name, self.pipeline.name, self.options.name

    @property
    def is_baseline(self) -> bool:
        """Whether it is what others are compared with."""
        return self.pipeline == self.baseline

    def form(self) -> dict[str, object]:
        """Return it as `json.dumps` takes it."""
        return asdict(self)

    @staticmethod
    def of(form: Mapping[str, object]) -> "Cell":
        """Return the cell that `form` described."""
        return Cell(
            str(form["folder"]),
            _part(Network, form["network"]),
            _part(Pipeline, form["pipeline"]),
            _part(Options, form["options"]),
            _part(Pipeline, form["baseline"]),
            _part(Measuring, form["measuring"]),
        )

    def path(self, text: str) -> Path:
        """Return a path of the study's file as this process finds it."""
        return Path(self.folder) / text


def _part(kind: Callable[..., T], form: object) -> T:
    assert isa(form, dict[str, object])
    return kind(**form)


@dataclass(frozen=True)
class Study:
    """A study file, as it was read."""

    name: str
    folder: Path
    networks: Sequence[Network]
    pipelines: Sequence[Pipeline]
    """The first is the baseline."""
    options: Sequence[Options]
    measuring: Measuring

    def cells(self) -> Iterator[Cell]:
        """Yield all combinations, those of one network beside each other."""
        for network in self.networks:
            for options in self.options:
                for pipeline in self.pipelines:
                    yield Cell(
                        str(self.folder.resolve()),
                        network,
                        pipeline,
                        options,
                        self.pipelines[0],
                        self.measuring,
                    )


# The records of a study: a file of JSON lines that survives a kill at any moment.


Record = Mapping[str, object]
FILE = "records.jsonl"


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, none where there is no file.

    A last line that was cut, by a kill while it was written, is dropped. Raises GaweeError that
    names every other line that is no record.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    lines.pop()  # what follows the last end of a line: nothing, or a line that was cut
    records: list[Record] = []
    problems: list[Diagnostic] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isa(value, dict[str, object]) and isinstance(value.get("key"), str):
            records.append(value)
        else:
            problems.append(Diagnostic("expected a record as a JSON object", f"{path}:{number}:1"))
    if problems:
        raise GaweeError(problems)
    return records


class Journal:
    """A file that records are added to, each on disk before the next is measured."""

    def __init__(self, path: Path):
        """Open or make a file; what is left of a line that was cut is removed. Raises OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        if path.exists():
            data = path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(path, whole)

    def add(self, record: Record) -> None:
        """Write a record, and wait until the disk has it; raises OSError."""
        with self.path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def latest(records: list[Record]) -> Iterator[Record]:
    """Yield the last record of each combination on each processor."""
    found: dict[tuple[object, ...], Record] = {}
    for record in records:
        names = tuple(record.get(name) for name in ("network", "pipeline", "options"))
        found[(*names, processor_of(record))] = record
    yield from found.values()


def processor_of(record: Record) -> str:
    """Return the processor that a record was measured on, by its maker's name and LLVM's."""
    machine = record.get("machine")
    if not isa(machine, dict[str, object]):
        return "unknown"
    return f"{machine.get('processor')} ({machine.get('cpu')})"


# TOML text whose values have locations, so that a reader's errors can point at them.
#
# The standard library's decoder says no places. The line of a value is the first one after the
# longest beginning of the text that can be read and does not have it yet.


Keys = Sequence[str | int]
"""Keys and indices from the whole document down to a value."""

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def decode_toml(source: Source) -> Mapping[str, object]:
    """Decode TOML text; raises GaweeError, located in the text, for what is not TOML."""
    try:
        return tomllib.loads(source.text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise GaweeError(_not_toml(source, str(error))) from error
    except RecursionError as error:
        message = "cannot read TOML: values are nested too deeply"
        raise GaweeError(Diagnostic(message, f"{source.name}:1:1")) from error
    except ValueError as error:  # a number of more digits than Python reads
        message = f"cannot read TOML: {first_line(error)}"
        raise GaweeError(Diagnostic(message, f"{source.name}:1:1")) from error


def _not_toml(source: Source, text: str) -> Diagnostic:
    found = _PLACE.search(text)
    message = _PLACE.sub("", text)
    message = f"cannot read TOML: {message[:1].lower()}{message[1:]}"
    if found is None or found[1] is None:
        last = source.text.count("\n") + 1
        return Diagnostic(message, f"{source.name}:{last}:1", hint="the file is cut off")
    return Diagnostic(message, f"{source.name}:{found[1]}:{found[2]}")


def place_of(source: Source, path: Keys) -> str:
    """Return `name:line:1` of a value in text that can be decoded; the whole is on line 1."""
    lines = source.text.replace("\r\n", "\n").split("\n")
    start = 1
    for number in range(1, len(lines) + 1):
        try:
            value = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue  # in the middle of a value
        if has(value, path):
            break
        start = number + 1
    return f"{source.name}:{min(start, len(lines))}:1"


def has(value: object, path: Keys) -> bool:
    """Whether a document has a value at a path."""
    for step in path:
        if isinstance(step, str) and isa(value, dict[str, object]) and step in value:
            value = value[step]
        elif isinstance(step, int) and isa(value, list[object]) and step < len(value):
            value = value[step]
        else:
            return False
    return True


TABLES = ("network", "pipeline", "options")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isa(value, list[object]) and all(map(_is_text, value))


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_whole(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def _is_shapes(value: object) -> bool:
    return isa(value, dict[str, object]) and all(
        isa(sizes, list[object]) and all(map(_is_whole, sizes)) for sizes in value.values()
    )


Check = tuple[str, Callable[[object], bool]]
TEXT: Check = ("text", _is_text)
TEXTS: Check = ("a list of texts", _is_texts)
COUNT: Check = ("a whole number of at least 1", _is_count)
TIME: Check = ("a number of seconds", _is_time)

TOP: Mapping[str, Check] = {
    "name": TEXT,
    "rounds": COUNT,
    "runs": COUNT,
    "seconds": TIME,
    "patience": TIME,
    "retries": ("a whole number", _is_whole),
    "timeout": TIME,
    "seed": ("a whole number", _is_whole),
    "evaluators": TEXTS,
}

ENTRIES: Mapping[str, Mapping[str, Check]] = {
    "network": {
        "name": TEXT,
        "file": TEXT,
        "factory": TEXT,
        "arguments": ("a list", lambda value: isa(value, list[object])),
        "weights": TEXT,
        "shape": ("lists of sizes by name", _is_shapes),
        "from": TEXT,
    },
    "pipeline": {
        "name": TEXT,
        "insert": TEXTS,
        "without": TEXTS,
        "load": TEXTS,
        "schedules": TEXT,
    },
    "options": {
        "name": TEXT,
        "num-threads": COUNT,
        "algorithms": (" or ".join(ALGORITHMS), lambda value: value in ALGORITHMS),
        "target": TEXT,
        "fast-math": TEXT,
        "trust-indices": ("true or false", lambda value: isinstance(value, bool)),
    },
}
"""The keys of each table, named as the tools' flags are."""

Entry = Mapping[str, object]


def read_study(path: str | Path) -> Study:
    """Read a study; files that it names are not looked for.

    Raises OSError, or GaweeError that lists every mistake with its line.
    """
    return study_of(Source.read(path))


def study_of(source: Source) -> Study:
    """Read the text of a study; raises GaweeError."""
    reader = _Reader(source, decode_toml(source))
    reader.check()
    top = reader.document
    tables = {table: reader.entries(table) for table in TABLES}
    study = Study(
        str(top.get("name", Path(source.name).stem)),
        source.folder,
        [_made(Network, each, _name_of_network(each)) for each in tables["network"]],
        [_made(Pipeline, each, _name_of_pipeline(each)) for each in tables["pipeline"]]
        or [Pipeline("default")],
        [_made(Options, each, _name_of_options(each)) for each in tables["options"]] or [Options()],
        _made(Measuring, {key: top[key] for key in TOP if key in top and key != "name"}),
    )
    reader.check_names(study)
    return study


class _Reader:
    """A document and the mistakes that were found in it."""

    def __init__(self, source: Source, document: Entry):
        self.source, self.document = source, document
        self.problems: list[Diagnostic] = []

    def report(self, path: Sequence[str | int], message: str, hint: str | None = None) -> None:
        self.problems.append(Diagnostic(message, place_of(self.source, path), hint=hint))

    def entries(self, table: str) -> Sequence[Entry]:
        found = self.document.get(table, [])
        return found if isa(found, list[dict[str, object]]) else []

    def check(self) -> None:
        """Raise GaweeError with every mistake: keys and values, then what an entry needs."""
        top = {key: value for key, value in self.document.items() if key not in TABLES}
        self._check_entry("a study", top, TOP, ())
        for table in TABLES:
            if table not in self.document:
                continue
            if not isa(self.document[table], list[dict[str, object]]):
                self.report((table,), f"expected [[{table}]], got another value '{table}'")
            for index, entry in enumerate(self.entries(table)):
                self._check_entry(f"[[{table}]]", entry, ENTRIES[table], (table, index))
        for index, entry in enumerate(self.entries("network")):
            if ("file" in entry) == ("factory" in entry):
                got = "both" if "file" in entry else "neither"
                self.report(("network", index), f"expected 'file' or 'factory', got {got}")
        if not self.entries("network"):
            self.report((), "expected at least one [[network]], got none")
        self.fail()

    def fail(self) -> None:
        if self.problems:
            raise GaweeError(self.problems)

    def _check_entry(
        self, what: str, entry: Entry, known: Mapping[str, Check], path: tuple[str | int, ...]
    ) -> None:
        for key, value in entry.items():
            if key not in known:
                keys = f"keys: {', '.join((*known, *(() if path else TABLES)))}"
                self.report(
                    (*path, key), f"unknown key '{key}' of {what}", did_you_mean(key, known, keys)
                )
                continue
            expected, test = known[key]
            if not test(value):
                self.report((*path, key), f"expected '{key}' to be {expected}, got {value!r}")

    def check_names(self, study: Study) -> None:
        """Raise GaweeError where two entries of a table have one name: that has to be unique."""
        named: Mapping[str, Sequence[Network | Pipeline | Options]] = {
            "network": study.networks,
            "pipeline": study.pipelines,
            "options": study.options,
        }
        for table, entries in named.items():
            names = [entry.name for entry in entries]
            for index, name in enumerate(names):
                if name in names[:index]:
                    self.report(
                        (table, index),
                        f"expected names of [[{table}]] to differ, got '{name}' twice",
                    )
        self.fail()


def _made(kind: Callable[..., T], entry: Entry, name: str | None = None) -> T:
    renamed = {"from": "source"}
    given = {renamed.get(key, key.replace("-", "_")): value for key, value in entry.items()}
    return kind(**(given if name is None else {**given, "name": name}))


def _name_of_network(entry: Entry) -> str:
    if "name" in entry:
        return str(entry["name"])
    if "file" in entry:
        path = Path(str(entry["file"]))
        return path.parent.name if path.stem == "graph" and path.parent.name else path.stem
    arguments = entry.get("arguments", [])
    words = arguments if isa(arguments, list[object]) else []
    return "-".join([str(entry["factory"]).rpartition(":")[2], *map(str, words)])


def _name_of_pipeline(entry: Entry) -> str:
    if "name" in entry:
        return str(entry["name"])
    parts: list[str] = []
    for key, word in (("without", "without"), ("insert", "with"), ("load", "with")):
        values = entry.get(key, [])
        if isa(values, list[object]) and values and not (key == "load" and parts):
            parts.append(f"{word} {', '.join(map(str, values))}")
    if "schedules" in entry:
        parts.append(f"by {entry['schedules']}")
    return "; ".join(parts) or "default"


def _name_of_options(entry: Entry) -> str:
    if "name" in entry:
        return str(entry["name"])
    return ", ".join(f"{key} {value}" for key, value in entry.items()) or "default"
