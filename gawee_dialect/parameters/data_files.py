"""Arrays in data files beside a graph, in the file of the graph, and in a folder of raw data."""

import mmap
import os
import re
import stat
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath
from threading import Lock

import numpy as np
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import EntryArgument
from gawee_dialect.dialect.types import AnyShaped, dtype_name, is_shaped, shaped_bytes
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    MissingParameter,
    ParameterProblem,
    ParameterStore,
    array_dtype,
)
from gawee_dialect.python_numbers import is_array

# Data files that a graph refers to: inside its folder, regular, and exactly as long as needed.


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


_NORMAL = re.compile(r"(?:\w[\w.-]*/)*\w[\w.-]*")
"""Paths that are in their normal form and stay inside a folder, as those of most files are."""


def check_relative(path: str) -> str:
    """Return a path in its normal form (`a/./b` is `a/b`).

    Raises FileProblem for a path that could leave the folder: absolute, with `..`, a drive or a
    backslash.
    """
    if _NORMAL.fullmatch(path):
        return path
    pure = PurePosixPath(path)
    leaves = pure.is_absolute() or ".." in pure.parts or PureWindowsPath(path).drive
    if leaves or "\\" in path or "\0" in path or not pure.parts:
        raise FileProblem(f"expected path '{path}' to stay inside the folder of the graph")
    return str(pure)


def find_file(folder: Path, path: str, size: int) -> Path:
    """Return the file of a relative path, which exists and has `size` bytes.

    Raises FileProblem where it does not, or where a symbolic link leads out of the folder.
    """
    file, found = _found_inside(folder, path)
    if found.st_size != size:
        raise FileProblem(f"expected file '{path}' of {size} bytes, got {found.st_size}")
    return Path(file)


def _real(path: str | Path) -> Path:
    """Return where a path leads; one that goes in a circle leads to itself, and cannot be read."""
    return Path(os.path.realpath(path))


def _has_link(folder: Path, relative: str) -> bool:
    """Whether a part of a path below a folder is a symbolic link: what has none stays inside."""
    at = os.fspath(folder)
    for part in relative.split("/"):
        at = f"{at}/{part}"
        if os.path.islink(at):
            return True
    return False


def find_inside(folder: Path, path: str) -> Path:
    """Return the regular file of a relative path; raises FileProblem as `find_file` does."""
    file, _ = _found_inside(folder, path)
    return Path(file)


def _found_inside(folder: Path, path: str) -> tuple[str, os.stat_result]:
    relative = check_relative(path)
    file = os.path.join(folder, relative)
    if _has_link(folder, relative) and not _real(file).is_relative_to(_real(folder)):
        raise FileProblem(f"expected path '{path}' to stay inside the folder of the graph")
    try:
        status = os.stat(file)
    except OSError as error:
        kind = MissingFile if isinstance(error, FileNotFoundError) else FileProblem
        raise kind(f"cannot read file '{path}': {(error.strerror or '').lower()}") from error
    if not stat.S_ISREG(status.st_mode):
        raise FileProblem(f"expected '{path}' to be a regular file")
    return file, status


def forget_pages(array: Array) -> None:
    """Let the system have the pages of an array that is a view of a file, mapped to be read.

    They come back when they are read again. Other arrays stay as they are.
    """
    mapping: object = array
    while is_array(mapping):
        mapping = mapping.base
    advice = getattr(mmap, "MADV_DONTNEED", None)  # not on Windows
    if not isinstance(mapping, mmap.mmap) or advice is None or not array.flags.c_contiguous:
        return
    with memoryview(mapping) as view:
        if not view.readonly or not array.nbytes:
            return
        first = array.ctypes.data - np.frombuffer(view, np.uint8).ctypes.data
    start = first - first % mmap.PAGESIZE
    mapping.madvise(advice, start, first + array.nbytes - start)


# Arrays that stay in the file of their graph until they are read.


