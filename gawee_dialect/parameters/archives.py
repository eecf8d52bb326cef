"""Files that hold many named arrays: NumPy's .npz, safetensors, and PyTorch's .pt, .pth and .bin.

PyTorch's are loaded safely, with nothing of theirs executed.
"""

import json
import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from math import prod
from pathlib import Path
from pickletools import genops
from typing import IO, Protocol, TypeGuard
from zipfile import ZipFile, is_zipfile

import numpy as np
from numpy.lib import format as npy
from xdsl.dialects.func import FuncOp
from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.entry import ArgumentKind, entry_arguments
from gawee_dialect.parameters.data_files import check_relative, require_regular
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    array_dtype,
    read_only,
)
from gawee_dialect.parameters.uwef import SUFFIX as UWEF_SUFFIX
from gawee_dialect.parameters.uwef import nodes_of_names, write_uwef
from gawee_dialect.whole_file import whole_file

SUFFIXES = (".pt", ".pth", ".bin")
"""How such files are called."""

MAX_NAME = 4096
"""Characters of a name; what a model calls its parameters is shorter."""

LEGACY_PICKLES = 5
"""How many a file before PyTorch 1.6 begins with: the fourth is the dictionary."""

WRAPPERS = ("state_dict", "model_state_dict", "model")
"""Keys under which checkpoints keep the weights beside other things."""


class _Tensor(Protocol):
    @property
    def shape(self) -> Sequence[int]: ...

    @property
    def dtype(self) -> object: ...

    def detach(self) -> "_Tensor": ...

    def view(self, dtype: object) -> "_Tensor": ...

    def numpy(self) -> Array: ...


class TorchFile(ParameterStore):
    """The tensors of a state_dict, mapped where the file's format allows it.

    PyTorch is needed to read it. Only tensors and plain containers are loaded: a file that would
    execute anything is refused.
    """

    def __init__(self, path: Path) -> None:
        self._tensors = _state_dict(path, _load(path))
        self.names = self._tensors

    def describe(self, name: str) -> ArrayDescription:
        tensor = self._tensors[name]
        return ArrayDescription(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))

    def __getitem__(self, name: str) -> Array:
        tensor, description = self._tensors[name].detach(), self.describe(name)
        try:
            dtype = array_dtype(description.dtype)
        except ParameterProblem as problem:
            raise ParameterProblem(f"'{name}': {problem}") from problem
        if description.dtype == "bfloat16":
            return read_only(tensor.view(import_module("torch").int16).numpy().view(dtype))
        return read_only(tensor.numpy())


def import_torch(what: str):
    """Import PyTorch; raises GaweeError that says what cannot be done without it."""
    try:
        return import_module("torch")
    except ModuleNotFoundError as error:
        raise GaweeError(
            Diagnostic(
                f"{what} without PyTorch, got no module 'torch'",
                hint="pip install 'gawee-dialect[torch]', or save the weights as .safetensors",
            )
        ) from error


def _check_module(path: Path) -> None:
    """Refuse what PyTorch's loader would spend minutes or gigabytes on; raises ValueError.

    Its search in an error's text takes the square of the longest name. Its own archives are never
    compressed, so that what it unpacks is no larger than the file.
    """
    if not is_zipfile(path):
        with path.open("rb") as stream:
            _check_names(stream)
        return
    with ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > path.stat().st_size:
            raise ValueError("expected an archive that is not compressed")
        for name in archive.namelist():
            if name.endswith("data.pkl"):
                with archive.open(name) as stream:
                    _check_names(stream)


def _check_names(stream: IO[bytes]) -> None:
    """Raise ValueError for a name in a sequence of pickles that is too long."""
    for _ in range(LEGACY_PICKLES):
        longest, start = 0, stream.tell()
        try:
            for _, value, place in genops(stream):
                start = start if place is None else place
                longest = max(longest, len(value)) if isinstance(value, str) else longest
        except Exception:  # damage, which PyTorch describes; a name without an end counts too
            longest = max(longest, stream.tell() - start)
        if longest > MAX_NAME:
            raise ValueError(f"expected names of at most {MAX_NAME} characters, got {longest}")


