"""Compiled code that is kept between processes, in a folder that only the user can read.

An entry is found by a hash of everything that it was made from, this package's own source
included. Its file is written whole or not at all, and checked before it is used: it is the user's
own, and its seal was made with a secret that the folder keeps. The least
recently used entries go first when the folder grows too large.
"""

import hashlib
import hmac
import os
import stat
import struct
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

import gawee_dialect
from gawee_dialect.target.description import MIB
from gawee_dialect.target.host import cache_folder
from gawee_dialect.whole_file import check_writable, whole_file

MAGIC = b"gawee compiled 2\n"
SUFFIX = ".gawee"
LIMIT = 512 * MIB
"""Bytes that all entries may have together."""

PARTS = 64
"""A process adds up the sizes of entries whenever it wrote one of so many parts of the limit."""

SECRET = "seal.key"
"""The file of random bytes that entries are sealed with: without it, no entry can be made."""

SECRET_SIZE = 32

DISTRIBUTIONS = ("xdsl", "llvmlite", "numpy")
"""Packages whose version is part of every key."""

ROOT = Path(gawee_dialect.__file__).parent

SOURCES = (".py", ".toml")
"""What files of the compiler are called."""

BACK_END = "backend"
"""The folder of all that LLVM IR goes through on its way to machine code."""


@cache
def versions(part: str = "") -> str:
    """Return a hash of this state of the compiler: its files, and its packages'.

    Source files count by size and time of change, so that a pass that was edited runs again. `part`
    is a folder of the package: the state of that alone.
    """
    found: list[str] = []
    for file in _sources(str(ROOT / part)):
        status = file.stat()
        name = file.path.removeprefix(str(ROOT))
        found.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return _hash_of(found)


