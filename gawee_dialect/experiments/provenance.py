"""Where a record is from: the machine, the versions, and the files that decided it."""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import gawee_dialect
from gawee_dialect.experiments.study import Cell
from gawee_dialect.target.host import cpu_info, llvm_host, model_name, physical_cores

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