class OpenFile:
    """A file that stays open, so that it can be read after it was deleted or replaced."""

    def __init__(self, path: Path) -> None:
        """Open a file; raises OSError, and GaweeError for a device."""
        require_regular(path)
        self.path = path
        self._file = path.open("rb", buffering=0)
        weakref.finalize(self, self._file.close)
        self._lock = Lock()
        self._state = self._look()
        self.size = self._state[0]

    def _look(self) -> tuple[int, int]:
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns

    def mapped(self) -> np.memmap[tuple[int], np.dtype[np.uint8]]:
        """Return the bytes of the file as they are now, mapped."""
        return np.memmap(self._file, np.uint8, "r")

    def read(self, offset: int, array: Array) -> None:
        """Fill an array from a place of the file.

        Raises ParameterProblem where the file was written to since it was opened.
        """
        data = array.reshape(-1).view(np.uint8).data
        with self._lock:
            self._file.seek(offset)
            found = 0
            while found < len(data) and (more := self._file.readinto(data[found:])):
                found += more
        if self._look() != self._state:
            raise ParameterProblem(f"'{self.path}' was written to after the graph was read from it")


@dataclass(frozen=True)
class FileExtent:
    """Where an array is in a file: bytes from its beginning, in this machine's byte order."""

    offset: int
    description: ArrayDescription


class FileArrays(ParameterStore):
    """Arrays at places of one file; each is read, into memory of its own, at its first use."""

    def __init__(self, file: OpenFile, places: Mapping[str, FileExtent]) -> None:
        self._file, self._places, self.names = file, places, places

    def describe(self, name: str) -> ArrayDescription:
        return self._places[name].description

    def __getitem__(self, name: str) -> Array:
        place = self._places[name]
        array = np.empty(place.description.shape, array_dtype(place.description.dtype))
        self._file.read(place.offset, array)
        array.flags.writeable = False
        return array

    def __contains__(self, name: object) -> bool:
        return name in self._places


def places_in(mapped: Array, arrays: Mapping[str, Array]) -> Mapping[str, FileExtent]:
    """Return the places of those arrays that are whole pieces of a mapped file."""
    start, end = mapped.ctypes.data, mapped.ctypes.data + mapped.nbytes
    found: dict[str, FileExtent] = {}
    for name, array in arrays.items():
        address = array.ctypes.data
        size = prod(array.shape) * array.itemsize
        inside = size > 0 and start <= address and address + size <= end
        if inside and array.flags.c_contiguous:
            found[name] = FileExtent(
                address - start, ArrayDescription(array.shape, array.dtype.name)
            )
    return found


# A folder of raw data: one file a parameter, little-endian, C order, no header.


class RawFolder(ParameterStore):
    """The files that `gawee.path` attributes name, memory-mapped.

    The files say neither shape nor dtype: those are the arguments', and a file has just the bytes
    they need.
    """

    def __init__(self, folder: Path, weights: Sequence[EntryArgument]) -> None:
        """Offer the weights of these arguments; what has no path is not in the folder."""
        self._folder = folder
        self._arguments = {each.name: each for each in weights}
        self.names = self._arguments

    def _file(self, argument: EntryArgument) -> tuple[Path, AnyShaped]:
        if argument.path is None:
            raise ParameterProblem(
                "expected a 'gawee.path', got none: only a .npz or .safetensors file can have it"
            )
        if not is_shaped(argument.type):
            raise ParameterProblem(f"expected a tensor or a buffer, got '{argument.type}'")
        try:
            return find_file(
                self._folder, argument.path, shaped_bytes(argument.type)
            ), argument.type
        except MissingFile as problem:
            raise MissingParameter(str(problem)) from problem
        except FileProblem as problem:
            raise ParameterProblem(str(problem)) from problem

    def describe(self, name: str) -> ArrayDescription:
        _, type = self._file(self._arguments[name])
        return self._described(type)

    def _described(self, type: AnyShaped) -> ArrayDescription:
        try:
            return ArrayDescription(type.get_shape(), dtype_name(type.element_type))
        except VerifyException as error:
            raise ParameterProblem(str(error)) from error

    def __getitem__(self, name: str) -> Array:
        file, type = self._file(self._arguments[name])
        description = self._described(type)
        # "=" is what buffers of native arrays say; "<f4" is another dtype to memoryview.
        little = np.dtype(description.dtype).newbyteorder("<")
        dtype = little.newbyteorder("=") if little.isnative else little
        if prod(description.shape) == 0:  # an empty file cannot be mapped
            return np.empty(description.shape, dtype)
        return np.memmap(file, dtype=dtype, mode="r", shape=description.shape)
