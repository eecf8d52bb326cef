"""Stores of weights: what they give, that nothing is copied or writable, and what they refuse."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from gawee_dialect.analysis.signature import Entry
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import EntryArgument
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.parameters import bind_parameters, open_archive, open_parameters
from gawee_dialect.parameters.store import ParameterProblem
from gawee_dialect.universe import make_context
from tests.archives import savez

ARRAYS: dict[str, np.ndarray] = {
    "a.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b.count": np.array(7, np.int64),
    "c": np.array([1.5, -2.5, 3], np.float16),
    "d.flags": np.array([[True], [False]]),
}
"""One array of each kind: a matrix, a scalar, a large constant, booleans."""


def weights() -> Sequence[EntryArgument]:
    """What a function of one weight of each kind wants."""
    module = parse_mlir(
        make_context(),
        """
        func.func @main(
            %x: tensor<2xf32>,
            %a: tensor<2x3xf32> {gawee.parameter = "a.weight", gawee.path = "weights/a.bin"},
            %b: tensor<i64> {gawee.parameter = "b.count", gawee.path = "weights/b.bin"},
            %c: tensor<3xf16> {gawee.constant = "c", gawee.path = "constants/c.bin"},
            %d: tensor<2x1xi1> {gawee.parameter = "d.flags", gawee.path = "weights/d.bin"}) {
          func.return
        }
        """,
        "in.mlir",
    )
    return Entry.of(module).weights


def write_raw(folder: Path, arrays: dict[str, np.ndarray]) -> Path:
    paths = ("weights/a.bin", "weights/b.bin", "constants/c.bin", "weights/d.bin")
    for path, array in zip(paths, arrays.values(), strict=True):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        array.tofile(folder / path)
    return folder


def write_npz(folder: Path, arrays: dict[str, np.ndarray]) -> Path:
    savez(folder / "weights.npz", **arrays)
    return folder / "weights.npz"


def write_safetensors(folder: Path, arrays: dict[str, np.ndarray]) -> Path:
    save_file(arrays, folder / "weights.safetensors")
    return folder / "weights.safetensors"


WRITERS = [write_raw, write_npz, write_safetensors]


@pytest.mark.parametrize("write", WRITERS)
def test_every_store_gives_the_arrays_that_were_written(write, tmp_path: Path):
    bound = bind_parameters(weights(), open_parameters(write(tmp_path, ARRAYS), weights()))

    assert list(bound) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert bound[name].dtype == array.dtype
        assert bound[name].shape == array.shape
        np.testing.assert_array_equal(bound[name], array)


@pytest.mark.parametrize("write", WRITERS)
def test_no_store_lets_its_arrays_be_written(write, tmp_path: Path):
    bound = bind_parameters(weights(), open_parameters(write(tmp_path, ARRAYS), weights()))

    for array in bound.values():
        assert not array.flags.writeable
        assert array.flags.c_contiguous


def test_raw_files_are_mapped_not_read(tmp_path: Path):
    bound = bind_parameters(weights(), open_parameters(write_raw(tmp_path, ARRAYS), weights()))

    assert all(isinstance(array, np.memmap) for array in bound.values())


def test_arrays_in_memory_are_bound_without_a_copy():
    bound = bind_parameters(weights(), ARRAYS)

    assert np.shares_memory(bound["a.weight"], ARRAYS["a.weight"])
    assert ARRAYS["a.weight"].flags.writeable


def test_arrays_in_column_order_come_out_in_row_order(tmp_path: Path):
    columns = ARRAYS | {"a.weight": np.asfortranarray(ARRAYS["a.weight"])}

    for store in (columns, open_parameters(write_npz(tmp_path, columns), weights())):
        array = bind_parameters(weights(), store)["a.weight"]
        assert array.flags.c_contiguous
        np.testing.assert_array_equal(array, ARRAYS["a.weight"])


def test_an_empty_parameter_has_an_empty_file(tmp_path: Path):
    text = '%w: tensor<0x3xf32> {gawee.parameter = "w", gawee.path = "w.bin"}'
    module = parse_mlir(make_context(), f"func.func @main({text}) {{ func.return }}", "in.mlir")
    wanted = Entry.of(module).weights
    (tmp_path / "w.bin").touch()

    assert bind_parameters(wanted, open_parameters(tmp_path, wanted))["w"].shape == (0, 3)


WRONG = {
    "a.wieght": ARRAYS["a.weight"],
    "b.count": np.array(7, np.int32),
    "c": np.zeros((3, 1), np.float16),
    "d.flags": ARRAYS["d.flags"],
}


@pytest.mark.parametrize("write", [write_npz, write_safetensors, lambda _folder, arrays: arrays])
def test_all_problems_are_in_one_report(write, tmp_path: Path):
    place = write(tmp_path, WRONG)
    store = place if isinstance(place, dict) else open_parameters(place, weights())

    with pytest.raises(GaweeError) as raised:
        bind_parameters(weights(), store)

    missing, dtype, shape = raised.value.diagnostics
    assert missing.message == "expected weights to have parameter 'a.weight', got none"
    assert missing.hint == "did you mean 'a.wieght'?"
    assert dtype.message == "expected parameter 'b.count' of dtype int64, got int32"
    assert shape.message == "expected constant 'c' of shape 3, got 3x1"


def test_all_problems_of_raw_files_are_in_one_report(tmp_path: Path):
    folder = write_raw(tmp_path, ARRAYS)
    (folder / "weights/a.bin").write_bytes(bytes(23))
    (folder / "weights/b.bin").unlink()
    (folder / "constants/c.bin").write_bytes(bytes(7))

    with pytest.raises(GaweeError) as raised:
        bind_parameters(weights(), open_parameters(folder, weights()))

    assert [problem.message for problem in raised.value.diagnostics] == [
        "parameter 'a.weight': expected file 'weights/a.bin' of 24 bytes, got 23",
        "parameter 'b.count': cannot read file 'weights/b.bin': no such file or directory",
        "constant 'c': expected file 'constants/c.bin' of 6 bytes, got 7",
    ]


def test_a_raw_parameter_needs_a_path(tmp_path: Path):
    text = 'func.func @main(%w: tensor<3xf32> {gawee.parameter = "w"}) { func.return }'
    wanted = Entry.of(parse_mlir(make_context(), text, "in.mlir")).weights

    with pytest.raises(GaweeError, match=r"parameter 'w': expected a 'gawee\.path', got none"):
        bind_parameters(wanted, open_parameters(tmp_path, wanted))


def test_what_is_no_store_is_refused(tmp_path: Path):
    (tmp_path / "w.xyz").touch()

    with pytest.raises(GaweeError, match=r"cannot read weights: there is no '.*nowhere'"):
        open_parameters(tmp_path / "nowhere", weights())
    with pytest.raises(GaweeError, match=r"unsupported weights '.*w\.xyz'; supported: a folder"):
        open_parameters(tmp_path / "w.xyz", weights())


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_damaged_archive_is_refused(suffix: str, tmp_path: Path):
    path = tmp_path / f"w{suffix}"
    path.write_bytes(b"not an archive at all")

    with pytest.raises(GaweeError, match=rf"cannot read '.*' as \{suffix}: "):
        open_parameters(path, weights())


def test_safetensors_may_say_that_they_have_no_metadata(tmp_path: Path):
    entries = {"__metadata__": None, "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    header, data = json.dumps(entries).encode(), np.array([1.5, -2], np.float32)
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + data.tobytes())

    np.testing.assert_array_equal(open_archive(path)["w"], data)


def test_safetensors_of_more_axes_than_numpy_has_are_refused(tmp_path: Path):
    path = tmp_path / "w.safetensors"
    entry = {"dtype": "F32", "shape": [1] * 99, "data_offsets": [0, 4]}
    header = json.dumps({"w": entry}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))

    with pytest.raises(ParameterProblem, match="'w': maximum supported dimension"):
        open_archive(path)["w"]


def test_pickled_objects_are_never_loaded(tmp_path: Path):
    path = tmp_path / "w.npz"
    savez(path, **ARRAYS | {"a.weight": np.array([[object()] * 3] * 2)})

    with pytest.raises(GaweeError, match=r"parameter 'a\.weight' of dtype float32, got object"):
        bind_parameters(weights(), open_parameters(path, weights()))


def test_a_damaged_member_is_refused(tmp_path: Path):
    path = tmp_path / "w.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.weight.npy", b"no header")

    with pytest.raises(GaweeError, match=r"parameter 'a\.weight': cannot read it: "):
        bind_parameters(weights(), open_parameters(path, weights()))