def _load(path: Path) -> object:
    torch = import_torch(f"cannot read weights '{path}'")
    options = {"map_location": "cpu", "weights_only": True}
    try:
        _check_module(path)
        # Files before PyTorch 1.6 are not archives, and cannot be mapped.
        return torch.load(path, mmap=torch.serialization._is_zipfile(path.open("rb")), **options)
    except Exception as error:
        raise GaweeError(
            Diagnostic(
                f"cannot read '{path}' as PyTorch weights: {first_line(error)}",
                hint="only tensors in dicts are loaded: save model.state_dict()",
            )
        ) from error


def _state_dict(path: Path, loaded: object) -> Mapping[str, _Tensor]:
    entries: Mapping[object, object] = loaded if isa(loaded, dict[object, object]) else {}
    for key in WRAPPERS:
        inner = entries.get(key)
        entries = inner if isa(inner, dict[object, object]) else entries
    tensors = {str(name): value for name, value in entries.items() if _is_tensor(value)}
    if not tensors:
        found = f"a {type(loaded).__name__} without tensors"
        raise GaweeError(f"expected '{path}' to have tensors by name, got {found}")
    return tensors


def _is_tensor(value: object) -> TypeGuard[_Tensor]:
    return isinstance(value, import_module("torch").Tensor)


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


# Weights, written: .npz, .safetensors, PyTorch's .pt, or a folder of raw files.


def _write_npz(path: Path, store: ParameterStore) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in store.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)


def _write_safetensors(path: Path, store: ParameterStore) -> None:
    save_file: Callable[..., None] = getattr(import_module("safetensors.numpy"), "save_file")
    save_file(dict(store), path)


def _write_torch(path: Path, store: ParameterStore) -> None:
    torch = import_torch(f"cannot write weights '{path}'")
    torch.save({name: torch.from_numpy(array.copy()) for name, array in store.items()}, path)


_WRITERS: dict[str, Callable[[Path, ParameterStore], None]] = {
    ".npz": _write_npz,
    ".safetensors": _write_safetensors,
    **dict.fromkeys(SUFFIXES, _write_torch),
}


def write_parameters(path: Path, store: ParameterStore, function: FuncOp | None = None) -> None:
    """Write all arrays of a store in the format that the suffix of `path` names.

    A path without suffix is a folder of raw files, whose names are those that `function` says, and
    which holds its parameters alone. The file or folder is whole or not there. Raises GaweeError
    for what a format cannot hold, OSError where nothing can be written.
    """
    if path.suffix == UWEF_SUFFIX:
        write_uwef(path, nodes_of_names(store), store)
    elif path.suffix in _WRITERS:
        with whole_file(path) as draft:
            _WRITERS[path.suffix](draft, store)
    elif path.suffix:
        supported = ", ".join((UWEF_SUFFIX, *_WRITERS))
        raise GaweeError(f"unsupported weights '{path}'; supported: a folder, {supported}")
    elif function is None:
        raise GaweeError(
            Diagnostic(
                f"cannot write folder '{path}': raw files say neither name nor shape",
                hint="--graph GRAPH says which file holds which parameter",
            )
        )
    else:
        _write_folder(path, store, function)


def _write_folder(path: Path, store: ParameterStore, function: FuncOp) -> None:
    if path.exists():
        raise GaweeError(f"cannot write folder '{path}': it exists")
    kinds = (ArgumentKind.PARAMETER, ArgumentKind.CONSTANT)
    with whole_file(path) as draft:
        for argument in entry_arguments(function):
            if argument.kind in kinds and argument.path is not None:
                file = draft / check_relative(argument.path)
                file.parent.mkdir(parents=True, exist_ok=True)
                array = store[argument.name]
                array.astype(array.dtype.newbyteorder("<"), copy=False).tofile(file)
