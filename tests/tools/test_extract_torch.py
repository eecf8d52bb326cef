"""`gawee-translate torch`: a live model becomes a graph and its weights."""

from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.model import load
from gawee_dialect.tools.gawee_translate import main
from tests.closeness import assert_allclose

MODELS = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(11, 5)
        self.linear = torch.nn.Linear(5, 3)
    def forward(self, ids, scale):
        return self.linear(self.embedding(ids)) * scale

def net():
    torch.manual_seed(0)
    return Net()

def number():
    return 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("torch")
    (tmp_path / "models_of_mine.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_live_model_runs_from_its_files(folder: Path) -> None:
    import models_of_mine
    import torch

    shapes = ["--shape", "2,7:int64", "--shape", "2,1,3"]
    assert main(["torch", "models_of_mine:net", *shapes, "-o", "net.json"]) == 0

    model = load(folder / "net.json", folder / "net.npz")
    ids = np.arange(14).reshape(2, 7) % 11
    scale = np.array([[[1, 2, 3]], [[4, 5, 6]]], np.float32)
    (result,) = model.run(dict(zip(("ids", "scale"), (ids, scale), strict=True))).values()
    with torch.no_grad():
        expected = models_of_mine.net()(torch.from_numpy(ids), torch.from_numpy(scale))
    # Sums of 5 products of f32: a few roundings.
    assert_allclose(result, expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["models_of_mine"], "error: expected MODULE:FACTORY such as torchvision.models:resnet18"),
        (["no_such_module:net"], "error: cannot import 'no_such_module': No module named"),
        (["models_of_mine:nets"], "error: expected 'models_of_mine' to have a function 'nets'"),
        (["models_of_mine:number"], "to return a torch.nn.Module, got int"),
        (
            ["models_of_mine:net", "--shape", "2,x"],
            "error: expected --shape SIZES[:DTYPE] such as 1,77:int64, got '2,x'",
        ),
        (["models_of_mine:net", "--shape", "9" * 5000], "error: expected --shape SIZES[:DTYPE]"),
        (["models_of_mine:net", "--shape", "2:number"], "error: expected --shape SIZES[:DTYPE]"),
        (["models_of_mine:net", "--shape", "2,7:int64"], "error: "),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["torch", *arguments, "-o", "out.json"]) == 1

    errors = capsys.readouterr().err
    assert message in errors
    assert "Traceback" not in errors
    assert not (folder / "out.json").exists()
    assert not (folder / "out.npz").exists()
