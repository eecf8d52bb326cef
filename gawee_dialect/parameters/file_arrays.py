"""Arrays that stay in the file of their graph until they are read."""

import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from threading import Lock

import numpy as np

from gawee_dialect.parameters.contained_file import require_regular
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    array_dtype,
)


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
