"""Files that PyTorch writes, .pt, .pth and .bin: loaded safely, with nothing of theirs executed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pickletools import genops
from typing import IO, Protocol, TypeGuard
from zipfile import ZipFile, is_zipfile

from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
    array_dtype,
    read_only,
)

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


def _check(path: Path) -> None:
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
        _check(path)
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
