"""Files that hold many named arrays: NumPy's .npz and .safetensors."""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import numpy as np
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


class _Slice(Protocol):
    def get_shape(self) -> Sequence[int]: ...

    def get_dtype(self) -> str: ...


class _SafeFile(Protocol):
    """What safetensors opens, with complete types."""

    def keys(self) -> Sequence[str]: ...

    def get_slice(self, name: str) -> _Slice: ...

    def get_tensor(self, name: str) -> Array: ...


_SAFE_DTYPES = {
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "I8": "int8",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "BOOL": "bool",
}


class SafetensorsFile(ParameterStore):
    """The arrays of a .safetensors file, which stays mapped while the store lives."""

    def __init__(self, path: Path) -> None:
        import safetensors

        safe_open: Callable[..., AbstractContextManager[_SafeFile]] = getattr(
            safetensors, "safe_open"
        )
        try:
            self._context = safe_open(path, framework="numpy")
            self._file = self._context.__enter__()
        except safetensors.SafetensorError as error:
            raise GaweeError(
                f"cannot read '{path}' as .safetensors: {first_line(error)}"
            ) from error
        self._names = list(self._file.keys())

    def describe(self, name: str) -> ArrayDescription:
        if name not in self._names:
            raise KeyError(name)
        view = self._file.get_slice(name)
        dtype = view.get_dtype()
        return ArrayDescription(tuple(view.get_shape()), _SAFE_DTYPES.get(dtype, dtype.lower()))

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise KeyError(name)
        return read_only(np.asarray(self._file.get_tensor(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
