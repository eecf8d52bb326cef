"""Readers of arrays: archives, folders, text; what they take is read to the last element."""

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import TensorType, f32

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.parameters.archives import read_npy, read_npz
from gawee_dialect.parameters.binding import bind_parameters, open_archive, open_parameters
from gawee_dialect.parameters.store import ParameterProblem
from gawee_dialect.pgflow import read_pgflow_graph
from gawee_dialect.source import Source
from gawee_dialect.tools.run_session import InputSpec, PictureScale, read_inputs
from tests.archives import savez, savez_compressed
from tests.frontends.xoc.documents import chain, node, tensor
from tests.fuzz.mutate_json import mutated_json
from tests.fuzz.reader import Reader


def _file(suffix: str, read: Callable[[Path], object], data: bytes, folder: Path) -> object:
    path = folder / f"seed{suffix}"
    path.write_bytes(data)
    return read(path)


def _all_arrays(path: Path) -> object:
    store = open_archive(path)
    try:
        for name in store:
            store.describe(name)
        return [store[name].sum() for name in store]
    except ParameterProblem as problem:
        raise GaweeError(f"seed: {problem}") from problem


def _npz(*, packed: bool) -> bytes:
    stream = io.BytesIO()
    save = savez_compressed if packed else savez
    save(stream, w=np.ones((3, 5), np.float32), **{"b.c": np.arange(7)})
    return stream.getvalue()


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ones((3, 5), np.float32))
    return stream.getvalue()


def _safetensors() -> bytes:
    entries = {
        "w": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]},
        "b": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]},
        "__metadata__": {"format": "pt"},
    }
    header = json.dumps(entries).encode()
    return len(header).to_bytes(8, "little") + header + bytes(32)


def _mutated_safetensors(seed: bytes, number: int) -> bytes:
    """Return damaged bytes, or a damaged header whose length is said right."""
    header = mutated_json(seed[8:-32], 2 * number)
    whole = number % 2 == 0
    from tests.fuzz.mutate import mutated

    return (
        len(header).to_bytes(8, "little") + header + seed[-32:] if whole else mutated(seed, number)
    )


def _torch(*, zipped: bool) -> bytes:
    import torch

    stream = io.BytesIO()
    tensors = {"w": torch.ones(3, 5), "b.c": torch.arange(7)}
    torch.save({"state_dict": tensors, "epoch": 3}, stream, _use_new_zipfile_serialization=zipped)
    return stream.getvalue()


def uwef() -> bytes:
    """Return UWEF of one layer."""
    tensors = {"weight": {"dtype": "float32", "shape": [2, 2], "data": [1, -2.5, 3e-7, 4]}}
    entry = {"op_type": "Linear", "has_weight": True, "tensors": tensors}
    meta = dict.fromkeys(("architecture", "source_framework", "created_at"), "x")
    document = {"meta": {**meta, "format_version": "1.0"}, "node_weights": {"fc": entry}}
    return json.dumps(document).encode()


def _xoc_with(data: bytes, folder: Path) -> object:
    """Bind a graph of XOC to damaged weights."""
    path = folder / "seed.json"
    path.write_bytes(data)
    graph = chain(
        tensors=[
            tensor("x", "input", [3, 2]),
            tensor("w", "weight", [2, 2]),
            tensor("y", "output", [3, 2]),
        ],
        nodes=[node("fc", "MatMul", [0, 1], [2])],
        outputs=[2],
    )
    opened = open_graph(Source("seed", json.dumps(graph).encode()), name="xoc")
    from gawee_dialect.model import Model

    wanted = Model(opened.module()).entry.weights
    return bind_parameters(wanted, opened.weights(open_archive(path)))


def _raw_folder(data: bytes, folder: Path) -> object:
    """Read a folder whose listing names files by damaged paths; one file is damaged too."""
    lines = [*data.split(b"\n"), b""]
    (folder / "w.bin").write_bytes(lines[0])
    (folder / "sub").mkdir()
    (folder / "out.bin").symlink_to("/etc/passwd")
    (folder / "endless.bin").symlink_to("/dev/zero")
    name = lines[1].decode(errors="surrogateescape")
    wanted = EntryArgument(0, ArgumentKind.PARAMETER, "seed", TensorType(f32, [3, 2]), name)
    arrays = bind_parameters([wanted], open_parameters(folder, [wanted]))
    return [array.sum() for array in arrays.values()]


PAGE = (
    b'{"architecture": "toy", "total_nodes": 2, "total_edges": 1, "nodes": ['
    b'{"id": 0, "op_idx": 1, "op_name": "Conv_3x3", "annotation": ""},'
    b'{"id": 1, "op_idx": 1, "op_name": "Conv_3x3", "annotation": ""}],'
    b' "edges": [[0, 1]], "final_output_ids": [1]}'
)


def _picture() -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (7, 5), (1, 2, 3)).save(stream, "PNG")
    return stream.getvalue()


def _as_input(path: Path) -> object:
    spec = InputSpec("seed", (1, 3, 5, 7), np.dtype(np.float32))
    return read_inputs([spec], [str(path)], None, 0, PictureScale())


WEIGHTS: Sequence[Reader] = (
    Reader(
        "npz",
        partial(_file, ".npz", read_npz),
        lambda: [_npz(packed=False), _npz(packed=True)],
    ),
    Reader("npy", partial(_file, ".npy", read_npy), lambda: [_npy()]),
    Reader(
        "safetensors",
        partial(_file, ".safetensors", _all_arrays),
        lambda: [_safetensors()],
        _mutated_safetensors,
        needs=("safetensors",),
    ),
    Reader(
        "torch",
        partial(_file, ".pt", _all_arrays),
        lambda: [_torch(zipped=True), _torch(zipped=False)],
        needs=("torch",),
    ),
    Reader("uwef", partial(_file, ".json", _all_arrays), lambda: [uwef()], mutated_json),
    Reader("weights-of-xoc", _xoc_with, lambda: [uwef()], mutated_json, is_file=False),
    Reader("raw-folder", _raw_folder, lambda: [bytes(24) + b"\nw.bin", bytes(24) + b"\n./w.bin"]),
    Reader("pg-flow", partial(_file, ".json", read_pgflow_graph), lambda: [PAGE], mutated_json),
    Reader("picture", partial(_file, ".png", _as_input), lambda: [_picture()], needs=("PIL",)),
)
