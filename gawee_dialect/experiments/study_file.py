"""The file of a study, in TOML: read, and checked with the place of every mistake.

rounds = 7
[[network]]
file = "resnet18.onnx"
[[pipeline]]
name = "all passes"
[[pipeline]]
without = ["fold-batch-norm"]
[[options]]
num-threads = 1
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from gawee_dialect.code_options import ALGORITHMS
from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, first_line
from gawee_dialect.experiments.study import Measuring, Network, Options, Pipeline, Study
from gawee_dialect.hints import isa
from gawee_dialect.source import Source

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
T = TypeVar("T")


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
