"""Weights, written: .npz, .safetensors, PyTorch's .pt, or a folder of raw files."""

import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from xdsl.dialects.func import FuncOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, entry_arguments
from gawee_dialect.parameters.contained_file import check_relative
from gawee_dialect.parameters.store import ParameterStore
from gawee_dialect.parameters.torch_file import SUFFIXES, import_torch
from gawee_dialect.parameters.uwef import SUFFIX as UWEF_SUFFIX
from gawee_dialect.parameters.write_uwef import nodes_of_names, write_uwef
from gawee_dialect.whole_file import whole_file


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
