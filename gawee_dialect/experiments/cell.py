"""One cell of a study, measured in this process: `measure` returns its record.

What a record is from is the machine, the versions, and the files that decided it.
"""

import hashlib
import json
import platform
import runpy
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TypeGuard

import numpy as np

import gawee_dialect
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.entry import EntryArgument
from gawee_dialect.dialect.types import dtype_name, is_shaped
from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures
from gawee_dialect.evaluation.figures import Code, Cost, Counters, Memory, Time, Validity
from gawee_dialect.evaluation.turns import Referee
from gawee_dialect.experiments.study import Cell, Measuring, Pipeline, Record
from gawee_dialect.hints import isa
from gawee_dialect.model import Model, load
from gawee_dialect.parameters.given_inputs import random_inputs, random_parameters
from gawee_dialect.passes.insertion import parse_insertion
from gawee_dialect.schedules.database import NO_CHOICES
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.target.host import cpu_info, llvm_host, model_name, physical_cores
from gawee_dialect.universe import all_passes

PACKAGES = ("gawee-dialect", "xdsl", "llvmlite", "numpy", "torch")


@cache
def this_machine() -> dict[str, object]:
    """Return what is known of this machine; `processor` and `cpu` say whether another is alike."""
    cpu, _ = llvm_host()
    return {
        "host": platform.node(),
        "processor": model_name(),
        "cpu": cpu,
        "microcode": cpu_info("microcode"),
        "cores": physical_cores(),
        "system": platform.platform(),
    }


@cache
def package_versions() -> dict[str, str]:
    """Return the versions of Python and of what compiles and runs networks."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def source_hash() -> str:
    """Return a hash of this package's source: of contents, so that another checkout has it too."""
    root = Path(gawee_dialect.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".ll", ".op", ".json", ".toml") and path.is_file():
            digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def content_hash(path: Path) -> str | None:
    """Return a hash of a file's bytes, or of a folder's names and sizes; None without one."""
    if path.is_file():
        status = path.stat()
        return _hash_of_file(path, status.st_mtime_ns, status.st_size)
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file())
        names = [f"{each.relative_to(path)} {each.stat().st_size}" for each in files]
        return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
    return None


@cache
def _hash_of_file(path: Path, changed: int, size: int) -> str:
    """Return a hash of a file's bytes, which are read again when it has changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def files_of(cell: Cell) -> dict[str, str | None]:
    """Return the hash of every file that a cell names, by the name in the study."""
    network, pipeline, base = cell.network, cell.pipeline, cell.baseline
    named = [network.file, network.weights, pipeline.schedules, base.schedules]
    paths = {text: cell.path(text) for text in named if text}
    paths |= {text: cell.path(text) for text in (*pipeline.load, *base.load)}
    for text in (network.factory, *cell.measuring.evaluators):
        where, colon, _ = (text or "").rpartition(":")
        if colon:
            paths[where] = _source_of(cell, where)
    return {text: content_hash(path) for text, path in sorted(paths.items())}


def _source_of(cell: Cell, where: str) -> Path:
    if where.endswith(".py"):
        return cell.path(where)
    try:
        found = find_spec(where)
    except (ImportError, ValueError):
        found = None
    origin = None if found is None else found.origin
    return Path(origin) if origin is not None else cell.path(where)


@dataclass(frozen=True)
class Origin:
    """What a record is of: the cell's key, and hashes of the package and of the cell's files."""

    key: str
    source: str
    files: Mapping[str, str | None]


def origin_of(cell: Cell) -> Origin:
    """Return what a cell is now; its files may be edited later."""
    form, files, source = cell.form(), files_of(cell), source_hash()
    del form["folder"]
    parts = [form, files, source, package_versions()]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
    return Origin(key, source, files)


def key_of(cell: Cell) -> str:
    """Return a hash of all that decides what a cell is, but for the machine that measures it."""
    return origin_of(cell).key


# The networks of a study, made ready: from files, or by functions.


# Python objects by name, `module:name` or `file.py:name`: factories of networks, evaluators.


def named_object(text: str, folder: Path) -> object:
    """Return what a name stands for; files are looked for in a folder. Raises GaweeError."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        message = f"expected module:name or file.py:name, got '{text}'"
        raise GaweeError(message)
    with _importable(folder):
        members = _members(text, where, folder)
    if name not in members:
        hint = f"it has: {', '.join(each for each in members if not each.startswith('_'))}"
        raise GaweeError(Diagnostic(f"expected '{name}' in '{where}', got none", hint=hint[:200]))
    return members[name]


