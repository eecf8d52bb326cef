"""PyTorch's files: read without executing anything, mapped, and without PyTorch a clear error."""

import builtins
import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.parameters import open_archive
from gawee_dialect.parameters.store import ParameterProblem


class Payload:
    def __reduce__(self):
        return (builtins.print, ("executed",))


def test_without_pytorch_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "w.pt").touch()
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(
        GaweeError,
        match=r"cannot read weights '.*w\.pt' without PyTorch, got no module 'torch'\nhint: pip install",
    ):
        open_archive(tmp_path / "w.pt")


def test_a_file_that_executes_code_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    torch = pytest.importorskip("torch")
    torch.save({"w": Payload()}, tmp_path / "new.pt")
    (tmp_path / "old.bin").write_bytes(pickle.dumps(Payload(), protocol=2))

    for name in ("new.pt", "old.bin"):
        with pytest.raises(GaweeError, match=rf"cannot read '.*{name}' as PyTorch weights: "):
            open_archive(tmp_path / name)
    assert "executed" not in capsys.readouterr().out


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("end", [b"\n.", b"\n\xff", b""], ids=["whole", "damaged", "endless"])
def test_a_file_that_makes_pytorch_slow_is_refused(zipped: bool, end: bytes, tmp_path: Path):
    torch = pytest.importorskip("torch")
    path, name = tmp_path / "w.pt", b"builtins\n" + b"a" * 200_000
    torch.save({"w": torch.ones(2)}, path, _use_new_zipfile_serialization=zipped)
    damaged = path.read_bytes().replace(b"torch._utils\n_rebuild_tensor_v2", name)
    if zipped:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("w/data.pkl", b"\x80\x02c" + name + end)
    else:
        path.write_bytes(damaged)

    with pytest.raises(GaweeError, match="expected names of at most 4096 characters, got 2000"):
        open_archive(path)


def test_a_packed_archive_is_refused(tmp_path: Path):
    pytest.importorskip("torch")
    with zipfile.ZipFile(tmp_path / "w.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w/data.pkl", bytes(1 << 20))

    with pytest.raises(GaweeError, match="expected an archive that is not compressed"):
        open_archive(tmp_path / "w.pt")


@pytest.mark.parametrize("zipped", [True, False])
def test_both_formats_of_files_are_read(zipped: bool, tmp_path: Path):
    torch = pytest.importorskip("torch")
    tensors = {"a": torch.arange(6.0).reshape(2, 3).T, "b": torch.tensor(True)}
    torch.save(
        {"state_dict": tensors, "epoch": 3},
        tmp_path / "w.pth",
        _use_new_zipfile_serialization=zipped,
    )

    store = open_archive(tmp_path / "w.pth")

    assert list(store) == ["a", "b"]
    assert store.describe("a").shape == (3, 2)
    assert store.describe("b").dtype == "bool"
    np.testing.assert_array_equal(store["a"], np.arange(6.0).reshape(2, 3).T)
    assert store["a"].flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        store["a"][0] = 1


def test_a_file_without_tensors_is_refused(tmp_path: Path):
    torch = pytest.importorskip("torch")
    torch.save([torch.zeros(2)], tmp_path / "w.pt")

    with pytest.raises(
        GaweeError,
        match=r"expected '.*w\.pt' to have tensors by name, got a list without tensors|got a dict without",
    ):
        open_archive(tmp_path / "w.pt")


def test_safetensors_are_views_of_the_mapped_file(tmp_path: Path):
    from safetensors.numpy import save_file

    arrays = {
        "flags": np.array([True, False, True]),
        "w": np.arange(5, dtype=np.float64),
        "none": np.empty((0, 3), np.int8),
    }
    save_file(arrays, tmp_path / "w.safetensors")

    store = open_archive(tmp_path / "w.safetensors")

    for name, array in arrays.items():
        np.testing.assert_array_equal(store[name], array)
        assert store[name].dtype == array.dtype
    assert np.shares_memory(store["flags"], store["flags"])


@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_bfloat16_needs_ml_dtypes(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    pytest.importorskip("ml_dtypes")
    from safetensors.torch import save_file

    tensor = torch.randn(3, 5).bfloat16()
    (torch.save if suffix == "pt" else save_file)({"w": tensor}, tmp_path / f"w.{suffix}")
    store = open_archive(tmp_path / f"w.{suffix}")

    assert store.describe("w").dtype == "bfloat16"
    assert store["w"].dtype.name == "bfloat16"
    np.testing.assert_array_equal(store["w"].astype(np.float32), tensor.float().numpy())
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(
        ParameterProblem, match="'w': NumPy has bfloat16 from ml_dtypes, which is not installed"
    ):
        store["w"]


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_a_dtype_that_numpy_lacks_is_refused(tmp_path: Path, suffix: str, registered: bool):
    torch = pytest.importorskip("torch")
    if registered:
        pytest.importorskip("ml_dtypes")
    from safetensors.torch import save_file

    tensor = torch.zeros(2, dtype=torch.float8_e5m2)
    (torch.save if suffix == "pt" else save_file)({"w": tensor}, tmp_path / f"w.{suffix}")
    store = open_archive(tmp_path / f"w.{suffix}")

    with pytest.raises(ParameterProblem, match="'w': NumPy has no f"):
        store["w"]
