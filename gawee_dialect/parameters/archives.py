"""Files that hold many named arrays: NumPy's .npz."""

import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from numpy.lib import format as npy

from gawee_dialect.diagnostics import GaweeError, first_line
from gawee_dialect.parameters.contained_file import require_regular
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    read_only,
)


def _reason(error: Exception) -> str:
    text = first_line(error)
    return "it holds Python objects, which are not loaded" if "allow_pickle" in text else text


class NpzFile(ParameterStore):
    """The arrays of a .npz file, each read on demand."""

    def __init__(self, path: Path) -> None:
        self._path = path
        require_regular(path)
        try:
            with zipfile.ZipFile(path) as archive:
                members = archive.namelist()
        except OSError:
            raise
        except Exception as error:  # damage takes all forms: NotImplementedError, UnicodeError, ...
            raise GaweeError(f"cannot read '{path}' as .npz: {_reason(error)}") from error
        self._members = {member.removesuffix(".npy"): member for member in members}

    def describe(self, name: str) -> ArrayDescription:
        with self._opened(name) as stream:
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read(stream)
        return ArrayDescription(tuple(shape), dtype.name if dtype.isnative else dtype.str)

    def __getitem__(self, name: str) -> Array:
        with self._opened(name) as stream:
            return read_only(npy.read_array(stream, allow_pickle=False))

    @contextmanager
    def _opened(self, name: str) -> Generator[IO[bytes]]:
        member = self._members[name]
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(member) as stream:
                yield stream
        except Exception as error:  # damage takes all forms: zlib.error, EOFError, SyntaxError, ...
            raise ParameterProblem(f"cannot read it: {_reason(error)}") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def read_npz(path: str | Path) -> dict[str, Array]:
    """Read all arrays of an .npz file by name; raises GaweeError, OSError where there is none."""
    store = NpzFile(Path(path))
    try:
        return dict(store)
    except ParameterProblem as problem:
        raise GaweeError(f"cannot read '{path}' as .npz: {problem}") from problem


def read_npy(path: str | Path) -> Array:
    """Read an .npy file; raises GaweeError, OSError where there is none."""
    require_regular(Path(path))
    try:
        with Path(path).open("rb") as stream:
            return npy.read_array(stream, allow_pickle=False)
    except OSError as error:
        if error.filename is None:
            raise GaweeError(f"cannot read '{path}' as .npy: {error}") from error
        raise
    except Exception as error:  # damage takes all forms
        raise GaweeError(f"cannot read '{path}' as .npy: {_reason(error)}") from error
