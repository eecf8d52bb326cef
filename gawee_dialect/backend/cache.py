"""Compiled code that is kept between processes, in a folder that only the user can read.

An entry is found by a hash of everything that it was made from, this package's own source
included. Its file is written whole or not at all, and checked before it is used; entries that
nobody used for longest go first when the folder grows too large.
"""

import hashlib
import importlib.metadata
import os
import stat
import struct
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import gawee_dialect
from gawee_dialect.target.description import MIB
from gawee_dialect.target.host import cache_folder

MAGIC = b"gawee compiled 1\n"
SUFFIX = ".gawee"
LIMIT = 512 * MIB
"""Bytes that all entries may have together."""

ABANDONED = 3600.0
"""Seconds after which a file that nobody finished writing is deleted."""

DISTRIBUTIONS = ("xdsl", "llvmlite", "numpy")
"""Packages whose version is part of every key."""


@cache
def versions() -> str:
    """Return what tells this state of the compiler from any other: its files, and its packages'.

    Source files count by size and time of change, so that a pass that was edited runs again.
    """
    root = Path(gawee_dialect.__file__).parent
    found: list[str] = []
    for path in sorted(root.rglob("*.py")):
        status = path.stat()
        found.append(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}")
    for name in DISTRIBUTIONS:
        found.append(f"{name} {importlib.metadata.version(name)}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def key_of(*parts: str) -> str:
    """Return the key of what is made from some texts; their order and their borders count."""
    digest = hashlib.sha256()
    for part in (versions(), *parts):
        data = part.encode()
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.hexdigest()


def _is_private(folder: Path) -> bool:
    """Make a folder that only this user can enter; False where somebody else's is there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not hasattr(os, "getuid"):
        return True  # the user's profile is private where there are no mode bits
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return False
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    return True


@dataclass
class CompileCache:
    """A folder of entries; any number of threads and processes may use it at once."""

    folder: Path = field(default_factory=lambda: cache_folder() / "compiled")
    limit: int = LIMIT

    def read(self, key: str) -> bytes | None:
        """Return an entry's bytes; None where there is none, or it is damaged and now deleted."""
        path = self._path(key)
        try:
            if not _is_private(self.folder):
                return None
            data = path.read_bytes()
        except OSError:
            return None
        content = _checked(data, key)
        if content is None:
            path.unlink(missing_ok=True)
            return None
        try:
            os.utime(path)  # this makes it the last to go
        except OSError:
            pass  # somebody deleted it meanwhile; what was read is whole
        return content

    def write(self, key: str, content: bytes) -> None:
        """Keep an entry; one warning where that cannot be, since the next run compiles again."""
        try:
            if not _is_private(self.folder):
                raise PermissionError(f"'{self.folder}' belongs to somebody else")
            self._write(self._path(key), _sealed(content, key))
            self._prune()
        except OSError as error:
            warnings.warn(
                f"compiled code was not kept: {error.strerror or error}",
                RuntimeWarning,
                stacklevel=2,
            )

    def clear(self) -> None:
        """Delete every entry."""
        for _, _, path in self._entries():
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _write(self, path: Path, data: bytes) -> None:
        descriptor, temporary = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield when each entry was last used, and its size."""
        for path in self.folder.glob(f"*{SUFFIX}"):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            yield status.st_mtime, status.st_size, path

    def _prune(self) -> None:
        """Delete what was not used for longest, until the rest is within the limit."""
        entries = sorted(self._entries(), reverse=True)
        total = 0
        for _, size, path in entries:
            total += size
            if total > self.limit and path != entries[0][2]:
                path.unlink(missing_ok=True)
        for path in self.folder.glob(".*.part"):
            try:
                if path.stat().st_mtime < time.time() - ABANDONED:
                    path.unlink()
            except FileNotFoundError:
                continue


def _sealed(content: bytes, key: str) -> bytes:
    digest = hashlib.sha256(key.encode() + content).digest()
    return MAGIC + digest + content


def _checked(data: bytes, key: str) -> bytes | None:
    """Return the content of a file, None where it is not whole or is another key's."""
    start = len(MAGIC) + hashlib.sha256().digest_size
    content = data[start:]
    return content if data == _sealed(content, key) else None
