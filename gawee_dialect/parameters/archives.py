"""Files that hold many named arrays: NumPy's .npz."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from numpy.lib import format as npy

from gawee_dialect.diagnostics import GaweeError, first_line
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    read_only,
)


class NpzFile(ParameterStore):
    """The arrays of a .npz file, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with zipfile.ZipFile(path) as archive:
                members = archive.namelist()
        except zipfile.BadZipFile as error:
            raise GaweeError(f"cannot read '{path}' as .npz: {first_line(error)}") from error
        self._members = {member.removesuffix(".npy"): member for member in members}

    def describe(self, name: str) -> ArrayDescription:
        with zipfile.ZipFile(self._path) as archive, archive.open(self._members[name]) as stream:
            try:
                version = npy.read_magic(stream)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, _, dtype = read(stream)
            except (ValueError, OSError) as error:
                raise ParameterProblem(f"cannot read it: {first_line(error)}") from error
        return ArrayDescription(tuple(shape), dtype.name if dtype.isnative else dtype.str)

    def __getitem__(self, name: str) -> Array:
        with zipfile.ZipFile(self._path) as archive, archive.open(self._members[name]) as stream:
            try:
                return read_only(npy.read_array(stream, allow_pickle=False))
            except (ValueError, OSError, zipfile.BadZipFile) as error:
                raise ParameterProblem(f"cannot read it: {first_line(error)}") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