def _members(text: str, where: str, folder: Path) -> dict[str, object]:
    try:
        if where.endswith(".py"):
            return dict(runpy.run_path(str(folder / where)))
        return dict(vars(import_module(where)))
    except GaweeError:
        raise
    except Exception as error:  # whatever the user's code raises
        raise GaweeError(f"cannot import '{text}': {type(error).__name__}: {error}") from error


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    added = [str(folder), str(Path.cwd())]
    sys.path[:0] = added
    try:
        yield
    finally:
        for each in added:
            sys.path.remove(each)


RANDOM = "random"


@dataclass(frozen=True)
class Weight:
    """What an array of weights is to be like."""

    name: str
    shape: Sequence[int]
    dtype: np.dtype[np.generic]

    @staticmethod
    def of(argument: EntryArgument) -> "Weight":
        """Describe an argument of the entry function."""
        type = argument.type
        element, shape = (type.element_type, type.get_shape()) if is_shaped(type) else (type, ())
        return Weight(argument.name, shape, np.dtype(dtype_name(element)))


def network_of(cell: Cell) -> Model:
    """Return the network of a cell with its weights; raises GaweeError and OSError."""
    network = cell.network
    if network.factory is not None:
        made = named_object(network.factory, cell.path("."))
        if not callable(made):
            raise GaweeError(f"expected a function '{network.factory}', got another object")
        model = _model(network.factory, made(*network.arguments), network.name)
    else:
        path = cell.path(network.file or "")
        given = None if network.weights in (None, RANDOM) else cell.path(str(network.weights))
        model = load(
            path,
            {} if network.weights == RANDOM else given,
            shapes=network.shape,
            format=network.source,
        )
    if network.weights == RANDOM:
        weights = map(Weight.of, model.entry.weights)
        model.parameters = random_parameters(weights, cell.measuring.seed)
    return model


def _model(factory: str, made: object, name: str) -> Model:
    """Take what a factory returned: a Model, or a module of PyTorch with its example inputs."""
    if isinstance(made, Model):
        return made
    if isa(made, tuple[object, ...]) and len(made) == 2:
        module, inputs = made
        from_torch: Callable[..., Model] = Model.from_torch
        several = isa(inputs, tuple[object, ...]) or isa(inputs, list[object])
        return from_torch(_evaluated(module), inputs if several else (inputs,), name=name)
    raise GaweeError(
        f"expected '{factory}' to return a Model, or a module and its inputs, "
        f"got {type(made).__name__}"
    )


def _evaluated(module: object) -> object:
    evaluate = getattr(module, "eval", None)
    return evaluate() if callable(evaluate) else module


def _time(measuring: Measuring) -> Evaluator[Build]:
    referee = Referee(patience=measuring.patience, retries=measuring.retries)
    return Time(measuring.rounds, measuring.runs, measuring.seconds, referee=referee, pin=True)


EVALUATORS: Mapping[str, Callable[[Measuring], Evaluator[Build]]] = {
    "time": _time,
    "validity": lambda _: Validity(),
    "code": lambda _: Code(),
    "memory": lambda _: Memory(),
    "cost": lambda _: Cost(),
    "counters": lambda _: Counters(),
}
"""By the names that a study calls them."""


