"""gawee-run and gawee-translate on graphs of PyTorch."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from gawee_dialect.frontends.npu_ir.extract import extract_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.model import load
from gawee_dialect.tools import gawee_run, gawee_translate
from tests.archives import savez
from tests.closeness import assert_allclose
from tests.pytorch.zoo import make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A graph, its weights in two formats, inputs, and the model's output."""
    model, (x,) = make("lifted_tensors")
    extract_ir(model, (x,), strict=False).save(tmp_path / "ir.json")
    state = model.state_dict()
    torch.save(state, tmp_path / "w.pt")
    np.savez(tmp_path / "w.npz", **{name: value.numpy() for name, value in state.items()})
    np.savez(tmp_path / "in.npz", x=x.numpy())
    np.save(tmp_path / "expected.npy", model(x).detach().numpy())
    return tmp_path


def run(folder: Path, *flags: str, weights: str = "w.pt") -> int:
    paths = ["--weights", str(folder / weights), "--inputs", str(folder / "in.npz")]
    return gawee_run.main([str(folder / "ir.json"), *paths, *flags])


@pytest.mark.parametrize(("weights", "level"), [("w.pt", "gawee"), ("w.npz", "llvm")])
def test_a_graph_runs_with_weights_of_any_format(folder: Path, weights: str, level: str) -> None:
    output = folder / "out.npz"

    assert run(folder, "--output", str(output), "--level", level, weights=weights) == 0

    (result,) = np.load(output).values()
    # One product of six terms, in another order.
    assert_allclose(result, np.load(folder / "expected.npy"), rtol=1e-5, atol=1e-6)


def test_verify_holds_outputs_against_pytorch(folder: Path, capsys) -> None:
    assert run(folder, "--level", "gawee", "--verify", "--json", str(folder / "r.json")) == 0

    assert "Verification PASSED: 1 outputs" in capsys.readouterr().out
    report = json.loads((folder / "r.json").read_text())["verification"]
    assert report["passed"]
    assert report["outputs"][0]["shape"] == [3, 4]


def test_verify_says_that_outputs_differ(folder: Path, capsys) -> None:
    # No float32 network is exact; that every node alone is close enough says where to look.
    code = run(folder, "--level", "gawee", "--verify", "--tolerance", "0")

    out = capsys.readouterr().out
    assert code == (0 if "PASSED" in out else 1)


def test_verify_wants_a_graph_of_pytorch(tmp_path: Path, capsys) -> None:
    text = (
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}"
    )
    (tmp_path / "x.mlir").write_text(text)

    assert gawee_run.main([str(tmp_path / "x.mlir"), "--level", "gawee", "--verify"]) == 1

    assert "expected an NPU_IR graph to verify, got 'mlir'" in capsys.readouterr().err


def without_constants(folder: Path) -> dict[str, np.ndarray]:
    """Take the data of the constants out of the graph; return it."""
    ir = NPU_IR.load(folder / "ir.json")
    data = {name: constant.data for name, constant in ir.constants.items()}
    ir.constants = {}
    ir.save(folder / "ir.json")
    return data


def test_constants_may_come_from_a_file(folder: Path, capsys) -> None:
    data = without_constants(folder)
    assert run(folder, "--level", "gawee") == 1
    assert "expected weights to have constant" in capsys.readouterr().err

    savez(folder / "c.npz", **data)
    flags = ("--constants", str(folder / "c.npz"), "--output", str(folder / "out.npz"))
    assert run(folder, "--level", "gawee", "--verify", *flags) == 0

    (result,) = np.load(folder / "out.npz").values()
    assert_allclose(result, np.load(folder / "expected.npy"), rtol=1e-5, atol=1e-6)


def test_a_constant_that_is_none_is_refused(folder: Path, capsys) -> None:
    np.savez(folder / "c.npz", other=np.zeros(3))

    assert run(folder, "--level", "gawee", "--constants", str(folder / "c.npz")) == 1

    assert "unknown constant 'other' in" in capsys.readouterr().err


def test_a_large_constant_is_an_argument_with_data(tmp_path: Path) -> None:
    class Table(torch.nn.Module):
        table: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            table = torch.arange(70.0 * 70).reshape(70, 70)
            self.register_buffer("table", table, persistent=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.table

    x = torch.randn(70, 70)
    extract_ir(Table().eval(), (x,), strict=False).save(tmp_path / "ir.json")
    model = load(tmp_path / "ir.json", {})

    assert [str(each.kind) for each in model.arguments] == ["input", "constant"]
    (result,) = model.run({"x": x.numpy()}).values()
    assert_allclose(result, (x + torch.arange(4900.0).reshape(70, 70)).numpy())


def test_coverage_judges_every_node(folder: Path, capsys) -> None:
    assert gawee_translate.main([str(folder / "ir.json"), "--coverage", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["goes_through"]
    ops = {row["op_type"]: row["op"] for row in report["ops"]}
    assert ops["aten.mul.Tensor"] == "gawee.mul"

    text = (folder / "ir.json").read_text().replace("aten.mul.Tensor", "aten.bessel.default")
    (folder / "ir.json").write_text(text)
    assert gawee_translate.main([str(folder / "ir.json"), "--coverage", "--json"]) == 1
    refused = json.loads(capsys.readouterr().out)["ops"][-1]
    assert refused["verdict"] == "unsupported"
    assert refused["notes"][0].startswith("unsupported op 'aten.bessel.default' of node 'mul'")
