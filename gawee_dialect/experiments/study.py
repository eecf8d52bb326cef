"""What a study compares: networks, pipelines and options, each in all combinations, and how."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.hints import isa

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
