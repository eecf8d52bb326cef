"""Files that are whole or not there: written under a temporary name, which then becomes theirs.

A device or a pipe keeps being one: what was written goes into it at the end.
"""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from errno import ELOOP
from functools import cache
from pathlib import Path

SUFFIX = ".gawee-part"
"""Ends the names of folders in which files are written; no other files are called so."""

ABANDONED = 3600.0
"""Seconds after which such a folder is deleted: the process that made it was killed."""

STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Beginnings of names of what a process has open: to replace it is not to write into it."""


class WriteError(OSError):
    """A file that cannot be written; its name is the one that the user gave."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(error.errno, error.strerror or str(error), str(path))


def _is_stream(path: Path) -> bool:
    if str(path.absolute()).startswith(STREAMS):
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _resolved(path: Path) -> Path:
    """Return where a path leads; raises OSError for links in a circle."""
    try:
        return path.resolve()
    except RuntimeError as error:  # Python before 3.13
        raise OSError(ELOOP, os.strerror(ELOOP)) from error


def check_writable(path: Path) -> None:
    """Raise WriteError where a file cannot be written, before the work for it is done."""
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory")
        if not _is_stream(path):
            _draft_folder(_resolved(path)).rmdir()
    except OSError as error:
        raise WriteError(path, error) from error


@contextmanager
def whole_file(path: Path) -> Generator[Path]:
    """Yield a path to write instead of `path`; it takes its place where nothing is raised.

    What is written may be a file or a folder; a file that was there before stays until the end,
    and its mode is kept; a link goes on leading there. Raises WriteError.
    """
    into_stream = _is_stream(path)
    try:
        target = path if into_stream else _resolved(path)
        folder = Path(tempfile.mkdtemp()) if into_stream else _draft_folder(target)
    except OSError as error:
        raise WriteError(path, error) from error
    draft = folder / path.name
    try:
        yield draft
        if into_stream:
            with draft.open("rb") as written, path.open("wb") as stream:
                shutil.copyfileobj(written, stream)
            return
        if target.is_file():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        raise WriteError(path, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_file(path: Path, data: bytes | str) -> Path:
    """Write bytes, or text as UTF-8, whole or not at all; returns the path. Raises WriteError."""
    with whole_file(path) as draft:
        draft.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def _draft_folder(target: Path) -> Path:
    # A folder, not a name: whatever the writer makes in it, nothing is left behind.
    _remove_abandoned(target.parent)
    return Path(tempfile.mkdtemp(dir=target.parent, prefix=".", suffix=SUFFIX))


@cache
def _remove_abandoned(parent: Path) -> None:
    """Delete what writers that were killed have left in a folder; once in a process."""
    for folder in parent.glob(f".*{SUFFIX}"):
        try:
            if folder.stat().st_mtime < time.time() - ABANDONED:
                shutil.rmtree(folder)
        except OSError:
            continue  # another user's, or deleted meanwhile
