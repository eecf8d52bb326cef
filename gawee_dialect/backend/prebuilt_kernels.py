"""Kernels that were compiled before they are needed: a folder that is read and never written.

An image of a system has it, or a package `gawee_kernels` beside this one. A kernel is found there
by the key that it has in the cache. Its file has the code, compressed, behind a hash of key and
code: one that is damaged counts as missing. What such a folder holds is run, so it is read only
where it belongs to this user or to root, and no other can write it.
"""

import hashlib
import os
import stat
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from gawee_dialect.whole_file import write_file

VARIABLE = "GAWEE_KERNELS_DIR"
"""Names the folder."""

PACKAGE = "gawee_kernels"
"""What is imported, as a package of files, where the variable is not set."""

SUFFIX = ".kernel"
SYSTEM = 0
"""The user that installs packages for all."""


def prebuilt_folder() -> Path | None:
    """Return the folder of prebuilt kernels, None where there is none."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else package_folder()


@cache
def package_folder() -> Path | None:
    """Return the folder of the package of kernels, None where it is not installed."""
    found = find_spec(PACKAGE)
    places = None if found is None else found.submodule_search_locations
    return Path(places[0]) if places else None


def read_prebuilt(key: str) -> bytes | None:
    """Return the bytes of a kernel; None where there is none, or it cannot be trusted."""
    folder = prebuilt_folder()
    if folder is None:
        return None
    path = folder / f"{key}{SUFFIX}"
    try:
        if not (_is_protected(folder) and _is_protected(path)):
            return None
        digest, packed = _split(path.read_bytes())
        content = zlib.decompress(packed)
    except (OSError, zlib.error):
        return None
    return content if digest == _digest(key, content) else None


def write_prebuilt(folder: Path, kernels: Mapping[str, bytes]) -> int:
    """Write kernels by their keys into a folder; return the bytes of the files.

    Only this user can write there afterwards. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    written = 0
    for key, content in kernels.items():
        data = _digest(key, content) + zlib.compress(content, 9)
        write_file(folder / f"{key}{SUFFIX}", data).chmod(0o644)
        written += len(data)
    return written


def _is_protected(path: Path) -> bool:
    """Whether only this user, or the system's, can write a file or a folder; raises OSError."""
    status = path.stat()
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid in (os.getuid(), SYSTEM) and not stat.S_IMODE(status.st_mode) & 0o022


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + content).digest()


def _split(data: bytes) -> tuple[bytes, bytes]:
    size = hashlib.sha256().digest_size
    return data[:size], data[size:]
