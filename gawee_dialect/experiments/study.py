"""What a study compares: networks, pipelines and options, each in all combinations, and how."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

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
