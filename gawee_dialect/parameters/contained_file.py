"""Data files that a graph refers to: inside its folder, regular, and exactly as long as needed."""

import os
import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

from gawee_dialect.diagnostics import GaweeError

MAX_TENSOR_BYTES = 2**40
"""What no tensor exceeds; a larger shape is a mistake, refused before anything is allocated."""


class FileProblem(Exception):
    """What is wrong with a data file, in one line."""


class MissingFile(FileProblem):
    """A data file that is not there."""


def require_regular(path: Path) -> None:
    """Raise GaweeError for a device, which may never end, and for a pipe; OSError for nothing."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise GaweeError(f"expected '{path}' to be a regular file")


def check_relative(path: str) -> str:
    """Return a path in its normal form (`a/./b` is `a/b`).

    Raises FileProblem for a path that could leave the folder: absolute, with `..`, a drive or a
    backslash.
    """
    pure = PurePosixPath(path)
    leaves = pure.is_absolute() or ".." in pure.parts or PureWindowsPath(path).drive
    if leaves or "\\" in path or "\0" in path or not pure.parts:
        raise FileProblem(f"expected path '{path}' to stay inside the folder of the graph")
    return str(pure)


def find_file(folder: Path, path: str, size: int) -> Path:
    """Return the file of a relative path, which exists and has `size` bytes.

    Raises FileProblem where it does not, or where a symbolic link leads out of the folder.
    """
    file = find_inside(folder, path)
    found = file.stat().st_size
    if found != size:
        raise FileProblem(f"expected file '{path}' of {size} bytes, got {found}")
    return file


def _real(path: Path) -> Path:
    """Return where a path leads; one that goes in a circle leads to itself, and cannot be read."""
    return Path(os.path.realpath(path))


def find_inside(folder: Path, path: str) -> Path:
    """Return the regular file of a relative path; raises FileProblem as `find_file` does."""
    file = folder / check_relative(path)
    if not _real(file).is_relative_to(_real(folder)):
        raise FileProblem(f"expected path '{path}' to stay inside the folder of the graph")
    try:
        status = file.stat()
    except OSError as error:
        kind = MissingFile if isinstance(error, FileNotFoundError) else FileProblem
        raise kind(f"cannot read file '{path}': {(error.strerror or '').lower()}") from error
    if not stat.S_ISREG(status.st_mode):
        raise FileProblem(f"expected '{path}' to be a regular file")
    return file
