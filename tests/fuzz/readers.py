"""What is fuzzed: readers of graphs, weights and small languages, each with seeds that it reads."""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph, sniff
from gawee_dialect.frontends.graph import ReadOptions
from gawee_dialect.parameters.archives import read_npy, read_npz
from gawee_dialect.parameters.binding import open_archive
from gawee_dialect.parameters.store import ParameterProblem
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.source import Source
from tests.frontends.npu_ir.files import tiny
from tests.frontends.xoc.documents import EXAMPLE, chain

ROOT = Path(__file__).parents[2]
Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Reader:
    """What reads bytes, under the name that its messages call them by, and seeds for it."""

    name: str
    read: Read
    seeds: Sequence[bytes]

    @property
    def whole(self) -> Sequence[bytes]:
        """The seeds that are no test of messages themselves."""
        return [seed for seed in self.seeds if b"// -----" not in seed and b"not gawee" not in seed]


def _graph(format: str, data: bytes) -> object:
    return open_graph(Source("seed", data), ReadOptions(), format).module()


def _weights(suffix: str, read: Callable[[Path], object], data: bytes) -> object:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"seed{suffix}")
        path.write_bytes(data)
        return read(path)


def _all_arrays(path: Path) -> object:
    store = open_archive(path)
    try:
        return [store[name] for name in store]
    except ParameterProblem as problem:
        raise GaweeError(f"seed: {problem}") from problem


def _npz(*, packed: bool) -> bytes:
    stream = io.BytesIO()
    save = np.savez_compressed if packed else np.savez
    save(stream, w=np.ones((3, 5), np.float32), **{"b.c": np.arange(7)})
    return stream.getvalue()


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ones((3, 5), np.float32))
    return stream.getvalue()


def _safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(24)


def _files(folder: str, pattern: str, most: int = 4000) -> list[bytes]:
    texts = (path.read_bytes() for path in sorted((ROOT / folder).rglob(pattern)))
    return [text for text in texts if len(text) < most]


def _json(*graphs: object) -> list[bytes]:
    return [json.dumps(graph, indent=1).encode() for graph in graphs]


def _uwef() -> bytes:
    tensors = {"weight": {"dtype": "float32", "shape": [2, 2], "data": [1, -2.5, 3e-7, 4]}}
    entry = {"op_type": "Linear", "has_weight": True, "tensors": tensors}
    meta = dict.fromkeys(("architecture", "source_framework", "created_at"), "x")
    return json.dumps(
        {"meta": {**meta, "format_version": "1.0"}, "node_weights": {"fc": entry}}
    ).encode()


SCHEDULE = b'{"key": "k", "target": "t", "choice": {"algorithm": "direct"}}\n'

READERS = {
    reader.name: reader
    for reader in (
        Reader("mlir", partial(_graph, "mlir"), _files("tests/filecheck/dialect", "*.mlir", 3000)),
        Reader(
            "gawee-json",
            partial(_graph, "gawee-json"),
            _files("examples/digits", "graph.json", 30000),
        ),
        Reader("npu-ir", partial(_graph, "npu-ir"), _json(tiny())),
        Reader("xoc", partial(_graph, "xoc"), _json(EXAMPLE, chain())),
        Reader("any graph", lambda data: sniff(Source("seed", data)), _json(tiny(), chain())),
        Reader("npz", partial(_weights, ".npz", read_npz), [_npz(packed=False), _npz(packed=True)]),
        Reader("npy", partial(_weights, ".npy", read_npy), [_npy()]),
        Reader("safetensors", partial(_weights, ".safetensors", _all_arrays), [_safetensors()]),
        Reader("uwef", partial(_weights, ".json", _all_arrays), [_uwef()]),
        Reader("schedules", partial(_weights, ".jsonl", read_schedules), [SCHEDULE]),
    )
}
