"""The op of the tutorial's one file: against PyTorch at every level, from JSON, from PyTorch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.gawee_json.schema import own_ops
from gawee_dialect.frontends.npu_ir.aten.registry import find_mapping
from gawee_dialect.tools import gawee_opt, gawee_run, gawee_translate
from gawee_dialect.tools.plugin_file import loaded_files
from tests.docs.test_pages import BLOCK, ROOT

PAGE = (ROOT / "docs" / "tutorial" / "new_op.md").read_text()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the page's files in it, which is where tools run."""
    for _, title, text in BLOCK.findall(PAGE):
        if title:
            (tmp_path / title).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("level", ["gawee", "linalg", "kernels", "loops", "llvm"])
def test_every_level_computes_what_pytorch_does(level: str, folder: Path) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).standard_normal((2, 3, 5)).astype(np.float32)
    x[0, 0] = 0.25, -0.25, 0, 0.24, -0.26
    np.save("x.npy", x)
    words = ["graph.json", "--load", "soft_shrink.py", "--input", "x=x.npy", "--level", level]

    assert gawee_run.main([*words, "--output", "out.npz"]) == 0

    expected = torch.nn.functional.softshrink(torch.from_numpy(x), 0.25).numpy()
    (result,) = np.load("out.npz").values()
    np.testing.assert_array_equal(result, expected)  # one subtraction, rounded once by each


def test_a_graph_is_read_and_written_without_loss(folder: Path) -> None:
    load = ["--load", "soft_shrink.py"]
    written = json.loads(Path("graph.json").read_text())

    text = ["graph.json", *load, "--mlir-print-debuginfo", "-o", "graph.mlir"]
    assert gawee_translate.main(text) == 0
    again = ["graph.mlir", *load, "--to", "gawee-json", "-o", "again.json"]
    assert gawee_translate.main(again) == 0

    assert json.loads(Path("again.json").read_text())["nodes"] == written["nodes"]


def test_constants_are_folded_by_what_the_op_means(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("constant.mlir").write_text("""
    func.func @main() -> tensor<3xf32> {
      %c = gawee.constant dense<[1.0, -0.25, -2.0]> : tensor<3xf32>
      %y = mine.soft_shrink %c lambd 5.0e-01 : (tensor<3xf32>) -> tensor<3xf32>
      func.return %y : tensor<3xf32>
    }
    """)

    assert gawee_opt.main(["constant.mlir", "--load", "soft_shrink.py", "--canonicalize"]) == 0

    out = capsys.readouterr().out
    assert "dense<[5.000000e-01, -0.000000e+00, -1.500000e+00]>" in out
    assert "soft_shrink" not in out


def test_coverage_knows_the_op(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["graph.json", "--coverage"]

    assert gawee_translate.main([*words, "--load", "soft_shrink.py"]) == 0
    assert gawee_translate.main(words) == 1

    assert "mine.soft_shrink" in capsys.readouterr().out


def test_an_op_type_that_exists_is_refused(folder: Path) -> None:
    file = Path("soft_shrink.py")
    file.write_text(file.read_text().replace('"SoftShrink"', '"Relu"'))

    with pytest.raises(GaweeError) as caught, loaded_files(["soft_shrink.py"]):
        pass

    text = str(caught.value)
    assert text.startswith("soft_shrink.py:")
    assert text.endswith("error: cannot load this file: there is an op_type 'Relu' already")


def test_nothing_stays_when_the_file_is_done_with(folder: Path) -> None:
    with loaded_files(["soft_shrink.py"]):
        assert list(own_ops()) == ["SoftShrink"]
        assert find_mapping("aten.softshrink.default") is not None

    assert list(own_ops()) == []
    assert find_mapping("aten.softshrink.default") is None
    assert find_mapping("aten.relu.default") is not None


def test_a_mapping_of_a_file_takes_the_place_of_ours_while_it_is_loaded(folder: Path) -> None:
    file = Path("soft_shrink.py")
    file.write_text(file.read_text().replace('"aten.softshrink"', '"aten.relu.default"'))
    before = find_mapping("aten.relu.default")

    with loaded_files(["soft_shrink.py"]):
        during = find_mapping("aten.relu.default")

    assert during is not None
    assert during.function.__name__ == "softshrink"
    assert find_mapping("aten.relu.default") is before


def test_a_model_of_pytorch_goes_through_with_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "from_pytorch.py"], env=environment, check=True)
    words = ["ir.json", "--weights", "weights.pt", "--verify"]

    assert gawee_run.main([*words, "--load", "soft_shrink.py"]) == 0
    assert "Verification PASSED" in capsys.readouterr().out
    assert gawee_run.main(words) == 1
    assert (
        "unsupported op 'aten.softshrink.default' of node 'softshrink'" in capsys.readouterr().err
    )


def test_a_model_of_onnx_goes_through_with_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnx")
    subprocess.run([sys.executable, "make_onnx.py"], check=True)
    x = np.random.default_rng(1).standard_normal((2, 3, 5)).astype(np.float32)
    np.save("x.npy", x)
    words = ["net.onnx", "--input", "x=x.npy", "--output", "out.npz"]

    assert gawee_run.main([*words, "--load", "soft_shrink.py"]) == 0
    assert gawee_run.main(words) == 1

    expected = torch.nn.functional.softshrink(torch.from_numpy(x), 0.25).numpy()
    (result,) = np.load("out.npz").values()
    np.testing.assert_array_equal(result, expected)
    assert "unsupported op 'mine.SoftShrink' of node 'shrink'" in capsys.readouterr().err