def evaluator_of(name: str, cell: Cell) -> Evaluator[Build]:
    """Return an evaluator by name, or one's own as `file.py:Class`; raises GaweeError."""
    if name in EVALUATORS:
        return EVALUATORS[name](cell.measuring)
    if ":" not in name:
        known = ", ".join(EVALUATORS)
        raise GaweeError(
            Diagnostic(f"unknown evaluator '{name}'", hint=f"known: {known}, or file.py:Class")
        )
    kind = named_object(name, cell.path("."))
    if not _is_evaluator(kind):
        raise GaweeError(f"expected an Evaluator '{name}', got another object")
    return kind()


def _is_evaluator(kind: object) -> TypeGuard[Callable[[], Evaluator[Build]]]:
    return isinstance(kind, type) and issubclass(kind, Evaluator)


def code_options(cell: Cell, pipeline: Pipeline) -> CodeOptions:
    """Return the options of code that a pipeline makes; raises GaweeError and OSError."""
    chosen, schedules = cell.options, pipeline.schedules
    return CodeOptions(
        fast_math=chosen.fast_math,
        algorithms=chosen.algorithms,
        target=chosen.target,
        num_threads=chosen.num_threads,
        trust_indices=chosen.trust_indices,
        schedules=NO_CHOICES if schedules is None else read_schedules(cell.path(schedules)),
        passes=tuple(parse_insertion(text, all_passes()) for text in pipeline.insert),
        without=tuple(pipeline.without),
    ).without_idle_teams


def figures_of(cell: Cell) -> Figures:
    """Measure a cell, the baseline taking turns with it; raises GaweeError and OSError."""
    model = network_of(cell)
    build, compiling = _built(cell, model, cell.pipeline)
    build.inputs = random_inputs(build.compiled.inputs, cell.measuring.seed)
    builds = [build]
    if not cell.is_baseline:
        base, _ = _built(cell, model, cell.baseline)
        base.inputs = build.inputs
        builds.insert(0, base)
    figures: dict[str, object] = {"compile_seconds": compiling}
    for name in cell.measuring.evaluators:
        evaluator = evaluator_of(name, cell)
        asked: Sequence[Build] = builds if isinstance(evaluator, Time) else builds[-1:]
        figures |= evaluator.figures(asked)[-1]
    return figures


def _built(cell: Cell, model: Model, pipeline: Pipeline) -> tuple[Build, float]:
    build = Build(model, code_options(cell, pipeline))
    start = perf_counter()
    build.program.load()
    return build, perf_counter() - start


def measure(cell: Cell) -> Record:
    """Return the record of a cell; what is wrong with it becomes its error, as is an edited file.

    Figures are those of the files that were there at the start, or none.
    """
    start, origin = perf_counter(), origin_of(cell)
    this_machine()  # before threads are bound: it counts the processors that are allowed
    try:
        found: dict[str, object] = {"figures": dict(figures_of(cell))}
    except Exception as error:  # a cell that fails is a row of the table, whatever the reason
        found = {"error": error_text(error)}
    after = files_of(cell)
    edited = [name for name, digest in origin.files.items() if after.get(name) != digest]
    if edited:
        message = f"'{edited[0]}' was edited while the cell was measured; run it again"
        found = {"error": message}
    return record_of(cell, origin, found, perf_counter() - start)


def error_text(error: Exception) -> str:
    """Return the first problem of an exception in one line."""
    if isinstance(error, GaweeError):
        first = error.diagnostics[0]
        return f"{first.place}: {first.message}" if first.place else first.message
    return f"{type(error).__name__}: {first_line(error)}"


def record_of(
    cell: Cell, origin: Origin, found: Mapping[str, object], wall_seconds: float
) -> Record:
    """Return a record: what was found, by what, of what, and where."""
    network, pipeline, options = cell.names
    return {
        "key": origin.key,
        "network": network,
        "pipeline": pipeline,
        "options": options,
        "num_threads": cell.options.num_threads,
        "seed": cell.measuring.seed,
        **found,
        "baseline": cell.baseline.name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_seconds": round(wall_seconds, 2),
        "machine": this_machine(),
        "versions": package_versions(),
        "source": origin.source,
        "files": origin.files,
    }
