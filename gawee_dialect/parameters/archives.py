"""Files that hold many named arrays: NumPy's .npz."""

import json
import zipfile
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from math import prod
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy
from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import GaweeError, first_line
from gawee_dialect.parameters.contained_file import require_regular
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    array_dtype,
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
        self.names = self._members

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


# Files in the .safetensors format: a header of names, shapes and dtypes, then the data.


_DTYPES = {
    **{"F16": "float16", "F32": "float32", "F64": "float64", "BF16": "bfloat16"},
    **{"I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64"},
    **{"U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "BOOL": "bool"},
}
_LENGTH_BYTES = 8
"""The length of the header, which is what a file begins with."""


class SafetensorsFile(ParameterStore):
    """The arrays of a .safetensors file: views of the mapped file, which no access copies."""

    def __init__(self, path: Path) -> None:
        _check(path)
        self._data = np.memmap(path, dtype=np.uint8, mode="r")
        length = int.from_bytes(self._data[:_LENGTH_BYTES].tobytes(), "little")
        self._start = _LENGTH_BYTES + length
        header = json.loads(self._data[_LENGTH_BYTES : self._start].tobytes())
        assert isa(header, dict[str, object])
        header.pop("__metadata__", None)
        assert isa(header, dict[str, dict[str, object]])
        self._entries = header
        self.names = header

    def describe(self, name: str) -> ArrayDescription:
        entry = self._entries[name]
        shape, dtype = entry["shape"], str(entry["dtype"])
        assert isa(shape, list[int])
        return ArrayDescription(tuple(shape), _DTYPES.get(dtype, dtype.lower()))

    def __getitem__(self, name: str) -> Array:
        description = self.describe(name)
        try:
            dtype = array_dtype(description.dtype)
        except ParameterProblem as problem:
            raise ParameterProblem(f"'{name}': {problem}") from problem
        offsets = self._entries[name]["data_offsets"]
        assert isa(offsets, list[int])
        data = self._data[self._start + offsets[0] :][: prod(description.shape) * dtype.itemsize]
        if offsets[0] == offsets[1]:  # nothing to view
            return read_only(np.empty(description.shape, dtype))
        array = data.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
        # Data begins where the data before it ends, which need not suit what reads it.
        aligned = array if array.flags.aligned else array.copy()
        try:
            return read_only(aligned.reshape(description.shape))
        except ValueError as error:  # more axes than NumPy has
            raise ParameterProblem(f"'{name}': {first_line(error)}") from error


def _check(path: Path) -> None:
    """Let the format's own library check the header: offsets, overlaps, sizes."""
    import safetensors

    safe_open: Callable[..., AbstractContextManager[object]] = getattr(safetensors, "safe_open")
    try:
        with safe_open(path, framework="numpy"):
            pass
    except safetensors.SafetensorError as error:
        raise GaweeError(f"cannot read '{path}' as .safetensors: {first_line(error)}") from error