def versions_of(files: Iterable[Path]) -> str:
    """Return a hash of what files of this package say, and of other packages' versions.

    It is the same where the package is installed again, or in another place.
    """
    digests = [(path, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return _hash_of(f"{path.relative_to(ROOT)} {digest}" for path, digest in digests)


def _hash_of(files: Iterable[str]) -> str:
    lines = (*sorted(files), *map(_distribution, DISTRIBUTIONS))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _sources(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the files of the compiler below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _sources(entry.path)
            elif entry.name.endswith(SOURCES):
                yield entry


def _distribution(name: str) -> str:
    """Return a package and its version, which the name of a folder beside it says.

    To ask `importlib.metadata` takes 15 ms; it is asked where there is not one such folder.
    """
    (folder,) = import_module(name).__path__
    beside = [each for each in os.listdir(Path(folder).parent) if each.startswith(f"{name}-")]
    if len(beside) == 1 and beside[0].endswith(".dist-info"):
        return beside[0].removesuffix(".dist-info")
    from importlib.metadata import version

    return f"{name}-{version(name)}"


def key_of(*parts: str, state: str | None = None) -> str:
    """Return the key of what is made from some texts; their order and their borders count.

    `state` is a hash of what makes it, by default all of this package.
    """
    digest = hashlib.sha256()
    for part in (versions() if state is None else state, *parts):
        data = part.encode()
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.hexdigest()


def _is_own(status: os.stat_result) -> bool:
    # The user's profile is private where there are no mode bits.
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _make_private(folder: Path) -> None:
    """Make a folder that only this user can enter; raises OSError where others can write."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or not _is_own(status):
        raise PermissionError(1, "it belongs to another user", str(folder))
    if not hasattr(os, "getuid"):
        return
    if stat.S_IMODE(status.st_mode) & 0o022:
        raise PermissionError(1, "others can write there", str(folder))
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def _read_own(path: Path) -> bytes | None:
    """Return the bytes of a file; None where there is none of this user. Raises OSError."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            own = stat.S_ISREG(status.st_mode) and _is_own(status)
            return file.read() if own else None
    except FileNotFoundError:
        return None


@cache
def _warn_once(folder: Path, reason: str) -> None:
    warnings.warn(f"compiled code was not kept: '{folder}': {reason}", RuntimeWarning, stacklevel=4)


_written: dict[Path, int] = {}
"""By folder, the bytes that this process wrote since it looked last."""


@dataclass
class CompileCache:
    """A folder of entries; any number of threads and processes may use it at once."""

    folder: Path = field(default_factory=lambda: cache_folder() / "compiled")
    limit: int = LIMIT

    def read(self, key: str) -> bytes | None:
        """Return an entry's bytes; None where there is none, or it is damaged and now deleted."""
        path = self._path(key)
        try:
            _make_private(self.folder)
            data = _read_own(path)
            secret = self._secret()
        except OSError:
            return None
        if data is None:
            return None
        content = _checked(data, key, secret)
        if content is None:
            path.unlink(missing_ok=True)
            return None
        try:
            os.utime(path)  # this makes it the last to go
        except OSError:
            pass  # it was deleted meanwhile; what was read is whole
        return content

    def write(self, key: str, content: bytes) -> None:
        """Keep an entry; one warning where that cannot be, since the next run compiles again."""
        self.write_all({key: content})

    def write_all(self, entries: Mapping[str, bytes]) -> None:
        """Keep several entries, as `write` does."""
        if not entries:
            return
        try:
            _make_private(self.folder)
            secret = self._secret()
            for key, content in entries.items():
                self._write(self._path(key), _sealed(content, key, secret))
            if self._may_be_full(sum(map(len, entries.values()))):
                self._prune()
        except OSError as error:
            _warn_once(self.folder, error.strerror or str(error))

    def clear(self) -> None:
        """Delete every entry."""
        for _, _, path in self._entries():
            path.unlink(missing_ok=True)

    def contents(self) -> tuple[int, int]:
        """Return how many entries there are, and their bytes."""
        sizes = [size for _, size, _ in self._entries()]
        return len(sizes), sum(sizes)

    def problem(self) -> str | None:
        """Return why no entry can be kept, None where one can."""
        try:
            _make_private(self.folder)
            self._secret()
            check_writable(self.folder / SECRET)
        except OSError as error:
            return error.strerror or str(error)
        return None

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _write(self, path: Path, data: bytes) -> None:
        with whole_file(path) as draft:
            draft.touch(0o600)
            draft.write_bytes(data)

    def _secret(self) -> bytes:
        """Return what this folder's entries are sealed with, which the first of all runs makes."""
        path = self.folder / SECRET
        secret = _read_own(path)
        if secret is None or len(secret) != SECRET_SIZE:
            self._write(path, os.urandom(SECRET_SIZE))
            secret = path.read_bytes()  # one that was written at the same time serves as well
        return secret

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield when each entry was last used, and its size."""
        if not self.folder.is_dir():
            return
        for entry in os.scandir(self.folder):
            if not entry.name.endswith(SUFFIX):
                continue
            try:
                status = entry.stat()
            except FileNotFoundError:
                continue
            yield status.st_mtime, status.st_size, Path(entry.path)

    def _may_be_full(self, written: int) -> bool:
        """Whether to look at all entries: thousands take as long as a small network."""
        unseen = _written.get(self.folder, self.limit) + written
        looks = unseen * PARTS >= self.limit
        _written[self.folder] = 0 if looks else unseen
        return looks

    def _prune(self) -> None:
        """Delete what was not used for longest, until the rest is within the limit."""
        entries = sorted(self._entries(), reverse=True)
        total = 0
        for _, size, path in entries:
            total += size
            if total > self.limit and path != entries[0][2]:
                path.unlink(missing_ok=True)


def _sealed(content: bytes, key: str, secret: bytes) -> bytes:
    digest = hmac.digest(secret, key.encode() + content, "sha256")
    return MAGIC + digest + content


def _checked(data: bytes, key: str, secret: bytes) -> bytes | None:
    """Return the content of a file, None where it is damaged, another key's or another user's."""
    start = len(MAGIC) + hashlib.sha256().digest_size
    content = data[start:]
    return content if hmac.compare_digest(data, _sealed(content, key, secret)) else None
